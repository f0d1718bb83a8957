package dev.idempotency.gateway.store.redis;

import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A place in the indexes.
 *
 * @param index which index
 * @param score of the last entry that was read; 0 at the start
 * @param name of the last entry that was read; empty at the start
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record IndexCursor(int index, long score, byte[] name) {

  private static final Pattern FORM = Pattern.compile("(\\d{1,3})\\.(\\d{1,16})\\.([0-9a-f]*)");

  static IndexCursor start(int index) {
    return new IndexCursor(index, 0, new byte[0]);
  }

  /** The one that {@link #text} says; the start where it makes no sense. */
  static IndexCursor read(String text, int indexes) {
    Matcher form = FORM.matcher(text);
    if (!form.matches() || form.group(3).length() % 2 != 0) {
      return start(0);
    }
    int index = Integer.parseInt(form.group(1));
    return index >= indexes
        ? start(0)
        : new IndexCursor(
            index, Long.parseLong(form.group(2)), HexFormat.of().parseHex(form.group(3)));
  }

  String text() {
    return index + "." + score + "." + HexFormat.of().formatHex(name);
  }
}
