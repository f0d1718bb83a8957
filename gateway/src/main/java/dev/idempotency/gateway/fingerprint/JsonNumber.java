package dev.idempotency.gateway.fingerprint;

/**
 * Reads a number of JSON and writes the one spelling of its exact decimal value.
 *
 * <p>Numbers are equal when they are the same decimal: 1, 1.0 and 10e-1 are; 2^53 and 2^53+1 are
 * not, although a double cannot tell them apart. The layout is the one of RFC 8785 §3.2.2.3 (that
 * is ECMAScript's) with as many digits as the value has, so a number that is the shortest spelling
 * of its double comes out as that RFC has it. Time is linear in the spelling, whatever the
 * exponent: no digit is ever computed.
 */
final class JsonNumber {

  /** From this many digits before the point on, the layout has an exponent. */
  private static final int PLAIN_DIGITS = 21;

  /** Smallest position of the first digit, relative to the point, that needs no exponent. */
  private static final int PLAIN_FRACTION = -6;

  /** Longest exponent, in digits, that is reckoned with; a sum with digit counts fits a long. */
  private static final int EXPONENT_DIGITS = 17;

  /** Sign, point, leading or trailing zeros and exponent at most. */
  private static final int LAYOUT = 48;

  private static final long OUT_OF_REACH = Long.MAX_VALUE;

  private JsonNumber() {}

  /**
   * Reads one number.
   *
   * @return the position after the number, or -1 where this is no number or its exponent has more
   *     digits than are reckoned with
   */
  static int read(byte[] in, int from, int end, Transcript transcript) {
    int first = from < end && in[from] == '-' ? from + 1 : from;
    int pointAt = skipDigits(in, first, end);
    if (pointAt == first || (in[first] == '0' && pointAt > first + 1)) {
      return -1;
    }
    byte next = pointAt < end ? in[pointAt] : 0;
    if (next == '.') {
      return readFraction(in, from, first, pointAt, end, transcript);
    } else if ((next | 0x20) == 'e' || pointAt - first > PLAIN_DIGITS) {
      return readDecimal(in, from, first, pointAt, end, transcript);
    }
    if (first > from && in[first] == '0') {
      transcript.leaveOut(from, first); // -0 is 0
    }
    return pointAt;
  }

  /** Reads what is canonical but for zeros at its end, as amounts are; else hands on. */
  private static int readFraction(
      byte[] in, int from, int first, int pointAt, int end, Transcript transcript) {
    int pos = skipDigits(in, pointAt + 1, end);
    int last = pos;
    while (in[last - 1] == '0') {
      last--;
    }
    boolean exponent = pos < end && (in[pos] | 0x20) == 'e';
    if (exponent || pointAt - first > PLAIN_DIGITS || isSmall(in, first, pointAt, last)) {
      return readDecimal(in, from, first, pointAt, end, transcript);
    } else if (pos == pointAt + 1) {
      return -1;
    }
    if (last < pos) {
      transcript.leaveOut(last == pointAt + 1 ? pointAt : last, pos);
    }
    return pos;
  }

  /** Whether the number is nothing, or so little that the layout may need an exponent. */
  private static boolean isSmall(byte[] in, int first, int pointAt, int last) {
    if (in[first] != '0') {
      return false;
    }
    int pos = pointAt + 1;
    int plain = Math.min(last, pos - PLAIN_FRACTION);
    while (pos < plain && in[pos] == '0') {
      pos++;
    }
    return pos >= plain;
  }

  private static int readDecimal(
      byte[] in, int from, int first, int pointAt, int end, Transcript transcript) {
    int pos = pointAt;
    int fraction = pointAt;
    int fractionEnd = pointAt;
    if (pos < end && in[pos] == '.') {
      fraction = pos + 1;
      fractionEnd = skipDigits(in, fraction, end);
      if (fractionEnd == fraction) {
        return -1;
      }
      pos = fractionEnd;
    }
    long exponent = 0;
    if (pos < end && (in[pos] | 0x20) == 'e') {
      int exponentAt = pos + 1;
      pos = skipDigits(in, afterSign(in, exponentAt, end), end);
      if (pos == afterSign(in, exponentAt, end)) {
        return -1;
      }
      exponent = exponent(in, exponentAt, pos);
    }
    Digits digits = Digits.of(in, first, pointAt, fraction, fractionEnd);
    transcript.leaveOut(from, pos);
    transcript.text.reserve(digits.count() + LAYOUT);
    if (digits.isZero()) {
      transcript.text.put('0');
    } else if (exponent == OUT_OF_REACH) {
      return -1;
    } else {
      write(digits, from != first, digits.pointPosition() + exponent, transcript.text);
    }
    return pos;
  }

