package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A stored response behind the fixed part of its record: CRC-32C of all that follows (4 bytes);
 * header fields; trailer fields; length of the body (4 bytes); body, up to the end of the value.
 *
 * <p>Fields are: their number, then for each the length of its name, the name, the length of its
 * value, the value; numbers of 4 bytes, text in ISO 8859-1, in order, spelled as it came.
 */
final class ResponseFormat {

  private static final int CHECKSUM = 4;

  private ResponseFormat() {}

  /** Length in bytes. */
  static int size(StoredResponse response) {
    return Math.addExact(
        CHECKSUM + size(response.headers()) + size(response.trailers()) + 4,
        response.body().length);
  }

  private static int size(Headers fields) {
    int size = 4;
    for (int i = 0; i < fields.size(); i++) {
      size += 4 + fields.name(i).length() + 4 + fields.value(i).length();
    }
    return size;
  }

  /** Fills the rest of the record, which is as long as {@link #size} says. */
  static void write(StoredResponse response, byte[] record, int at) {
    ByteBuffer to = ByteBuffer.wrap(record).position(at + CHECKSUM);
    write(response.headers(), to);
    write(response.trailers(), to);
    to.putInt(response.body().length).put(response.body());
    to.putInt(at, checksum(record, at + CHECKSUM));
  }

  private static void write(Headers fields, ByteBuffer to) {
    to.putInt(fields.size());
    for (int i = 0; i < fields.size(); i++) {
      byte[] name = fields.name(i).getBytes(StandardCharsets.ISO_8859_1);
      byte[] value = fields.value(i).getBytes(StandardCharsets.ISO_8859_1);
      to.putInt(name.length).put(name).putInt(value.length).put(value);
    }
  }

  /** The response that fills the rest of the record, or null where that is damaged. */
  static @Nullable StoredResponse read(int status, byte[] record, int at) {
    ByteBuffer from = ByteBuffer.wrap(record).position(at);
    try {
      if (from.getInt() != checksum(record, at + CHECKSUM)) {
        return null;
      }
      Headers headers = fields(from);
      Headers trailers = fields(from);
      byte[] body = bytes(from, from.getInt());
      return from.hasRemaining() ? null : new StoredResponse(status, headers, body, trailers);
    } catch (BufferUnderflowException e) {
      return null;
    }
  }

  private static Headers fields(ByteBuffer from) {
    int count = from.getInt();
    Headers fields = new Headers();
    for (int i = 0; i < count; i++) {
      String name = text(from, from.getInt());
      fields.add(name, text(from, from.getInt()));
    }
    return fields;
  }

  private static String text(ByteBuffer from, int length) {
    return new String(bytes(from, length), StandardCharsets.ISO_8859_1);
  }

  private static byte[] bytes(ByteBuffer from, int length) {
    if (length < 0 || length > from.remaining()) {
      throw new BufferUnderflowException();
    }
    byte[] bytes = new byte[length];
    from.get(bytes);
    return bytes;
  }

  private static int checksum(byte[] record, int start) {
    CRC32C crc = new CRC32C();
    crc.update(record, start, record.length - start);
    return (int) crc.getValue();
  }
}
