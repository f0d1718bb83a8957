package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import org.jspecify.annotations.Nullable;

/** What a client prefers ({@code Prefer}, RFC 7240); only {@code wait} is of interest here. */
final class Preference {

  static final String APPLIED = "Preference-Applied";

  /** More seconds than anybody waits; keeps sums in range. */
  private static final int MOST = 1_000_000;

  private Preference() {}

  /**
   * How many seconds the client would wait, -1 where it does not say so in a way that can be
   * understood. Of several the first counts (RFC 7240 §2).
   */
  static int wait(Headers request) {
    for (int i = 0; i < request.size(); i++) {
      if (request.name(i).equalsIgnoreCase("Prefer")) {
        String value = first(request.value(i));
        if (value != null) {
          return seconds(value);
        }
      }
    }
    return -1;
  }

  /** The value of the list's first member of that name; null where there is none. */
  private static @Nullable String first(String list) {
    int start = 0;
    boolean quoted = false;
    for (int at = 0; at <= list.length(); at++) {
      char c = at == list.length() ? ',' : list.charAt(at);
      if (c == '\\' && quoted) {
        at++;
      } else if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && (!quoted || at == list.length())) {
        String value = value(list.substring(start, at));
        if (value != null) {
          return value;
        }
        start = at + 1;
      }
    }
    return null;
  }

  /** The value of one preference, without its parameters; null where it has another name. */
  private static @Nullable String value(String preference) {
    int end = preference.indexOf(';');
    String bare = end < 0 ? preference : preference.substring(0, end);
    int equals = bare.indexOf('=');
    String name = equals < 0 ? bare : bare.substring(0, equals);
    if (!name.strip().equalsIgnoreCase("wait")) {
      return null;
    }
    return equals < 0 ? "" : bare.substring(equals + 1).strip();
  }

  private static int seconds(String value) {
    boolean quoted = value.length() > 2 && value.startsWith("\"") && value.endsWith("\"");
    String digits = quoted ? value.substring(1, value.length() - 1) : value;
    if (digits.isEmpty() || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
      return -1;
    }
    return digits.length() > 6 ? MOST : Integer.parseInt(digits);
  }
}
