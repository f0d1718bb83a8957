package dev.idempotency.gateway.operations;

import java.time.Duration;

/** Durations for people. */
final class DurationText {

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

  private static String of(long number, String unit) {
    return number + " " + unit + (number == 1 ? "" : "s");
  }
}
