package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.IdempotencyKey.Reading;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** Reads a key from a query that is written as forms are (URL standard, urlencoded parsing). */
final class QueryParameter {

  private QueryParameter() {}

  /**
   * The key that the parameter is.
   *
   * @param query the query without its "?", still percent-encoded; null where there is none
   * @param name the parameter's name as it is when percent-encoding is undone
   */
  static Reading read(@Nullable String query, String name) {
    if (query == null) {
      return IdempotencyKey.absent();
    }
    String wanted = new String(name.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    String value = null;
    int times = 0;
    for (int from = 0; from <= query.length(); ) {
      int ampersand = query.indexOf('&', from);
      int to = ampersand < 0 ? query.length() : ampersand;
      int equals = query.indexOf('=', from);
      int end = equals < 0 || equals > to ? to : equals;
      if (wanted.equals(decoded(query, from, end))) {
        value = query.substring(Math.min(end + 1, to), to);
        times++;
      }
      from = to + 1;
    }
    return value == null ? IdempotencyKey.absent() : read(value, times);
  }

  private static Reading read(String value, int times) {
    if (times > 1) {
      return new Reading.Malformed("it is given " + times + " times");
    }
    String text = decoded(value, 0, value.length());
    return text == null
        ? new Reading.Malformed("its percent-encoding is broken")
        : IdempotencyKey.readText(text);
  }

  /** The octets as characters; null where an escape is broken. */
  private static @Nullable String decoded(String text, int from, int to) {
    StringBuilder octets = new StringBuilder(to - from);
    for (int i = from; i < to; i++) {
      char c = text.charAt(i);
      if (c != '%') {
        octets.append(c == '+' ? ' ' : c);
        continue;
      }
      boolean escape =
          i + 2 < to
              && HexFormat.isHexDigit(text.charAt(i + 1))
              && HexFormat.isHexDigit(text.charAt(i + 2));
      if (!escape) {
        return null;
      }
      octets.append((char) HexFormat.fromHexDigits(text, i + 1, i + 3));
      i += 2;
    }
    return octets.toString();
  }
}
