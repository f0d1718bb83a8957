package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Format.Parsed;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as a whole number and a unit: {@code 500ms}, {@code 5s}, {@code 2m}, {@code 24h}. */
final class Durations {

  private static final Pattern PATTERN = Pattern.compile("(\\d{1,10})(ms|s|m|h|d)");

  private Durations() {}

  /** Durations from {@code min} to {@code max}, both inclusive. */
  static Format<Duration> between(Duration min, Duration max, String example) {
    return Format.text(text -> parse(text, min, max, example));
  }

  static Parsed<Duration> parse(String text, Duration min, Duration max, String example) {
    Optional<Duration> value = parse(text);
    if (value.isPresent() && value.get().compareTo(max) > 0) {
      return new Parsed.Bad<>("at most " + print(max));
    }
    boolean good = value.isPresent() && value.get().compareTo(min) >= 0;
    return Format.orElseBad(good ? value : Optional.empty(), expected(min, example));
  }

  private static String expected(Duration min, String example) {
    String bound =
        switch (Long.signum(min.toMillis() - 1)) {
          case -1 -> "";
          case 0 -> " > 0";
          default -> " of at least " + print(min);
        };
    return "a duration" + bound + " such as " + example;
  }

  /** The duration of a text that is known to be one. */
  static Duration of(String text) {
    return parse(text).orElseThrow(() -> new IllegalArgumentException(text));
  }

  private static Optional<Duration> parse(String text) {
    Matcher matcher = PATTERN.matcher(text);
    return matcher.matches()
        ? Optional.of(
            Duration.ofMillis(Long.parseLong(matcher.group(1)) * millis(matcher.group(2))))
        : Optional.empty();
  }

  private static long millis(String unit) {
    return switch (unit) {
      case "ms" -> 1L;
      case "s" -> 1_000L;
      case "m" -> 60_000L;
      case "h" -> 3_600_000L;
      default -> 86_400_000L;
    };
  }

  /** The shortest text that reads as the same duration; a day is written as hours. */
  static String print(Duration duration) {
    long millis = duration.toMillis();
    if (millis == 0) {
      return "0s";
    }
    for (String unit : new String[] {"d", "h", "m", "s"}) {
      long count = millis / millis(unit);
      if (millis % millis(unit) == 0 && (count > 1 || !unit.equals("d"))) {
        return count + unit;
      }
    }
    return millis + "ms";
  }
}
