package dev.idempotency.gateway.fingerprint;

/**
 * Reads a string of JSON and gives it its canonical spelling (RFC 8259 §7, RFC 8785 §3.2.2.2).
 *
 * <p>No Unicode normalization: other code points are another string. Malformed UTF-8 and lone
 * surrogates are refused, because readers disagree about what they mean.
 */
final class JsonString {

  private static final long ONES = 0x0101010101010101L;
  private static final long HIGH_BITS = 0x8080808080808080L;

  private JsonString() {}

  /**
   * Reads one string.
   *
   * @param from the position after the opening quote
   * @return the position after the closing quote, or -1 where this is no string
   */
  static int read(byte[] in, int from, int end, Transcript transcript) {
    int pos = from;
    while (true) {
      pos = skipPlain(in, pos, end);
      if (pos >= end) {
        return -1;
      }
      byte b = in[pos];
      if (b == '"') {
        return pos + 1;
      } else if (b == '\\') {
        pos = readEscape(in, pos, end, transcript);
      } else if (b < 0) {
        pos = skipMultiByte(in, pos, end);
      } else {
        return -1; // a bare control character
      }
      if (pos < 0) {
        return -1;
      }
    }
  }

  /** Position of the first byte that is no ASCII or does not stand for itself. */
  static int skipPlain(byte[] in, int from, int end) {
    int pos = from;
    while (pos + Long.BYTES <= end) {
      long stops = stops((long) CanonicalText.LITTLE_ENDIAN.get(in, pos));
      if (stops != 0) {
        return pos + (Long.numberOfTrailingZeros(stops) >>> 3);
      }
      pos += Long.BYTES;
    }
    while (pos < end && in[pos] >= 0x20 && in[pos] != '"' && in[pos] != '\\') {
      pos++;
    }
    return pos;
  }

  /**
   * Marks with its high bit each byte that does not stand for itself. A borrow may mark bytes after
   * the first marked one falsely; only the first is used.
   */
  static long stops(long word) {
    // With their second bit turned, the quote comes right after the control characters.
    long quoteOrControl = (word ^ ONES * 0x02) - ONES * 0x21;
    long backslash = (word ^ ONES * '\\') - ONES;
    return (quoteOrControl | backslash | word) & HIGH_BITS;
  }

  /** Reads an escape from its backslash on; most are canonical already. */
  private static int readEscape(byte[] in, int pos, int end, Transcript transcript) {
    int decoded = decode(in, pos + 1, end);
    if (decoded < 0) {
      return -1;
    }
    int next = pos + 1 + length(decoded);
    if (in[pos + 1] == 'u' || in[pos + 1] == '/') {
      transcript.replace(pos, next, codePoint(decoded));
    }
    return next;
  }

  /**
   * Reads an escape from the byte after its backslash on.
   *
   * @return its {@link #codePoint} and {@link #length} in one, or -1 where this is no escape
   */
  private static int decode(byte[] in, int pos, int end) {
    if (pos >= end) {
      return -1;
    }
    return switch (in[pos]) {
      case '"', '\\', '/' -> decoded(in[pos], 1);
      case 'b' -> decoded('\b', 1);
      case 'f' -> decoded('\f', 1);
      case 'n' -> decoded('\n', 1);
      case 'r' -> decoded('\r', 1);
      case 't' -> decoded('\t', 1);
      case 'u' -> decodeUnicode(in, pos + 1, end);
      default -> -1;
    };
  }

  private static int decodeUnicode(byte[] in, int pos, int end) {
    int unit = hex4(in, pos, end);
    if (unit < 0 || (unit & 0xFC00) == 0xDC00) {
      return -1;
    }
    if ((unit & 0xFC00) != 0xD800) {
      return decoded(unit, 5);
    }
    if (pos + 10 > end || in[pos + 4] != '\\' || in[pos + 5] != 'u') {
      return -1;
    }
    int low = hex4(in, pos + 6, end);
    if ((low & 0xFFFFFC00) != 0xDC00) {
      return -1;
    }
    return decoded(0x10000 + ((unit & 0x3FF) << 10) + (low & 0x3FF), 11);
  }

  private static int decoded(int codePoint, int length) {
    return codePoint << 4 | length;
  }

  private static int codePoint(int decoded) {
    return decoded >>> 4;
  }

  private static int length(int decoded) {
    return decoded & 15;
  }

  /** Writes what a string means, in UTF-8; it was read before and found well-formed. */
  static void unescape(byte[] in, int from, int to, CanonicalText target) {
    target.reserve(to - from); // no character is longer than its escape
    int pos = from;
    while (pos < to) {
      byte b = in[pos++];
      if (b == '\\') {
        int decoded = decode(in, pos, to);
        target.putPlain(codePoint(decoded));
        pos += length(decoded);
      } else {
        target.put(b);
      }
    }
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

  /** Position after a run of characters beyond ASCII, or -1 where one is malformed. */
  private static int skipMultiByte(byte[] in, int from, int end) {
    int pos = from;
    while (pos < end && in[pos] < 0) {
      int length = sequenceLength(in, pos, end);
      if (length == 0) {
        return -1;
      }
      pos += length;
    }
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
