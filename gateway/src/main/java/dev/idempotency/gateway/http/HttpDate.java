package dev.idempotency.gateway.http;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** A point in time as header fields write it: IMF-fixdate, whole seconds (RFC 9110 §5.6.7). */
public final class HttpDate {

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

  /** The value of {@code Date} (RFC 9110 §6.6.1) at this moment. */
  public static String now() {
    return now(System.currentTimeMillis());
  }

  /**
   * The value of {@code Date} at a moment that is now for its caller; made once a second.
   *
   * @param epochMillis milliseconds since 1970
   */
  public static String now(long epochMillis) {
    long second = Math.floorDiv(epochMillis, 1000L);
    HttpDate known = latest;
    if (known.second != second) {
      known = new HttpDate(second);
      latest = known;
    }
    return known.text;
  }

  /**
   * Any moment; the fraction of its second is cut off.
   *
   * @param epochMillis milliseconds since 1970
   */
  public static String of(long epochMillis) {
    return FORMAT.format(Instant.ofEpochSecond(Math.floorDiv(epochMillis, 1000L)));
  }
}
