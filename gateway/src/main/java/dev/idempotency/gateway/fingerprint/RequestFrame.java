package dev.idempotency.gateway.fingerprint;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.Fingerprint;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a request, but for its body, that are hashed. Every field has its length before it
 * and every list its count, so that no byte can move from one field into another unseen.
 */
final class RequestFrame {

  private static final int ABSENT = -1;
  private static final int KEPT = 4 << 10;

  private final CanonicalText buffer = new CanonicalText();
  private final int[] parts = new int[Fingerprint.Part.values().length];
  private int partCount;

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
    buffer.putInt(value);
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

  void put(byte[] bytes) {
    buffer.reserve(bytes.length);
    buffer.put(bytes, 0, bytes.length);
  }

  /** Writes the pairs of those names. */
  void putPairs(FormPairs pairs, List<byte[]> names) {
    pairs.write(buffer, names);
  }

  /** What follows belongs to the next {@link Fingerprint.Part}. */
  void beginPart() {
    parts[partCount++] = buffer.length;
  }

  /** The marks of all parts, see {@link Fingerprint#marks}. */
  long marks(HashKey key) {
    long marks = 0;
    for (int i = 0; i < parts.length; i++) {
      int to = i + 1 < parts.length ? parts[i + 1] : buffer.length;
      marks = marks << 16 | key.mark(buffer.bytes, parts[i], to);
    }
    return marks;
  }

  /** The media type, or null where there is none or more than one. */
  static @Nullable MediaType singleMediaType(Headers headers) {
    String value = headers.get("content-type");
    return value == null || headers.count("content-type") > 1 ? null : MediaType.of(value);
  }

  /** Whether there is a content coding other than {@code identity} (RFC 9110 §8.4). */
  static boolean isCoded(Headers headers) {
    String value = headers.get("content-encoding");
    return value != null
        && (headers.count("content-encoding") > 1 || !value.equalsIgnoreCase("identity"));
  }

  /** Writes the media type, without what says nothing about {@code data}. */
  void putMediaType(Headers headers, @Nullable MediaType type, boolean data) {
    if (type == null) {
      putLines(headers, "content-type");
    } else {
      putInt(1);
      putText(data ? type.dataText() : type.text());
    }
  }

  /** Writes these headers, in the order of their names. */
  void putListed(Headers headers, List<String> names) {
    putInt(names.size());
    for (String name : names) {
      putText(name);
      putLines(headers, name);
    }
  }

  void clear() {
    partCount = 0;
    buffer.clear(KEPT);
  }
}
