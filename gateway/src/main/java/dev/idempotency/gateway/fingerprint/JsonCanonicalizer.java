package dev.idempotency.gateway.fingerprint;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Brings a JSON document into canonical form: the members ordered and the strings spelled as RFC
 * 8785 has it, numbers as exact decimals (see {@link JsonNumber}).
 *
 * <p>Two documents have the same canonical form exactly when they are equal as data. What RFC 8259
 * does not allow, and what readers understand differently, has none: duplicate names, malformed
 * UTF-8, lone surrogates, a byte order mark, anything after the value.
 *
 * <p>One pass writes canonical values in the order of the document and notes which objects need
 * another order; if any do, a second pass copies each byte to its place. Time is linear in the
 * document but for the sorting of names, memory is linear, and nothing recurses.
 *
 * <p>Threading: confined to one thread. Failure: never throws for any input.
 */
final class JsonCanonicalizer {

  /** Objects and arrays may be nested that deep; a document that goes deeper has no form. */
  static final int MAX_DEPTH = 500;

  /** Longest document in bytes; the canonical form is at most some five times as long. */
  static final int MAX_LENGTH = 1 << 27;

  private static final int KEPT_TEXT = 12 << 10; // bytes
  private static final int KEPT_NAMES = 256;
  private static final int PLACE = 4; // from, to, first reordered object inside, the one after
  private static final int ARRAY = -1;
  private static final int NOT_DROPPED = -1;

  private final CanonicalText text = new CanonicalText();
  private final CanonicalText reordered = new CanonicalText();
  private final MemberNames names = new MemberNames(text);
  private final Reordering reordering = new Reordering();
  private int[] places = new int[32 * PLACE];

  private byte[] in = {};
  private int pos;
  private CanonicalText result = text;

  /** One for each object or array that is open. */
  private Level[] levels = {};

  private int depth;
  private @Nullable PointerTree next;
  private boolean chosen;

  /** An object or array that is being read. */
  private static final class Level {
    /** The object's first name, or {@link #ARRAY}. */
    int base;

    int from;
    int count;
    boolean unordered;

    /** Where the text goes on when the present child is left out, or {@link #NOT_DROPPED}. */
    int dropTo;

    @Nullable PointerTree pointers;
  }

  /**
   * Reads a document. {@link #bytes} has its form until the next call.
   *
   * @param json the document, not changed
   * @param ignored what is left out of the form, or chosen for it; null for nothing
   * @return whether there is a canonical form
   */
  boolean canonicalize(byte[] json, @Nullable PointerTree ignored) {
    if (json.length == 0 || json.length > MAX_LENGTH) {
      return false;
    }
    clear();
    in = json;
    next = ignored;
    text.reserve(json.length + JsonNumber.LAYOUT);
    boolean valid = readDocument();
    in = Reordering.NONE;
    if (valid && reordering.size() > 0) {
      reordering.apply(text, reordered);
      result = reordered;
    }
    return valid;
  }

  /** The canonical form, up to {@link #length}. */
  byte[] bytes() {
    return result.bytes;
  }

  int length() {
    return result.length;
  }

  /** Whether the document has anything that the pointers choose. */
  boolean isChosen() {
    return chosen;
  }

  /** Steps of sorting since the last call of {@link #canonicalize}. */
  long work() {
    return names.work();
  }

  /** Forgets the document and gives back all memory beyond some 64 KiB. */
  void clear() {
    text.clear(KEPT_TEXT);
    reordered.clear(KEPT_TEXT);
    names.clear(KEPT_NAMES);
    reordering.clear();
    places = places.length > KEPT_NAMES * PLACE ? new int[32 * PLACE] : places;
    levels = levels.length > 64 ? new Level[0] : levels;
    result = text;
    pos = 0;
    depth = 0;
    chosen = false;
  }

  private boolean readDocument() {
    skipBlanks();
    boolean valid = beginValue();
    while (valid && depth > 0) {
      valid = advance();
    }
    if (valid) {
      skipBlanks();
    }
    return valid && pos == in.length;
  }

  /** Goes to the next byte that is no white space; returns it, or 0 at the end. */
  private byte skipBlanks() {
    int at = pos;
    while (at < in.length && isBlank(in[at])) {
      at++;
    }
    pos = at;
    return at < in.length ? in[at] : 0;
  }

  private static boolean isBlank(byte b) {
    return b <= ' ' && (b == ' ' || b == '\n' || b == '\r' || b == '\t');
  }

  /** Reads a scalar, or opens an object or array. */
  private boolean beginValue() {
    byte b = pos < in.length ? in[pos] : 0;
    switch (b) {
      case '"' -> pos = JsonString.copy(in, pos + 1, in.length, text);
      case '{', '[' -> {
        return open(b);
      }
      case 't' -> readLiteral("true");
      case 'f' -> readLiteral("false");
      case 'n' -> readLiteral("null");
      default -> pos = JsonNumber.copy(in, pos, in.length, text);
    }
    return pos >= 0;
  }

