package dev.idempotency.gateway.server;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** The value of the header field {@code Date} (RFC 9110 §6.6.1), made once a second. */
final class HttpDate {

  private static final DateTimeFormatter FORMAT =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH)
          .withZone(ZoneOffset.UTC);

  private static volatile HttpDate latest = new HttpDate(0);

  private final long second;
  private final String text;

  private HttpDate(long second) {
    this.second = second;
    this.text = FORMAT.format(Instant.ofEpochSecond(second));
  }

  static String now() {
    long second = System.currentTimeMillis() / 1000;
    HttpDate known = latest;
    if (known.second != second) {
      known = new HttpDate(second);
      latest = known;
    }
    return known.text;
  }
}
