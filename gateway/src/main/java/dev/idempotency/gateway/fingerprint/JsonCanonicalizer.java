package dev.idempotency.gateway.fingerprint;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
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
 * <p>One pass brings values into canonical form in the order of the document (see {@link
 * Transcript}) and notes which objects need another order; if any do, a second pass copies each
 * byte to its place. Time is linear in the document but for the sorting of names, memory is linear,
 * and nothing recurses.
 *
 * <p>Positions in the document go from method to method as values, because a field would be written
 * and read again for every token.
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
  private static final int ARRAY = -1;
  private static final int NOT_DROPPED = -1;

  /** Four bytes as one number. */
  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private static final int TRUE = word("true");
  private static final int NULL = word("null");
  private static final int ALSE = word("alse");

  private final Transcript transcript = new Transcript();
  private final CanonicalText reordered = new CanonicalText();
  private final MemberNames names = new MemberNames();
  private final Reordering reordering = new Reordering();

  /** Of each name: its place in the text, and the first reordered object after it. */
  private long[] places = new long[32];

  private byte[] in = Reordering.NONE;
  private byte[] bytes = Reordering.NONE;
  private int length;

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

    @Nullable PointerTree pointers;

    /** How many children were kept, where there are pointers. */
    int kept;

    /** Where the text ends before the present child, where there are pointers. */
    int mark;

    /** How many reordered objects come before a child that is left out. */
    int reordered;

    /** Where the text goes on when the present child is left out, or {@link #NOT_DROPPED}. */
    int dropTo;
  }

  /**
   * Reads a document. {@link #bytes} has its form until the next call, or until the document is
   * changed.
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
    transcript.begin(json);
    names.begin(json);
    boolean valid = readDocument();
    in = Reordering.NONE;
    if (valid && reordering.size() > 0) {
      reordering.apply(bytes, length, reordered);
      bytes = reordered.bytes;
    }
    return valid;
  }

  /** The canonical form, up to {@link #length}. */
  byte[] bytes() {
    return bytes;
  }

  int length() {
    return length;
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
    transcript.clear(KEPT_TEXT);
    reordered.clear(KEPT_TEXT);
    names.clear(KEPT_NAMES);
    reordering.clear();
    places = places.length > KEPT_NAMES ? new long[32] : places;
    levels = levels.length > 64 ? new Level[0] : levels;
    bytes = Reordering.NONE;
    length = 0;
    depth = 0;
    chosen = false;
  }

  private boolean readDocument() {
    int pos = beginValue(skipBlanks(0));
    while (pos >= 0 && depth > 0) {
      Level level = levels[depth - 1];
      pos = level.base == ARRAY ? readElements(level, pos) : readMembers(level, pos);
    }
    if (pos < 0) {
      return false;
    }
    length = transcript.end(pos);
    bytes = transcript.bytes();
    return skipBlanks(pos) == in.length;
  }

  /** Position of the next byte that is no white space. */
  private int skipBlanks(int pos) {
    return pos < in.length && in[pos] > ' ' ? pos : leaveOutBlanks(pos);
  }

  private int leaveOutBlanks(int pos) {
    int at = pos;
    while (at < in.length && isBlank(in[at])) {
      at++;
    }
    if (at > pos) {
      transcript.leaveOut(pos, at);
    }
    return at;
  }

  private static boolean isBlank(byte b) {
    return b == ' ' || b == '\n' || b == '\r' || b == '\t';
  }

  /** Goes on with an object until it ends, or another value opens inside. */
  private int readMembers(Level level, int from) {
    int open = depth;
    int pos = from;
    do {
      pos = readMember(level, pos);
    } while (pos >= 0 && depth == open);
    return pos;
  }

  /** Goes on with an array until it ends, or another value opens inside. */
  private int readElements(Level level, int from) {
    int open = depth;
    int pos = from;
    do {
      pos = readElement(level, pos);
    } while (pos >= 0 && depth == open);
    return pos;
  }

  /** Reads a member up to its value, and that too if it is a scalar; or ends the object. */
  private int readMember(Level level, int from) {
    endChild(level, from);
    int mark = skipBlanks(from);
    if (mark < in.length && in[mark] == '}') {
      return closeObject(level, mark);
    }
    int pos = beginChild(level, mark);
    if (pos < 0 || pos >= in.length || in[pos] != '"') {
      return -1;
    }
    int place = transcript.place(pos);
    pos = names.read(pos + 1, in.length, transcript);
    if (pos < 0 || !addName(level, place)) {
      return -1;
    }
    pos = skipBlanks(pos);
    if (pos >= in.length || in[pos] != ':') {
      return -1;
    }
    pos = skipBlanks(pos + 1);
    if (level.pointers != null) {
      follow(level, member(level.pointers), pos);
    }
    level.count++;
    return beginValue(pos);
  }

  private int readElement(Level level, int from) {
    endChild(level, from);
    int mark = skipBlanks(from);
    if (mark < in.length && in[mark] == ']') {
      depth--;
      return mark + 1;
    }
    int pos = beginChild(level, mark);
    if (pos < 0) {
      return -1;
    }
    if (level.pointers != null) {
      follow(level, level.pointers.element(level.count), pos);
    }
    level.count++;
    return beginValue(pos);
  }

  /** Reads a scalar, or opens an object or array. */
  private int beginValue(int pos) {
    byte b = pos < in.length ? in[pos] : 0;
    if (b == '"') {
      return JsonString.read(in, pos + 1, in.length, transcript);
    }
    return switch (b) {
      case '{', '[' -> open(b, pos);
      case 't' -> isWord(pos, TRUE) ? pos + 4 : -1;
      case 'f' -> isWord(pos + 1, ALSE) ? pos + 5 : -1;
      case 'n' -> isWord(pos, NULL) ? pos + 4 : -1;
      default -> JsonNumber.read(in, pos, in.length, transcript);
    };
  }

  private boolean isWord(int pos, int word) {
    return pos + Integer.BYTES <= in.length && (int) WORD.get(in, pos) == word;
  }

  private static int word(String ascii) {
    return (int) WORD.get(ascii.getBytes(StandardCharsets.US_ASCII), 0);
  }

  private int open(byte bracket, int pos) {
    if (depth == MAX_DEPTH) {
      return -1;
    }
    if (depth == levels.length) {
      levels = Arrays.copyOf(levels, Math.max(8, depth * 2));
    }
    if (levels[depth] == null) {
      levels[depth] = new Level();
    }
    Level level = levels[depth++];
    level.base = bracket == '{' ? names.size() : ARRAY;
    level.from = transcript.place(pos);
    level.count = 0;
    level.unordered = false;
    level.pointers = next;
    level.kept = 0;
    level.dropTo = NOT_DROPPED;
    return pos + 1;
  }

  /** Reads the comma before a child that is not the first. */
  private int beginChild(Level level, int mark) {
    if (level.pointers != null) {
      level.mark = transcript.place(mark);
      if (level.count > 0 && level.kept == 0) {
        transcript.leaveOut(mark, mark + 1);
      }
    }
    if (level.count == 0) {
      return mark;
    }
    return mark < in.length && in[mark] == ',' ? skipBlanks(mark + 1) : -1;
  }

  /** Keeps the place of the name just read; false where it is the same as the one before. */
  private boolean addName(Level level, int place) {
    int name = names.size() - 1;
    setPlace(name, place);
    if (level.count == 0) {
      return true;
    }
    int order = names.compare(name - 1, name);
    level.unordered |= order > 0;
    return order != 0;
  }

  private void setPlace(int name, int place) {
    if (name == places.length) {
      places = Arrays.copyOf(places, name * 2);
    }
    places[name] = (long) place << Integer.SIZE | reordering.size();
  }

  private @Nullable PointerTree member(PointerTree pointers) {
    int name = names.size() - 1;
    int from = names.offset(name);
    return pointers.member(names.bytes(name), from, from + names.length(name));
  }

  private void follow(Level level, @Nullable PointerTree child, int pos) {
    PointerTree pointers = level.pointers;
    boolean dropped = child != null ? child.isTarget() : pointers != null && pointers.isChoosing();
    chosen |= child != null && child.isChosen();
    if (dropped) {
      transcript.leaveOut(pos, pos); // so that it can be cut back
      level.dropTo = level.mark;
      level.reordered = reordering.size();
    } else {
      level.kept++;
    }
    next = dropped ? null : child;
  }

  /** Takes the child that ends here out of the text again, if it does not count. */
  private void endChild(Level level, int pos) {
    if (level.dropTo != NOT_DROPPED) {
      transcript.cutBack(level.dropTo, pos);
      reordering.truncate(level.reordered);
      level.dropTo = NOT_DROPPED;
    }
  }

  private int closeObject(Level level, int pos) {
    depth--;
    boolean valid = !level.unordered || reorder(level, transcript.place(pos));
    names.truncate(level.base);
    return valid ? pos + 1 : -1;
  }

  /**
   * Notes the order that the members must have; false where two have the same name. A member ends
   * before the comma before the next; one that was dropped has the place of the next, or one after
   * the end, and so no bytes.
   */
  private boolean reorder(Level level, int end) {
    int[] order = names.sorted(level.base);
    if (order == null) {
      return false;
    }
    setPlace(names.size(), end + 1);
    int kept = 0;
    for (int i = 0; i < level.count; i++) {
      long place = places[order[i]];
      long nextPlace = places[order[i] + 1];
      int memberFrom = (int) (place >>> Integer.SIZE);
      int memberEnd = (int) (nextPlace >>> Integer.SIZE) - 1;
      if (memberEnd > memberFrom) {
        reordering.member(memberFrom, memberEnd, (int) place, (int) nextPlace);
        kept++;
      }
    }
    reordering.object(level.from, end + 1, kept, (int) places[level.base]);
    return true;
  }
}
