package dev.idempotency.gateway.idempotency;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * What the record of an operation that is not finished says of its origin, for those who find out
 * what became of it.
 *
 * @param route the route's name; empty where nobody knows
 * @param trace the trace id of the request; empty without one
 * @param key the client's key, only where the route asks its upstream by it; else empty
 * @param target the request's path, only where the route asks its upstream by it; else empty
 */
public record Note(String route, String trace, String key, String target) {

  public static final Note NONE = new Note("", "", "", "");

  /** Longest encoded form, in bytes. */
  public static final int LONGEST = 4096;

  private static final byte FORMAT = 1;
  private static final int PARTS = 4;

  public static Note of(String route) {
    return new Note(route, "", "", "");
  }

  /**
   * The bytes for a record: empty for {@link #NONE}. What is too long as a whole goes without
   * target and key, by which then nobody can ask.
   */
  public byte[] toByteArray() {
    if (equals(NONE)) {
      return new byte[0];
    }
    byte[] whole = encoded(route, trace, key, target);
    return whole.length <= LONGEST ? whole : encoded(route, trace, "", "");
  }

  private static byte[] encoded(String... parts) {
    List<byte[]> texts = new ArrayList<>(PARTS);
    int size = 1;
    for (String part : parts) {
      byte[] text = part.getBytes(StandardCharsets.UTF_8);
      texts.add(text);
      size += 2 + text.length;
    }
    ByteBuffer to = ByteBuffer.allocate(size).put(FORMAT);
    for (byte[] text : texts) {
      to.putShort((short) text.length).put(text);
    }
    return to.array();
  }

  /** Reads what {@link #toByteArray} made; {@link #NONE} where that is nothing that is known. */
  public static Note read(ByteBuffer from) {
    if (!from.hasRemaining() || from.get() != FORMAT) {
      return NONE;
    }
    String[] parts = new String[PARTS];
    for (int i = 0; i < PARTS; i++) {
      int length = from.remaining() < 2 ? -1 : from.getShort() & 0xffff;
      if (length < 0 || length > from.remaining()) {
        return NONE;
      }
      byte[] text = new byte[length];
      from.get(text);
      parts[i] = new String(text, StandardCharsets.UTF_8);
    }
    return new Note(parts[0], parts[1], parts[2], parts[3]);
  }

  /** Without key and target, which are the client's. */
  @Override
  public String toString() {
    return "Note[" + route + ", " + trace + "]";
  }
}
