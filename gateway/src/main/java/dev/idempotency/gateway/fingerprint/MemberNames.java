package dev.idempotency.gateway.fingerprint;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The names of the members of all objects that are open, and their order by UTF-16 code units (RFC
 * 8785 §3.2.3).
 *
 * <p>Names are compared as UTF-8. That agrees with UTF-16 but for the lead bytes of supplementary
 * characters, which sort before U+E000 there; {@link #rank} moves them. The first eight bytes of a
 * name are kept as a number, which settles nearly every comparison. Nothing is hashed, so nobody
 * can choose names that collide; sorting brings equal names together.
 */
final class MemberNames {

  private static final int PREFIX = Long.BYTES;
  private static final int RUN = 8;
  private static final long HIGH_BITS = 0x8080808080808080L;

  /** The document, in which names lie that are spelled without an escape. */
  private byte[] in = Reordering.NONE;

  /** Names that are spelled with an escape, as they are without it. */
  private final CanonicalText unescaped = new CanonicalText();

  private int size;
  private boolean equalSeen;

  /** The first bytes of each name, ordered as signed numbers. */
  private long[] prefixes = new long[32];

  /** Where names begin: in the document, or in the unescaped ones as the complement. */
  private int[] starts = new int[32];

  private int[] lengths = new int[32];
  private int[] order = new int[32];
  private int[] spare = new int[32];

  /** Comparisons made and bytes compared since {@link #clear}, for tests of linear work. */
  private long work;

  void begin(byte[] document) {
    in = document;
  }

  int size() {
    return size;
  }

  long work() {
    return work;
  }

  /**
   * Reads a name.
   *
   * @param from the position after the opening quote
   * @return the position after the closing quote, or -1 where this is no string
   */
  int read(int from, int end, Transcript transcript) {
    if (from + PREFIX > end) {
      return readAny(from, end, transcript);
    }
    long word = (long) CanonicalText.LITTLE_ENDIAN.get(in, from);
    long stops = JsonString.stops(word);
    int to;
    if (stops == 0) {
      to = JsonString.skipPlain(in, from + PREFIX, end);
    } else {
      int bits = Long.numberOfTrailingZeros(stops) & -Byte.SIZE;
      to = from + bits / Byte.SIZE;
      word &= ~(-1L << bits);
    }
    if (to >= end || in[to] != '"') {
      return readAny(from, end, transcript);
    }
    add(from, to - from, Long.reverseBytes(word) ^ Long.MIN_VALUE);
    return to + 1;
  }

  private int readAny(int from, int end, Transcript transcript) {
    int next = JsonString.read(in, from, end, transcript);
    if (next < 0) {
      return -1;
    }
    int to = next - 1;
    if (hasEscape(from, to)) {
      int start = unescaped.length;
      JsonString.unescape(in, from, to, unescaped);
      int length = unescaped.length - start;
      add(~start, length, prefix(unescaped.bytes, start, length));
    } else {
      add(from, to - from, prefix(in, from, to - from));
    }
    return next;
  }

  private boolean hasEscape(int from, int to) {
    for (int i = from; i < to; i++) {
      if (in[i] == '\\') {
        return true;
      }
    }
    return false;
  }

  private void add(int start, int length, long prefix) {
    if (size == starts.length) {
      prefixes = Arrays.copyOf(prefixes, size * 2);
      starts = Arrays.copyOf(starts, size * 2);
      lengths = Arrays.copyOf(lengths, size * 2);
    }
    starts[size] = start;
    lengths[size] = length;
    prefixes[size] = prefix;
    size++;
  }

  /** Forgets the names from {@code base} on. */
  void truncate(int base) {
    size = base;
  }

  byte[] bytes(int name) {
    return starts[name] < 0 ? unescaped.bytes : in;
  }

  int offset(int name) {
    return starts[name] < 0 ? ~starts[name] : starts[name];
  }

  int length(int name) {
    return lengths[name];
  }

  /**
   * The numbers of the names from {@code base} on, sorted; valid up to the next call. Null where
   * two are equal.
   */
  int @Nullable [] sorted(int base) {
    int count = size - base;
    equalSeen = false;
    if (count > order.length) {
      order = new int[count + (count >> 1)];
      spare = new int[order.length];
    }
    for (int run = 0; run < count; run += RUN) {
      insertionSort(base, run, Math.min(run + RUN, count));
    }
    for (int width = RUN; width < count; width *= 2) {
      mergeRuns(count, width);
    }
    return equalSeen ? null : order;
  }

  /** Puts the names at these places of the row from {@code base} on, in their order. */
  private void insertionSort(int base, int from, int to) {
    for (int i = from; i < to; i++) {
      int name = base + i;
      int hole = i;
      while (hole > from && isAfter(order[hole - 1], name)) {
        order[hole] = order[hole - 1];
        hole--;
      }
      order[hole] = name;
    }
  }

  private void mergeRuns(int count, int width) {
    for (int from = 0; from < count; from += 2 * width) {
      merge(from, Math.min(from + width, count), Math.min(from + 2 * width, count));
    }
    int[] merged = spare;
    spare = order;
    order = merged;
  }

  private void merge(int from, int middle, int to) {
    int left = from;
    int right = middle;
    for (int i = from; i < to; i++) {
      boolean takeLeft = right >= to || (left < middle && !isAfter(order[left], order[right]));
      spare[i] = order[takeLeft ? left++ : right++];
    }
  }

  /**
   * Compares for sorting. No order can be found without comparing those that become neighbours, so
   * equal names do not go unseen.
   */
  private boolean isAfter(int a, int b) {
    int order = compare(a, b);
    equalSeen |= order == 0;
    return order > 0;
  }

  /**
   * Negative, zero or positive, as the first name is less than, equal to or more than the other.
   */
  int compare(int a, int b) {
    work++;
    int byPrefix = Long.compare(prefixes[a], prefixes[b]);
    return byPrefix != 0 ? byPrefix : compareWhole(a, b);
  }

  private int compareWhole(int a, int b) {
    int lengthA = lengths[a];
    int lengthB = lengths[b];
    if (lengthA <= PREFIX && lengthB <= PREFIX) {
      return Integer.compare(lengthA, lengthB);
    }
    byte[] bytesA = bytes(a);
    byte[] bytesB = bytes(b);
    int fromA = offset(a);
    int fromB = offset(b);
    int differs = Arrays.mismatch(bytesA, fromA, fromA + lengthA, bytesB, fromB, fromB + lengthB);
    work += differs < 0 ? lengthA : differs;
    if (differs < 0 || differs == lengthA || differs == lengthB) {
      return Integer.compare(lengthA, lengthB);
    }
    return rank(bytesA[fromA + differs]) - rank(bytesB[fromB + differs]);
  }

  /** The byte's place in the order of UTF-16: F0 to F4 move before EE and EF. */
  private static int rank(byte b) {
    int value = b & 0xFF;
    return value < 0xEE ? value : value < 0xF0 ? value + 5 : value - 2;
  }

  /** The first eight bytes, ranked, with zeros where the name is shorter. */
  private static long prefix(byte[] bytes, int offset, int length) {
    long prefix = 0;
    if (offset + PREFIX <= bytes.length) {
      prefix = (long) CanonicalText.BIG_ENDIAN.get(bytes, offset);
      prefix = length < PREFIX ? prefix & ~(-1L >>> (Byte.SIZE * length)) : prefix;
    } else {
      for (int i = 0; i < PREFIX; i++) {
        prefix = prefix << Byte.SIZE | (i < length ? bytes[offset + i] & 0xFF : 0);
      }
    }
    return ((prefix & HIGH_BITS) == 0 ? prefix : ranked(prefix)) ^ Long.MIN_VALUE;
  }

  private static long ranked(long prefix) {
    long ranked = 0;
    for (int shift = Long.SIZE - Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
      ranked = (ranked << Byte.SIZE) | rank((byte) (prefix >>> shift));
    }
    return ranked;
  }

  /** Makes ready for the next document and gives back memory beyond {@code most} names. */
  void clear(int most) {
    size = 0;
    work = 0;
    in = Reordering.NONE;
    unescaped.clear(CanonicalText.INITIAL);
    if (starts.length > most) {
      prefixes = new long[32];
      starts = new int[32];
      lengths = new int[32];
    }
    if (order.length > most) {
      order = new int[32];
      spare = new int[32];
    }
  }
}
