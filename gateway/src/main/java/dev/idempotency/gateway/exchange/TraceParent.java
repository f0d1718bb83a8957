package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import org.jspecify.annotations.Nullable;

/** Reads the trace that a request belongs to (W3C Trace Context, §3.2). */
final class TraceParent {

  private static final int LENGTH = 55;

  private TraceParent() {}

  /** The trace id, 32 small hex digits; null where there is none that is valid. */
  static @Nullable String traceId(Headers request) {
    String value = request.get("traceparent");
    if (value == null || !isValid(value) || request.count("traceparent") > 1) {
      return null;
    }
    return value.substring(3, 35);
  }

  /** Version, trace id, parent id, flags; what a later version adds comes after a hyphen. */
  private static boolean isValid(String value) {
    return value.length() >= LENGTH
        && isHex(value, 0, 2)
        && isNamed(value, 3, 35)
        && isNamed(value, 36, 52)
        && isHex(value, 53, LENGTH)
        && value.charAt(2) == '-'
        && value.charAt(35) == '-'
        && value.charAt(52) == '-'
        && !value.startsWith("ff")
        && (value.length() == LENGTH || (!value.startsWith("00") && value.charAt(LENGTH) == '-'));
  }

  /** An id of nothing but zeros names nothing. */
  private static boolean isNamed(String value, int from, int to) {
    if (!isHex(value, from, to)) {
      return false;
    }
    for (int i = from; i < to; i++) {
      if (value.charAt(i) != '0') {
        return true;
      }
    }
    return false;
  }

  private static boolean isHex(String value, int from, int to) {
    for (int i = from; i < to; i++) {
      char c = value.charAt(i);
      if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
        return false;
      }
    }
    return true;
  }
}
