package dev.idempotency.gateway.http;

import java.util.BitSet;

/**
 * Which spellings of a path are let through although servers read them differently.
 *
 * <p>One reading of every path: escapes of unreserved characters are decoded and the digits of all
 * others made capital (RFC 3986 §6.2.2), once. Afterwards the path must have no dot segment, no
 * encoded control character, no overlong UTF-8, no broken escape, and of the three spellings below
 * only those that are allowed. Nothing else is ever rewritten, and routing, scope, fingerprint and
 * the upstream all see the string that comes out.
 *
 * @param encodedSlash whether {@code %2F} and {@code %5C} may stand in a segment; they stay encoded
 * @param semicolon whether a segment may have parameters ({@code ;v=1})
 * @param emptySegment whether a path may have {@code //} in it
 */
public record PathRule(boolean encodedSlash, boolean semicolon, boolean emptySegment) {

  /** Every ambiguous spelling is refused. */
  public static final PathRule STRICT = new PathRule(false, false, false);

  private static final String PLAIN_SYMBOLS = "/-._~!$&'()*+,=:@^`{|}";

  /** What needs no second look; an escape and a parameter do. */
  private static final BitSet PLAIN = new BitSet(128);

  static {
    PLAIN.set('a', 'z' + 1);
    PLAIN.set('A', 'Z' + 1);
    PLAIN.set('0', '9' + 1);
    PLAIN_SYMBOLS.chars().forEach(PLAIN::set);
  }

  /** What a path reads as. */
  public sealed interface Reading {
    /** The one path that is meant. */
    record Path(String path) implements Reading {}

    /** Servers would read it in more than one way; the reason is for the client. */
    record Refused(String reason) implements Reading {}
  }

  /** Reads a path as it came, without its query. */
  public Reading read(String path) {
    return isPlain(path) ? new Reading.Path(path) : new PathReader(this, path).read();
  }

  /** Most paths: one look and no copy. */
  private static boolean isPlain(String path) {
    if (path.isEmpty() || path.charAt(0) != '/') {
      return false;
    }
    char before = 'x';
    for (int i = 0; i < path.length(); i++) {
      char c = path.charAt(i);
      if (!isPlain(c) || (before == '/' && (c == '/' || c == '.'))) {
        return false;
      }
      before = c;
    }
    return true;
  }

  /** Whether the character may stand in a path as it is and means nothing special. */
  static boolean isPlain(char c) {
    return PLAIN.get(c);
  }
}
