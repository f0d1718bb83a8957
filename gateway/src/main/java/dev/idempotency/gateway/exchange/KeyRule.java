package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.idempotency.KeyPattern;
import dev.idempotency.gateway.idempotency.KeySyntax;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a route's keys come from and what they must be.
 *
 * @param sources tried in this order, one or more; the first that is there counts
 * @param syntax how a header field is read
 * @param pattern what a key must look like
 * @param age where keys have an age: a key that is too old is refused; null where they have none
 * @param derived for how long a request without a key counts as the same operation as an equal one
 *     of the same caller; zero where no keys are derived
 */
public record KeyRule(
    List<KeySource> sources,
    KeySyntax syntax,
    KeyPattern pattern,
    @Nullable KeyAge age,
    Duration derived) {

  public KeyRule {
    sources = List.copyOf(sources);
  }

  /** Keys in a header field, of any form. */
  public static KeyRule header(String name) {
    return new KeyRule(
        List.of(new KeySource.Header(name)),
        KeySyntax.LENIENT,
        KeyPattern.ANY,
        null,
        Duration.ZERO);
  }

  /** Whether a key may be found in the body only. */
  boolean looksIntoBodies() {
    for (int i = 0; i < sources.size(); i++) {
      if (sources.get(i) instanceof KeySource.Pointer) {
        return true;
      }
    }
    return false;
  }

  /** Whether what a request asks for can be its key. */
  boolean derives() {
    return !derived.isZero();
  }

  /**
   * When keys are too old.
   *
   * @param firstSent the header field that says when the operation was sent first; null where the
   *     key itself says it
   * @param retention for how long a key counts from then on; the route's retention
   * @param skew by how much clocks may differ: a key from further in the future is refused, and one
   *     is too old so much before its retention ends
   */
  public record KeyAge(@Nullable String firstSent, Duration retention, Duration skew) {}
}
