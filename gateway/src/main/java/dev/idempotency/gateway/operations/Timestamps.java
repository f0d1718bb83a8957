package dev.idempotency.gateway.operations;

import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;

/** Points in time as the logs write them: UTC, always with milliseconds (RFC 3339). */
final class Timestamps {

  private static final DateTimeFormatter MILLIS =
      new DateTimeFormatterBuilder().appendInstant(3).toFormatter();

  private Timestamps() {}

  static void append(StringBuilder line, Instant instant) {
    MILLIS.formatTo(instant, line);
  }
}
