package dev.idempotency.gateway.identity;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a token must say: who made it, for whom, and that it counts now (RFC 7519 §4.1). */
final class ClaimRules {

  private final @Nullable String issuer;
  private final Set<String> audiences;
  private final long leeway;

  ClaimRules(TokenOptions options) {
    this.issuer = options.issuer();
    this.audiences = options.audiences();
    this.leeway = options.leeway().toMillis();
  }

  /**
   * Why the token does not count, nothing of what it says; null where it does.
   *
   * @param now in milliseconds since 1970
   */
  @Nullable String trouble(Map<String, Object> claims, long now) {
    if (!(claims.get("exp") instanceof Number)) {
      return "it does not say when it expires";
    }
    if (now >= until(claims)) {
      return "it has expired";
    }
    Object from = claims.get("nbf");
    if (from != null && !(from instanceof Number first && now >= millis(first) - leeway)) {
      return "it does not count yet";
    }
    if (issuer != null && !issuer.equals(claims.get("iss"))) {
      return "it is of another issuer";
    }
    return audiences.isEmpty() || isMeant(claims.get("aud")) ? null : "it is for somebody else";
  }

  /** Until when it counts, in milliseconds since 1970. */
  long until(Map<String, Object> claims) {
    return claims.get("exp") instanceof Number last ? millis(last) + leeway : 0;
  }

  /** Seconds since 1970, maybe with a fraction. */
  private static long millis(Number seconds) {
    double millis = seconds.doubleValue() * 1000;
    // No sum with a leeway runs over.
    return (long) Math.max(-1e15, Math.min(1e15, millis));
  }

  private boolean isMeant(@Nullable Object audience) {
    return audience instanceof List<?> several
        ? several.stream().anyMatch(one -> one instanceof String && audiences.contains(one))
        : audience instanceof String one && audiences.contains(one);
  }

  /**
   * The one text of a claim. A number with a fraction, or too large to be exact, has none: two of
   * them could be read as one.
   */
  static @Nullable String text(@Nullable Object claim) {
    boolean exact =
        claim instanceof String
            || claim instanceof Long
            || claim instanceof Integer
            || claim instanceof Boolean;
    return exact ? String.valueOf(claim) : null;
  }
}
