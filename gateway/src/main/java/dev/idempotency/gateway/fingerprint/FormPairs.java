package dev.idempotency.gateway.fingerprint;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The pairs of an {@code application/x-www-form-urlencoded} text, decoded to octets.
 *
 * <p>The order between names says nothing, the order within one name does. Readers disagree on what
 * is one name: some take {@code a[]}, {@code a[b]} and {@code a} for parts of one value whose order
 * counts, some fold case, some read "." and " " as "_". So the order is kept among all names that
 * begin alike up to the first "[" or octet beyond ASCII by any of these readings. {@code a} and
 * {@code a=} differ, since some readers tell null from empty.
 *
 * <p>What readers understand differently has no pairs: empty ones, a broken escape, ";" (which
 * separated pairs once), octets that ought to be escaped, odd brackets, and more than {@link
 * #MOST_PAIRS}, where some stop reading.
 *
 * <p>Threading: confined to one thread. Failure: never throws for any input. Time and memory are
 * linear but for the sorting.
 */
final class FormPairs {

  static final int MOST_PAIRS = 10_000;

  private static final int KEPT_TEXT = 4 << 10; // bytes
  private static final int KEPT_PAIRS = 64;
  private static final int NO_VALUE = -1;

  /** The pairs as they came: length of name, name, length of value or none, value. */
  private final CanonicalText text = new CanonicalText();

  private int count;

  /** Where pairs begin in the text, and where the last one ends. */
  private int[] starts = new int[KEPT_PAIRS];

  private int[] order = new int[KEPT_PAIRS];
  private int[] spare = new int[KEPT_PAIRS];
  private byte[] in = {};
  private int pos;
  private int end;
  private long work;

  /** Octets compared while sorting since the last reading, for tests of linear work. */
  long work() {
    return work;
  }

  /** Whether these bytes have pairs; then they can be {@linkplain #write written}. */
  boolean read(byte[] form) {
    int length = form.length;
    clear();
    in = form;
    end = length;
    boolean sound = length == 0 || readPairs();
    in = Reordering.NONE;
    if (sound) {
      sort();
    }
    return sound;
  }

  /**
   * Appends the pairs after their number, in an order that is the same however they came.
   *
   * @param names the names of the pairs that count, or null for all. What a reader may take for
   *     such a name, as {@code a[]} and {@code A} for {@code a}, counts too: what it says would
   *     else change unseen
   */
  void write(CanonicalText target, @Nullable List<byte[]> names) {
    target.reserve(Integer.BYTES);
    int countAt = target.length;
    target.putInt(0);
    int written = 0;
    for (int i = 0; i < count; i++) {
      int from = starts[order[i]];
      int to = starts[order[i] + 1];
      if (names == null || isNamed(from, names)) {
        target.reserve(to - from);
        target.put(text.bytes, from, to);
        written++;
      }
    }
    CanonicalText.INT.set(target.bytes, countAt, written);
  }

  private boolean isNamed(int at, List<byte[]> names) {
    int from = at + Integer.BYTES;
    int length = nameLength(at);
    for (int i = 0; i < names.size(); i++) {
      byte[] name = names.get(i);
      if (compare(text.bytes, from, length, name, 0, name.length) == 0) {
        return true;
      }
    }
    return false;
  }

  private int nameLength(int at) {
    return (int) CanonicalText.INT.get(text.bytes, at);
  }

  private boolean readPairs() {
    pos = -1;
    do {
      pos++;
      if (count == MOST_PAIRS || !readPair()) {
        return false;
      }
    } while (pos < end);
    return true;
  }

  private boolean readPair() {
    if (count + 1 == starts.length) {
      starts = Arrays.copyOf(starts, starts.length * 2);
    }
    int start = text.length;
    text.reserve(end - pos + 2 * Integer.BYTES);
    text.putInt(0);
    if (!decode(true)) {
      return false;
    }
    int nameFrom = start + Integer.BYTES;
    CanonicalText.INT.set(text.bytes, start, text.length - nameFrom);
    boolean valued = pos < end && in[pos] == '=';
    if (!isPlainName(nameFrom, text.length) || (text.length == nameFrom && !valued)) {
      return false;
    }
    int valueAt = text.length;
    text.putInt(NO_VALUE);
    if (valued) {
      pos++;
      if (!decode(false)) {
        return false;
      }
      CanonicalText.INT.set(text.bytes, valueAt, text.length - valueAt - Integer.BYTES);
    }
    count++;
    starts[count] = text.length;
    return true;
  }

  /** Decodes up to the end of a name or value; false where it is not plain. */
  private boolean decode(boolean name) {
    while (pos < end) {
      byte b = in[pos];
      if (b == '&' || (name && b == '=')) {
        return true;
      }
      int octet = b == '+' ? ' ' : b == '%' ? escaped() : b;
      if (octet < 0 || ((b <= ' ' || b == ';' || b == 0x7F) && b != '+')) {
        return false;
      }
      text.put(octet);
      pos += b == '%' ? 3 : 1;
    }
    return true;
  }

  private int escaped() {
    if (end - pos < 3) {
      return -1;
    }
    int high = Character.digit(in[pos + 1], 16);
    int low = Character.digit(in[pos + 2], 16);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
  }

  /** Whether all readers take it for the same name: some trim, cut or rewrite odd ones. */
  private boolean isPlainName(int from, int to) {
    boolean open = false;
    for (int i = from; i < to; i++) {
      byte b = text.bytes[i];
      boolean odd = b == 0 || (i == from && (b == ' ' || b == '[')) || (b == ']' && !open);
      if (odd) {
        return false;
      }
      open |= b == '[';
    }
    return !open || text.bytes[to - 1] == ']';
  }

  // ---- order

  private void sort() {
    if (order.length < count) {
      order = new int[starts.length];
      spare = new int[starts.length];
    }
    boolean sorted = true;
    for (int i = 0; i < count; i++) {
      order[i] = i;
      sorted = sorted && (i == 0 || compare(i - 1, i) <= 0);
    }
    for (int width = 1; width < count && !sorted; width *= 2) {
      for (int from = 0; from < count; from += 2 * width) {
        merge(from, Math.min(from + width, count), Math.min(from + 2 * width, count));
      }
      int[] merged = spare;
      spare = order;
      order = merged;
    }
  }

  /** Of two that are equal the left one stays first. */
  private void merge(int from, int middle, int to) {
    int left = from;
    int right = middle;
    for (int i = from; i < to; i++) {
      boolean takeLeft = right >= to || (left < middle && compare(order[left], order[right]) <= 0);
      spare[i] = order[takeLeft ? left++ : right++];
    }
  }

  private int compare(int a, int b) {
    int fromA = starts[a] + Integer.BYTES;
    int fromB = starts[b] + Integer.BYTES;
    int lengthA = nameLength(starts[a]);
    return compare(text.bytes, fromA, lengthA, text.bytes, fromB, nameLength(starts[b]));
  }

  /** Compares how two names begin. */
  private int compare(byte[] a, int fromA, int lengthA, byte[] b, int fromB, int lengthB) {
    for (int i = 0; ; i++) {
      int one = i < lengthA ? folded(a[fromA + i]) : -1;
      int other = i < lengthB ? folded(b[fromB + i]) : -1;
      work++;
      if (one != other || one < 0) {
        return one - other;
      }
    }
  }

  private static int folded(byte b) {
    if (b < 0) {
      return -1; // whose case nobody folds alike, and which may be no UTF-8
    }
    return switch (b) {
      case '[' -> -1;
      case '.', ' ' -> '_';
      default -> b >= 'A' && b <= 'Z' ? b + ('a' - 'A') : b;
    };
  }

  /** Forgets the pairs and gives back all memory beyond some 8 KiB. */
  void clear() {
    text.clear(KEPT_TEXT);
    count = 0;
    work = 0;
    if (starts.length > KEPT_PAIRS) {
      starts = new int[KEPT_PAIRS];
      order = new int[KEPT_PAIRS];
      spare = new int[KEPT_PAIRS];
    }
  }
}
