package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ProblemDetails;
import dev.idempotency.gateway.idempotency.IdempotencyKey;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Whether a key is of a time in which its record, if there was one, is surely still there.
 *
 * <p>A record lives for the retention from when the first request came. A clock that is off by the
 * skew at most takes a key from {@code made - skew} on, so its record lives until {@code made -
 * skew + retention} at least; from then on the key is refused, because without a record it would
 * count as new.
 */
final class KeyTime {

  /** RFC 3339 §5.6, without the leap seconds that no clock here knows. */
  private static final Pattern INTERNET_TIME =
      Pattern.compile(
          "\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?([Zz]|[+-]\\d{2}:\\d{2})");

  /** A Date of structured fields (RFC 9651 §3.3.7). */
  private static final Pattern DATE = Pattern.compile("@-?\\d{1,15}");

  /** A request that is refused because of the time of its key. */
  record Refusal(Result result, ProblemDetails problem) {}

  private KeyTime() {}

  /** Why the key is refused, or null where it is not; also where the rule has no ages. */
  static @Nullable Refusal refusal(
      KeyRule rule, IdempotencyKey key, Headers headers, Scheduler scheduler) {
    KeyRule.KeyAge age = rule.age();
    return age == null ? null : refusal(rule, age, key, headers, scheduler.currentTimeMillis());
  }

  /**
   * The same for a time.
   *
   * @param now in milliseconds since 1970
   */
  static @Nullable Refusal refusal(
      KeyRule rule, KeyRule.KeyAge age, IdempotencyKey key, Headers headers, long now) {
    String field = age.firstSent();
    Instant made = madeAt(rule, age, key, headers);
    String place = field == null ? "the key" : "the header " + field;
    if (made == null) {
      return invalid(
          field == null
              ? "the key does not say when it was made"
              : place
                  + " is "
                  + (headers.contains(field) ? "not one time" : "missing")
                  + " (expected: when the operation was sent first, such as 2026-01-31T12:00:00Z"
                  + " or @1769860800, the same on each retry)");
    }
    long millis = made.toEpochMilli();
    if (millis > now + age.skew().toMillis()) {
      return invalid(place + " is of a time in the future: a clock is wrong");
    }
    return millis + age.retention().toMillis() - age.skew().toMillis() <= now
        ? new Refusal(Result.KEY_EXPIRED, Problems.keyExpired())
        : null;
  }

  /** When the operation was thought of, or null where that is not said. */
  private static @Nullable Instant madeAt(
      KeyRule rule, KeyRule.KeyAge age, IdempotencyKey key, Headers headers) {
    String field = age.firstSent();
    return field == null ? rule.pattern().madeAt(key.value()) : firstSent(headers.all(field));
  }

  /**
   * Whether the key proves that its operation was not thought of before that moment.
   *
   * @param moment in milliseconds since 1970
   */
  static boolean isYounger(KeyRule rule, IdempotencyKey key, Headers headers, long moment) {
    KeyRule.KeyAge age = rule.age();
    Instant made = age == null ? null : madeAt(rule, age, key, headers);
    return age != null && made != null && made.toEpochMilli() - age.skew().toMillis() > moment;
  }

  private static Refusal invalid(String reason) {
    return new Refusal(Result.KEY_INVALID, Problems.keyTimeInvalid(reason));
  }

  /** The time that the field's lines say, or null where that is not one. */
  private static @Nullable Instant firstSent(List<String> lines) {
    String text = lines.size() == 1 ? lines.get(0).strip() : "";
    if (DATE.matcher(text).matches()) {
      return Instant.ofEpochSecond(Long.parseLong(text.substring(1)));
    }
    if (!INTERNET_TIME.matcher(text).matches()) {
      return null;
    }
    try {
      return OffsetDateTime.parse(text.toUpperCase(Locale.ROOT)).toInstant();
    } catch (DateTimeException e) {
      // A thirteenth month or the like.
      return null;
    }
  }
}
