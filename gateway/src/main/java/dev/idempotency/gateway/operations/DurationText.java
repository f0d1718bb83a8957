package dev.idempotency.gateway.operations;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Durations for people and from them. */
final class DurationText {

  private static final Pattern FORM = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)");

  private DurationText() {}

  /** In the largest unit that leaves no rest: "24 hours", "1 minute", "1500 milliseconds". */
  static String of(Duration duration) {
    long millis = duration.toMillis();
    if (millis > Duration.ofDays(1).toMillis() && millis % 86_400_000 == 0) {
      return of(millis / 86_400_000, "day");
    } else if (millis >= 3_600_000 && millis % 3_600_000 == 0) {
      return of(millis / 3_600_000, "hour");
    } else if (millis >= 60_000 && millis % 60_000 == 0) {
      return of(millis / 60_000, "minute");
    } else if (millis % 1_000 == 0) {
      return of(millis / 1_000, "second");
    }
    return of(millis, "millisecond");
  }

  /**
   * The duration of a text such as {@code 500ms}, {@code 5s}, {@code 10m}, {@code 24h} or {@code
   * 7d}; null where it is none.
   */
  static @Nullable Duration parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      return null;
    }
    long number = Long.parseLong(matcher.group(1));
    return switch (matcher.group(2)) {
      case "ms" -> Duration.ofMillis(number);
      case "s" -> Duration.ofSeconds(number);
      case "m" -> Duration.ofMinutes(number);
      case "h" -> Duration.ofHours(number);
      default -> Duration.ofDays(number);
    };
  }

  private static String of(long number, String unit) {
    return number + " " + unit + (number == 1 ? "" : "s");
  }
}