  private static int skipDigits(byte[] in, int from, int end) {
    int pos = from;
    while (pos < end && in[pos] >= '0' && in[pos] <= '9') {
      pos++;
    }
    return pos;
  }

  private static int afterSign(byte[] in, int pos, int end) {
    return pos < end && (in[pos] == '+' || in[pos] == '-') ? pos + 1 : pos;
  }

  private static long exponent(byte[] in, int from, int end) {
    int pos = afterSign(in, from, end);
    while (pos < end && in[pos] == '0') {
      pos++;
    }
    if (end - pos > EXPONENT_DIGITS) {
      return OUT_OF_REACH;
    }
    long value = 0;
    for (; pos < end; pos++) {
      value = value * 10 + (in[pos] - '0');
    }
    return in[from] == '-' ? -value : value;
  }

  /**
   * @param point how many digits stand before the point; negative where zeros follow it first
   */
  private static void write(Digits digits, boolean negative, long point, CanonicalText text) {
    int count = digits.count();
    if (negative) {
      text.put('-');
    }
    if (point > PLAIN_DIGITS || point <= PLAIN_FRACTION) {
      digits.copy(0, 1, text);
      if (count > 1) {
        text.put('.');
        digits.copy(1, count, text);
      }
      text.put('e');
      text.put(point > 0 ? '+' : '-');
      text.put(Long.toString(Math.abs(point - 1)));
    } else if (point <= 0) {
      text.put("0.");
      zeros((int) -point, text);
      digits.copy(0, count, text);
    } else if (point >= count) {
      digits.copy(0, count, text);
      zeros((int) point - count, text);
    } else {
      digits.copy(0, (int) point, text);
      text.put('.');
      digits.copy((int) point, count, text);
    }
  }

  private static void zeros(int count, CanonicalText text) {
    for (int i = 0; i < count; i++) {
      text.put('0');
    }
  }

  /**
   * The digits of a number as one sequence from the first that is not 0 to the last that is not 0,
   * read across the decimal point.
   *
   * @param whole where the digits before the point begin
   * @param wholeLength how many there are
   * @param fraction where the digits after the point begin
   * @param from index of the first digit that counts, in the sequence of all digits
   * @param to index after the last digit that counts
   */
  @SuppressWarnings("ArrayRecordComponent") // a view, never compared
  private record Digits(byte[] in, int whole, int wholeLength, int fraction, int from, int to) {

    static Digits of(byte[] in, int whole, int wholeEnd, int fraction, int fractionEnd) {
      int length = wholeEnd - whole;
      int to = length + fractionEnd - fraction;
      Digits all = new Digits(in, whole, length, fraction, 0, to);
      int from = 0;
      while (from < to && all.digit(from) == '0') {
        from++;
      }
      while (to > from && all.digit(to - 1) == '0') {
        to--;
      }
      return new Digits(in, whole, length, fraction, from, to);
    }

    private byte digit(int index) {
      return index < wholeLength ? in[whole + index] : in[fraction + index - wholeLength];
    }

    boolean isZero() {
      return from == to;
    }

    int count() {
      return to - from;
    }

    /** Where the point stands, counted in digits from the first one; the exponent left aside. */
    int pointPosition() {
      return wholeLength - from;
    }

    void copy(int start, int end, CanonicalText text) {
      int middle = Math.max(from + start, Math.min(from + end, wholeLength));
      if (from + start < middle) {
        text.put(in, whole + from + start, whole + middle);
      }
      int shift = fraction - wholeLength;
      text.put(in, middle + shift, from + end + shift);
    }
  }
}
