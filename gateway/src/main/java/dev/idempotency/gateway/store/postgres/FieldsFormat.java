package dev.idempotency.gateway.store.postgres;

import dev.idempotency.gateway.http.Headers;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a stored response in column {@code fields}: format (1 byte: 1), header fields,
 * trailer fields. Each part is the number of its fields, then for each the length of its name, the
 * name, the length of its value, the value; numbers of 4 bytes, text in ISO 8859-1, in order,
 * spelled as it came.
 */
final class FieldsFormat {

  private static final byte FORMAT = 1;

  private FieldsFormat() {}

  /** Both parts of a response. */
  record Fields(Headers headers, Headers trailers) {}

  static byte[] write(Headers headers, Headers trailers) {
    ByteBuffer to = ByteBuffer.allocate(1 + size(headers) + size(trailers)).put(FORMAT);
    write(headers, to);
    write(trailers, to);
    return to.array();
  }

  private static int size(Headers fields) {
    int size = 4;
    for (int i = 0; i < fields.size(); i++) {
      size += 4 + fields.name(i).length() + 4 + fields.value(i).length();
    }
    return size;
  }

  private static void write(Headers fields, ByteBuffer to) {
    to.putInt(fields.size());
    for (int i = 0; i < fields.size(); i++) {
      byte[] name = fields.name(i).getBytes(StandardCharsets.ISO_8859_1);
      byte[] value = fields.value(i).getBytes(StandardCharsets.ISO_8859_1);
      to.putInt(name.length).put(name).putInt(value.length).put(value);
    }
  }

  /** Null where that is nothing that this version knows. */
  static @Nullable Fields read(byte @Nullable [] column) {
    if (column == null || column.length == 0 || column[0] != FORMAT) {
      return null;
    }
    ByteBuffer from = ByteBuffer.wrap(column).position(1);
    try {
      Fields fields = new Fields(fields(from), fields(from));
      return from.hasRemaining() ? null : fields;
    } catch (BufferUnderflowException e) {
      return null;
    }
  }

  private static Headers fields(ByteBuffer from) {
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
