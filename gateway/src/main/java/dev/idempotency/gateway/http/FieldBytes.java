package dev.idempotency.gateway.http;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Fields as bytes, for records: their number, then for each the length of its name, the name, the
 * length of its value, the value; numbers of 4 bytes, big-endian, text in ISO 8859-1, in order,
 * spelled as it came. Records are made of it that outlive this program, so it never changes.
 */
public final class FieldBytes {

  private FieldBytes() {}

  /** How many bytes {@link #write} takes. */
  public static int size(Headers fields) {
    int size = 4;
    for (int i = 0; i < fields.size(); i++) {
      size += 4 + fields.name(i).length() + 4 + fields.value(i).length();
    }
    return size;
  }

  public static void write(Headers fields, ByteBuffer to) {
    to.putInt(fields.size());
    for (int i = 0; i < fields.size(); i++) {
      write(fields.name(i), to);
      write(fields.value(i), to);
    }
  }

  private static void write(String text, ByteBuffer to) {
    byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
    to.putInt(bytes.length).put(bytes);
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @throws BufferUnderflowException if it is cut off or a length makes no sense
   */
  public static Headers read(ByteBuffer from) {
    int count = from.getInt();
    Headers fields = new Headers();
    for (int i = 0; i < count; i++) {
      String name = text(from);
      fields.add(name, text(from));
    }
    return fields;
  }

  private static String text(ByteBuffer from) {
    int length = from.getInt();
    if (length < 0 || length > from.remaining()) {
      throw new BufferUnderflowException();
    }
    byte[] bytes = new byte[length];
    from.get(bytes);
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }
}
