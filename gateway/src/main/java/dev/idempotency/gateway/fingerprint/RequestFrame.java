package dev.idempotency.gateway.fingerprint;

import dev.idempotency.gateway.http.Headers;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a request, but for its body, that are hashed. Every field has its length before it
 * and every list its count, so that no byte can move from one field into another unseen.
 */
final class RequestFrame {

  private static final int ABSENT = -1;
  private static final int KEPT = 4 << 10;

  private final CanonicalText buffer = new CanonicalText();

  byte[] bytes() {
    return buffer.bytes;
  }

  int length() {
    return buffer.length;
  }

  void putTag(int tag) {
    buffer.reserve(1);
    buffer.put(tag);
  }

  void putInt(int value) {
    buffer.reserve(Integer.BYTES);
    for (int shift = 24; shift >= 0; shift -= 8) {
      buffer.put(value >>> shift);
    }
  }

  /**
   * Writes a text: one byte for each character where all are of ISO 8859-1, as the octets came on
   * the wire; else two, with the complement of the length before them. Absent is not empty.
   */
  void putText(@Nullable String text) {
    if (text == null) {
      putInt(ABSENT);
      return;
    }
    int length = text.length();
    boolean wide = isWide(text);
    putInt(wide ? ~length : length); // a wide text is not empty, so this is never ABSENT
    buffer.reserve(2 * length);
    for (int i = 0; i < length; i++) {
      char c = text.charAt(i);
      if (wide) {
        buffer.put(c >> 8);
      }
      buffer.put(c);
    }
  }

  private static boolean isWide(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) > 0xFF) {
        return true;
      }
    }
    return false;
  }

  /** Writes the values of all lines of that name, after their count. */
  void putLines(Headers headers, String name) {
    int count = headers.count(name);
    putInt(count);
    if (count == 1) {
      putText(headers.get(name));
    } else if (count > 1) {
      headers.all(name).forEach(this::putText);
    }
  }

  void clear() {
    buffer.clear(KEPT);
  }
}
