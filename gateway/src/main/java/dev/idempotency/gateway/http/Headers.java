package dev.idempotency.gateway.http;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Header fields in the order in which they were received or added (RFC 9110 §5).
 *
 * <p>Names compare without regard to case; a name may occur in several field lines. The fields are
 * held flat in one array: a message has some ten of them, so that a scan is cheaper than a hash.
 * Values are text in ISO 8859-1, one character per octet, so that obs-text passes unchanged.
 *
 * <p>Threading: mutable and confined to one thread at a time.
 */
public final class Headers {

  private static final String[] NONE = {};

  private String[] fields;
  private int length;

  public Headers() {
    this.fields = NONE;
  }

  private Headers(String[] fields, int length) {
    this.fields = fields;
    this.length = length;
  }

  /** Fields from alternating names and values. */
  public static Headers of(String... namesAndValues) {
    if (namesAndValues.length % 2 != 0) {
      throw new IllegalArgumentException("a name without a value");
    }
    return new Headers(namesAndValues.clone(), namesAndValues.length);
  }

  /** Number of field lines. */
  public int size() {
    return length >> 1;
  }

  public boolean isEmpty() {
    return length == 0;
  }

  /** The name of the field line at {@code index}, as it was spelled. */
  public String name(int index) {
    return fields[checked(index) << 1];
  }

  /** The value of the field line at {@code index}. */
  public String value(int index) {
    return fields[(checked(index) << 1) + 1];
  }

  /** The value of the first line of that name, or null. */
  public @Nullable String get(String name) {
    int at = indexOf(name, 0);
    return at < 0 ? null : fields[at + 1];
  }

  /** The values of all lines of that name, in order. */
  public List<String> all(String name) {
    List<String> values = new ArrayList<>(2);
    for (int at = indexOf(name, 0); at >= 0; at = indexOf(name, at + 2)) {
      values.add(fields[at + 1]);
    }
    return values;
  }

  /** How many lines have that name. */
  public int count(String name) {
    int count = 0;
    for (int at = indexOf(name, 0); at >= 0; at = indexOf(name, at + 2)) {
      count++;
    }
    return count;
  }

  public boolean contains(String name) {
    return indexOf(name, 0) >= 0;
  }

  /**
   * Whether a line of that name has {@code token} in its comma-separated list, compared without
   * regard to case (RFC 9110 §5.6.1).
   */
  public boolean containsToken(String name, String token) {
    for (int at = indexOf(name, 0); at >= 0; at = indexOf(name, at + 2)) {
      if (listContains(fields[at + 1], token)) {
        return true;
      }
    }
    return false;
  }

  public Headers add(String name, String value) {
    if (length + 2 > fields.length) {
      String[] larger = new String[Math.max(16, fields.length * 2)];
      System.arraycopy(fields, 0, larger, 0, length);
      fields = larger;
    }
    fields[length++] = name;
    fields[length++] = value;
    return this;
  }

  /** Replaces all lines of that name by one. */
  public Headers set(String name, String value) {
    int at = indexOf(name, 0);
    if (at < 0) {
      return add(name, value);
    }
    fields[at + 1] = value;
    if (indexOf(name, at + 2) >= 0) {
      int first = at;
      int[] position = {0};
      removeIf((n, v) -> position[0]++ != first >> 1 && n.equalsIgnoreCase(name));
    }
    return this;
  }

  /** Removes all lines of that name; says whether there was one. */
  public boolean remove(String name) {
    return indexOf(name, 0) >= 0 && removeIf((n, v) -> n.equalsIgnoreCase(name));
  }

  /** Removes the lines for which the condition holds; says whether there was one. */
  public boolean removeIf(BiPredicate<String, String> condition) {
    int kept = 0;
    for (int i = 0; i < length; i += 2) {
      if (!condition.test(fields[i], fields[i + 1])) {
        fields[kept] = fields[i];
        fields[kept + 1] = fields[i + 1];
        kept += 2;
      }
    }
    boolean removed = kept != length;
    for (int i = kept; i < length; i++) {
      fields[i] = "";
    }
    length = kept;
    return removed;
  }

  public void clear() {
    fields = NONE;
    length = 0;
  }

  public void forEach(BiConsumer<String, String> consumer) {
    for (int i = 0; i < length; i += 2) {
      consumer.accept(fields[i], fields[i + 1]);
    }
  }

  public Headers copy() {
    return new Headers(length == 0 ? NONE : fields.clone(), length);
  }

  /** Whether a comma-separated list has that member, compared without regard to case. */
  static boolean listContains(String list, String token) {
    int start = 0;
    while (start <= list.length()) {
      int comma = list.indexOf(',', start);
      int end = comma < 0 ? list.length() : comma;
      if (memberEquals(list, start, end, token)) {
        return true;
      }
      start = end + 1;
    }
    return false;
  }

  private static boolean memberEquals(String list, int start, int end, String token) {
    int from = start;
    int to = end;
    while (from < to && isBlank(list.charAt(from))) {
      from++;
    }
    while (to > from && isBlank(list.charAt(to - 1))) {
      to--;
    }
    return to - from == token.length() && list.regionMatches(true, from, token, 0, token.length());
  }

  private static boolean isBlank(char c) {
    return c == ' ' || c == '\t';
  }

  private int indexOf(String name, int from) {
    for (int i = from; i < length; i += 2) {
      String candidate = fields[i];
      if (candidate.length() == name.length()
          && (candidate.equals(name) || candidate.equalsIgnoreCase(name))) {
        return i;
      }
    }
    return -1;
  }

  private int checked(int index) {
    if (index < 0 || index >= size()) {
      throw new IndexOutOfBoundsException(index);
    }
    return index;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    if (!(other instanceof Headers that) || that.length != length) {
      return false;
    }
    for (int i = 0; i < length; i += 2) {
      if (!fields[i].equalsIgnoreCase(that.fields[i])
          || !fields[i + 1].equals(that.fields[i + 1])) {
        return false;
      }
    }
    return true;
  }

  @Override
  public int hashCode() {
    int hash = 1;
    for (int i = 1; i < length; i += 2) {
      hash = 31 * hash + fields[i].hashCode();
    }
    return hash;
  }

  /** Names only: values may be secrets. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("[");
    for (int i = 0; i < length; i += 2) {
      text.append(i == 0 ? "" : ", ").append(fields[i]);
    }
    return text.append(']').toString();
  }
}
