package dev.idempotency.gateway.fingerprint;

import java.util.Arrays;

/**
 * The objects of a text whose members have to change places, and the text with that done.
 *
 * <p>Objects are noted when they close, so an object comes after all those inside it. The text is
 * therefore rewritten from its end to its beginning: the last note is then always the outermost,
 * rightmost object. Each byte is copied once, however deeply objects are nested.
 */
final class Reordering {

  private static final int OBJECT = 5; // from, to, first member, count, first object inside
  private static final int MEMBER = 4; // from, to, first object inside, object after the last one
  private static final int FRAME = 4; // object, members left, and the range that goes on before it

  /** Parts up to this many bytes are copied without a call. */
  private static final int SHORT = 64;

  static final byte[] NONE = {};

  private int[] objects = new int[16 * OBJECT];
  private int[] members = new int[64 * MEMBER];
  private int[] frames = new int[16 * FRAME];
  private int objectCount;
  private int memberCount;

  private byte[] source = NONE;
  private byte[] target = NONE;
  private int targetFrom;
  private int depth;
  private int from;
  private int to;
  private int firstObject;
  private int nextObject;

  /** How many objects are noted; those inside a part of the text are numbered in one row. */
  int size() {
    return objectCount;
  }

  /** Notes the next member of the object that will be noted next. */
  void member(int start, int end, int firstInside, int afterInside) {
    int at = memberCount++ * MEMBER;
    if (at == members.length) {
      members = Arrays.copyOf(members, at * 2);
    }
    members[at] = start;
    members[at + 1] = end;
    members[at + 2] = firstInside;
    members[at + 3] = afterInside;
  }

  /** Notes an object after its members. */
  void object(int start, int end, int count, int firstInside) {
    int at = objectCount++ * OBJECT;
    if (at == objects.length) {
      objects = Arrays.copyOf(objects, at * 2);
    }
    objects[at] = start;
    objects[at + 1] = end;
    objects[at + 2] = memberCount - count;
    objects[at + 3] = count;
    objects[at + 4] = firstInside;
  }

  /** Forgets the objects from that number on. */
  void truncate(int size) {
    if (size < objectCount) {
      memberCount = objects[size * OBJECT + 2];
      objectCount = size;
    }
  }

  /** Writes the text to {@code result}, with the members in their places. */
  void apply(byte[] text, int length, CanonicalText result) {
    result.reserve(length);
    source = text;
    target = result.bytes;
    targetFrom = length;
    result.length = length;
    range(0, length, 0, objectCount);
    depth = 0;
    boolean more = true;
    while (more) {
      if (nextObject > firstObject) {
        enterObject();
      } else {
        prepend(from, to);
        more = depth > 0;
        if (more) {
          nextMember();
        }
      }
    }
  }

  /** The part of the text to write next, before what is written. */
  private void range(int start, int end, int first, int next) {
    from = start;
    to = end;
    firstObject = first;
    nextObject = next;
  }

  private void enterObject() {
    int object = nextObject - 1;
    int at = object * OBJECT;
    prepend(objects[at + 1], to);
    target[--targetFrom] = '}';
    int frame = depth++ * FRAME;
    if (frame == frames.length) {
      frames = Arrays.copyOf(frames, frame * 2);
    }
    frames[frame] = object;
    frames[frame + 1] = objects[at + 3];
    frames[frame + 2] = from;
    frames[frame + 3] = firstObject;
    nextMember();
  }

  /**
   * Goes on with the members before the last one written, up to one that has objects inside, or
   * with what is before the object.
   */
  private void nextMember() {
    int frame = (depth - 1) * FRAME;
    int at = frames[frame] * OBJECT;
    int count = objects[at + 3];
    int first = objects[at + 2];
    for (int left = frames[frame + 1]; left > 0; ) {
      if (left < count) {
        target[--targetFrom] = ',';
      }
      left--;
      int member = (first + left) * MEMBER;
      int inside = members[member + 2];
      int after = members[member + 3];
      if (inside < after) {
        frames[frame + 1] = left;
        range(members[member], members[member + 1], inside, after);
        return;
      }
      prepend(members[member], members[member + 1]);
    }
    target[--targetFrom] = '{';
    depth--;
    range(frames[frame + 2], objects[at], frames[frame + 3], objects[at + 4]);
  }

  private void prepend(int start, int end) {
    targetFrom -= end - start;
    if (end - start <= SHORT && start >= Long.BYTES && targetFrom >= Long.BYTES) {
      prependWords(start, end);
    } else {
      System.arraycopy(source, start, target, targetFrom, end - start);
    }
  }

  /** Copies from the end on; what is too much comes before the part, where nothing is written. */
  private void prependWords(int start, int end) {
    int shift = targetFrom - start - Long.BYTES;
    for (int pos = end; pos > start; pos -= Long.BYTES) {
      long word = (long) CanonicalText.LITTLE_ENDIAN.get(source, pos - Long.BYTES);
      CanonicalText.LITTLE_ENDIAN.set(target, pos + shift, word);
    }
  }

  /** Makes ready for the next document and gives back memory beyond some 24 KiB. */
  void clear() {
    objectCount = 0;
    memberCount = 0;
    source = NONE;
    target = NONE;
    objects = objects.length > 256 * OBJECT ? new int[16 * OBJECT] : objects;
    members = members.length > 1024 * MEMBER ? new int[64 * MEMBER] : members;
    frames = frames.length > 64 * FRAME ? new int[16 * FRAME] : frames;
  }
}