  private void readLiteral(String literal) {
    int end = pos + literal.length();
    for (int i = pos; i < end; i++) {
      if (i >= in.length || in[i] != literal.charAt(i - pos)) {
        pos = -1;
        return;
      }
    }
    text.put(literal);
    pos = end;
  }

  private boolean open(byte bracket) {
    if (depth == MAX_DEPTH) {
      return false;
    }
    if (depth == levels.length) {
      levels = Arrays.copyOf(levels, Math.max(8, depth * 2));
    }
    if (levels[depth] == null) {
      levels[depth] = new Level();
    }
    Level level = levels[depth++];
    level.base = bracket == '{' ? names.size() : ARRAY;
    level.from = text.length;
    level.count = 0;
    level.unordered = false;
    level.dropTo = NOT_DROPPED;
    level.pointers = next;
    text.put(bracket);
    pos++;
    return true;
  }

  /** Ends the innermost object or array, or begins its next child. */
  private boolean advance() {
    Level level = levels[depth - 1];
    boolean object = level.base != ARRAY;
    byte b = skipBlanks();
    boolean first = level.count == 0;
    if (!first) {
      endChild(level);
    }
    if (b == (object ? '}' : ']')) {
      pos++;
      return close(level, b);
    }
    if (!first) {
      if (b != ',') {
        return false;
      }
      pos++;
      skipBlanks();
    }
    return object ? beginMember(level) : beginElement(level);
  }

  private boolean beginElement(Level level) {
    int mark = separate();
    PointerTree pointers = level.pointers;
    follow(level, pointers == null ? null : pointers.element(level.count), mark);
    level.count++;
    return beginValue();
  }

  private boolean beginMember(Level level) {
    int mark = separate();
    int start = text.length;
    if (pos == in.length || in[pos] != '"') {
      return false;
    }
    int escapes = text.escapes;
    pos = JsonString.copy(in, pos + 1, in.length, text);
    if (pos < 0 || !addName(level, start, text.escapes != escapes)) {
      return false;
    }
    if (skipBlanks() != ':') {
      return false;
    }
    text.put(':');
    pos++;
    skipBlanks();
    if (level.pointers != null) {
      int name = names.size() - 1;
      int from = names.offset(name);
      PointerTree here = level.pointers;
      follow(level, here.member(names.bytes(name), from, from + names.length(name)), mark);
    }
    level.count++;
    return beginValue();
  }

  /** Keeps the name just written; false where it is the same as the one before. */
  private boolean addName(Level level, int start, boolean escaped) {
    names.add(start + 1, text.length - 1, escaped);
    int name = names.size() - 1;
    int place = name * PLACE;
    if (place == places.length) {
      places = Arrays.copyOf(places, place * 2);
    }
    places[place] = start;
    places[place + 2] = reordering.size();
    if (level.count == 0) {
      return true;
    }
    int order = names.compare(name - 1, name);
    level.unordered |= order > 0;
    return order != 0;
  }

  /** Writes the comma before a child that is not the first; returns where it was written. */
  private int separate() {
    int mark = text.length;
    byte last = text.bytes[mark - 1];
    // A bracket here is the one that opened this level: no value ends with an opening bracket.
    if (last != '{' && last != '[') {
      text.put(',');
    }
    return mark;
  }

  private void follow(Level level, @Nullable PointerTree child, int mark) {
    boolean dropped =
        child != null ? child.isTarget() : level.pointers != null && level.pointers.isChoosing();
    chosen |= child != null && child.isChosen();
    level.dropTo = dropped ? mark : NOT_DROPPED;
    next = dropped ? null : child;
  }

  private void endChild(Level level) {
    boolean dropped = level.dropTo != NOT_DROPPED;
    if (dropped) {
      text.length = level.dropTo;
    }
    if (level.base != ARRAY) {
      int place = (names.size() - 1) * PLACE;
      places[place + 1] = dropped ? places[place] : text.length;
      places[place + 3] = reordering.size();
      if (dropped) {
        reordering.truncate(places[place + 2]);
        names.keepLast(); // it still counts as a duplicate
      }
    }
  }

  private boolean close(Level level, byte bracket) {
    text.put(bracket);
    depth--;
    boolean valid = !level.unordered || reorder(level);
    if (level.base != ARRAY) {
      names.truncate(level.base);
    }
    return valid;
  }

  /** Notes the order that the members must have; false where two have the same name. */
  private boolean reorder(Level level) {
    int[] order = names.sorted(level.base);
    if (order == null) {
      return false;
    }
    int count = 0;
    for (int i = 0; i < level.count; i++) {
      int place = order[i] * PLACE;
      if (places[place + 1] > places[place]) {
        reordering.member(places[place], places[place + 1], places[place + 2], places[place + 3]);
        count++;
      }
    }
    reordering.object(level.from, text.length, count, places[level.base * PLACE + 2]);
    return true;
  }
}
