package dev.idempotency.gateway.fingerprint;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;

/**
 * The parts of a {@code multipart/form-data} body (RFC 7578, RFC 2046 §5.1.1): what stands between
 * the delimiters, byte for byte, in order. Only the boundary and what is before the first and
 * behind the last delimiter do not count; so whatever a reader makes of a part, it makes the same
 * of an equal one.
 *
 * <p>Readers must agree on where the delimiters are. So the boundary may stand nowhere but in a
 * delimiter that is written without liberties: a whole line, ended by CRLF, without padding. Any
 * other body has no parts, and neither has one with more than {@link #MOST_PARTS}, where some
 * readers stop.
 *
 * <p>Threading: confined to one thread. Failure: never throws for any input. Time is linear.
 */
final class MultipartParts {

  static final int MOST_PARTS = 1000;

  private static final int KEPT = 64;

  private final byte[] length = new byte[Integer.BYTES];
  private byte[] body = {};
  private int end;

  /** Of each part, where it begins and ends. */
  private int[] parts = new int[KEPT];

  private int count;
  private int open;
  private boolean closed;

  /** Whether the body consists of parts; then they can be hashed. */
  boolean read(byte[] bytes, String boundary) {
    byte[] delimiter = ("--" + boundary).getBytes(StandardCharsets.ISO_8859_1);
    body = bytes;
    end = bytes.length;
    count = 0;
    open = -1;
    closed = false;
    parts = parts.length > KEPT ? new int[KEPT] : parts;
    return delimit(delimiter) && closed;
  }

  /** Finds the delimiter wherever it stands, and never looks at a byte of the body twice. */
  private boolean delimit(byte[] delimiter) {
    int[] fallback = fallback(delimiter);
    int matched = 0;
    for (int i = 0; i < end; i++) {
      while (matched > 0 && delimiter[matched] != body[i]) {
        matched = fallback[matched];
      }
      matched += delimiter[matched] == body[i] ? 1 : 0;
      if (matched == delimiter.length) {
        if (!delimiter(i + 1 - matched, i + 1)) {
          return false;
        }
        matched = fallback[matched];
      }
    }
    return true;
  }

  /** How much is still matched when the byte behind a match of that length is another. */
  private static int[] fallback(byte[] word) {
    int[] fallback = new int[word.length + 1];
    int matched = 0;
    for (int i = 1; i < word.length; i++) {
      while (matched > 0 && word[matched] != word[i]) {
        matched = fallback[matched];
      }
      matched += word[matched] == word[i] ? 1 : 0;
      fallback[i + 1] = matched;
    }
    return fallback;
  }

  /** A delimiter stands there: it ends a part and begins one, or closes the body. */
  private boolean delimiter(int from, int to) {
    boolean first = open < 0;
    boolean atLine = (first && from == 0) || (from >= 2 && isLineEnd(from - 2));
    if (closed || !atLine || (!first && from - 2 < open)) {
      return false;
    }
    if (!first && !add(from - 2)) {
      return false;
    }
    if (to + 2 <= end && isLineEnd(to)) {
      open = to + 2;
      return true;
    }
    closed = to + 2 <= end && body[to] == '-' && body[to + 1] == '-';
    return closed && (to + 2 == end || (to + 4 <= end && isLineEnd(to + 2)));
  }

  private boolean isLineEnd(int at) {
    return body[at] == '\r' && body[at + 1] == '\n';
  }

  private boolean add(int to) {
    if (count == MOST_PARTS) {
      return false;
    }
    if (2 * count == parts.length) {
      parts = Arrays.copyOf(parts, parts.length * 2);
    }
    parts[2 * count] = open;
    parts[2 * count + 1] = to;
    count++;
    return true;
  }

  /** Hashes the parts, each after its length. */
  void update(MessageDigest digest) {
    for (int i = 0; i < count; i++) {
      int size = parts[2 * i + 1] - parts[2 * i];
      CanonicalText.INT.set(length, 0, size);
      digest.update(length);
      digest.update(body, parts[2 * i], size);
    }
  }

  /** Forgets the body. */
  void clear() {
    body = Reordering.NONE;
  }
}
