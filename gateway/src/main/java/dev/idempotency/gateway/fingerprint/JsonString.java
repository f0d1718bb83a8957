package dev.idempotency.gateway.fingerprint;

/**
 * Reads a string of JSON and writes its canonical spelling (RFC 8259 §7, RFC 8785 §3.2.2.2).
 *
 * <p>No Unicode normalization: other code points are another string. Malformed UTF-8 and lone
 * surrogates are refused, because readers disagree about what they mean.
 */
final class JsonString {

  private static final long ONES = 0x0101010101010101L;
  private static final long HIGH_BITS = 0x8080808080808080L;

  private JsonString() {}

  /**
   * Copies one string with its quotes.
   *
   * @param from the position after the opening quote
   * @param text has room for all that is left of the input: no spelling is shorter than the
   *     canonical one
   * @return the position after the closing quote, or -1 where this is no string
   */
  static int copy(byte[] in, int from, int end, CanonicalText text) {
    int pos = from;
    text.put('"');
    while (true) {
      int plain = copyPlain(in, pos, end, text);
      pos += plain;
      if (pos >= end) {
        return -1;
      }
      byte b = in[pos];
      if (b == '"') {
        text.put('"');
        return pos + 1;
      } else if (b == '\\') {
        pos = copyEscape(in, pos + 1, end, text);
      } else if (b < 0) {
        pos = copyMultiByte(in, pos, end, text);
      } else {
        return -1; // a bare control character
      }
      if (pos < 0) {
        return -1;
      }
    }
  }

  /** Copies ASCII that stands for itself, eight bytes at a time; returns how many bytes. */
  private static int copyPlain(byte[] in, int from, int end, CanonicalText text) {
    byte[] out = text.bytes;
    int shift = text.length - from;
    int pos = from;
    while (pos + 8 <= end) {
      long word = (long) CanonicalText.LITTLE_ENDIAN.get(in, pos);
      CanonicalText.LITTLE_ENDIAN.set(out, pos + shift, word);
      long stops = stops(word);
      if (stops != 0) {
        pos += Long.numberOfTrailingZeros(stops) >>> 3;
        text.length = pos + shift;
        return pos - from;
      }
      pos += 8;
    }
    while (pos < end && in[pos] >= 0x20 && in[pos] != '"' && in[pos] != '\\') {
      out[pos + shift] = in[pos];
      pos++;
    }
    text.length = pos + shift;
    return pos - from;
  }

  /**
   * Marks with its high bit each byte that does not stand for itself. A borrow may mark bytes after
   * the first marked one falsely; only the first is used.
   */
  private static long stops(long word) {
    long quote = word ^ ONES * '"';
    long backslash = word ^ ONES * '\\';
    return (((word - ONES * 0x20) & ~word)
            | ((quote - ONES) & ~quote)
            | ((backslash - ONES) & ~backslash)
            | word)
        & HIGH_BITS;
  }

  private static int copyEscape(byte[] in, int pos, int end, CanonicalText text) {
    if (pos >= end) {
      return -1;
    }
    switch (in[pos]) {
      case '"', '\\', '/' -> text.putCharacter(in[pos]);
      case 'b' -> text.putCharacter('\b');
      case 'f' -> text.putCharacter('\f');
      case 'n' -> text.putCharacter('\n');
      case 'r' -> text.putCharacter('\r');
      case 't' -> text.putCharacter('\t');
      case 'u' -> {
        return copyUnicodeEscape(in, pos + 1, end, text);
      }
      default -> {
        return -1;
      }
    }
    return pos + 1;
  }

  private static int copyUnicodeEscape(byte[] in, int pos, int end, CanonicalText text) {
    int unit = hex4(in, pos, end);
    if (unit < 0 || (unit & 0xFC00) == 0xDC00) {
      return -1;
    }
    if ((unit & 0xFC00) != 0xD800) {
      text.putCharacter(unit);
      return pos + 4;
    }
    if (pos + 10 > end || in[pos + 4] != '\\' || in[pos + 5] != 'u') {
      return -1;
    }
    int low = hex4(in, pos + 6, end);
    if ((low & 0xFFFFFC00) != 0xDC00) {
      return -1;
    }
    text.putCharacter(0x10000 + ((unit & 0x3FF) << 10) + (low & 0x3FF));
    return pos + 10;
  }

  private static int hex4(byte[] in, int pos, int end) {
    if (pos + 4 > end) {
      return -1;
    }
    int value = 0;
    for (int i = pos; i < pos + 4; i++) {
      int digit = hexDigit(in[i]);
      if (digit < 0) {
        return -1;
      }
      value = (value << 4) | digit;
    }
    return value;
  }

  private static int hexDigit(byte b) {
    if (b >= '0' && b <= '9') {
      return b - '0';
    }
    int lower = b | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
  }

  /** Copies a run of characters beyond ASCII. */
  private static int copyMultiByte(byte[] in, int from, int end, CanonicalText text) {
    int pos = from;
    while (pos < end && in[pos] < 0) {
      int length = sequenceLength(in, pos, end);
      if (length == 0) {
        return -1;
      }
      pos += length;
    }
    text.put(in, from, pos);
    return pos;
  }

  /** Length of the well-formed sequence at {@code pos} (Unicode, table 3-7), or 0. */
  private static int sequenceLength(byte[] in, int pos, int end) {
    int lead = in[pos] & 0xFF;
    int length = lead < 0xC2 || lead > 0xF4 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (length == 0 || pos + length > end) {
      return 0;
    }
    int second = in[pos + 1] & 0xFF;
    // The second byte excludes what is overlong, a surrogate, or beyond U+10FFFF.
    int lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    int highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (second < lowest || second > highest) {
      return 0;
    }
    for (int i = pos + 2; i < pos + length; i++) {
      if ((in[i] & 0xC0) != 0x80) {
        return 0;
      }
    }
    return length;
  }
}
