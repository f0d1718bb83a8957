package dev.idempotency.gateway.fingerprint;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What a route says about its fingerprints.
 *
 * @param headers names of the request headers that count, compared without regard to case; their
 *     order says nothing
 * @param ignore JSON pointers (RFC 6901) to the members and elements that do not count; they have
 *     no effect on a body that has no canonical form
 * @param rawBody whether a body counts as the bytes that came, whatever its media type; nothing can
 *     be ignored then
 * @param secret the key of an HMAC, at least {@link #SHORTEST_SECRET} bytes, or null for a plain
 *     hash; gateways that share a store need the same
 */
@SuppressWarnings("ArrayRecordComponent") // never compared; secret() and the constructor copy
public record FingerprintRule(
    List<String> headers, List<String> ignore, boolean rawBody, byte @Nullable [] secret) {

  /** Least number of bytes of a secret. */
  public static final int SHORTEST_SECRET = 16;

  /** Nothing beyond the request itself, without a secret. */
  public static final FingerprintRule DEFAULT = of(List.of(), List.of());

  /** Throws {@link IllegalArgumentException} where a value is out of its range. */
  public FingerprintRule {
    headers = headers.stream().map(FingerprintRule::checkedName).distinct().sorted().toList();
    ignore = List.copyOf(ignore);
    ignore.forEach(PointerTree::check);
    if (rawBody && !ignore.isEmpty()) {
      throw new IllegalArgumentException(
          "ignore " + ignore + " in a raw body (expected: none, as raw bodies have no members)");
    }
    if (secret != null && secret.length < SHORTEST_SECRET) {
      throw new IllegalArgumentException(
          "secret of " + secret.length + " bytes (expected: at least " + SHORTEST_SECRET + ")");
    }
    secret = secret == null ? null : secret.clone();
  }

  /** A rule without a secret. */
  public static FingerprintRule of(List<String> headers, List<String> ignore) {
    return new FingerprintRule(headers, ignore, false, null);
  }

  private static String checkedName(String name) {
    if (!name.matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+")) {
      throw new IllegalArgumentException(
          "header \"" + name + "\" (expected: a field name, RFC 9110 §5.1)");
    }
    return name.toLowerCase(Locale.ROOT);
  }

  /** A copy of the secret. */
  @Override
  public byte @Nullable [] secret() {
    return secret == null ? null : secret.clone();
  }

  /** Without the secret. */
  @Override
  public String toString() {
    return "FingerprintRule[headers="
        + headers
        + ", ignore="
        + ignore
        + (rawBody ? ", raw" : "")
        + (secret == null ? ", plain]" : ", keyed]");
  }
}
