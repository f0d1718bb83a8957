package dev.idempotency.gateway.http;

/**
 * Which spellings of a path are let through although servers read them differently. What is let
 * through goes upstream as it came, and routing, scope and fingerprint see the same string.
 *
 * @param encodedSlash whether {@code %2F} and {@code %5C} may stand in a segment
 * @param semicolon whether a segment may have parameters ({@code ;v=1})
 * @param emptySegment whether a path may have {@code //} in it
 */
public record PathRule(boolean encodedSlash, boolean semicolon, boolean emptySegment) {

  /** Every ambiguous spelling is refused. */
  public static final PathRule STRICT = new PathRule(false, false, false);
}
