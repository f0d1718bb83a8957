package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.http.FieldBytes;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A stored response behind the fixed part of its record: CRC-32C of all that follows (4 bytes);
 * header fields and trailer fields as {@link FieldBytes}; length of the body (4 bytes); body, up to
 * the end of the value.
 */
final class ResponseFormat {

  private static final int CHECKSUM = 4;

  private ResponseFormat() {}

  /** Length in bytes. */
  static int size(StoredResponse response) {
    return Math.addExact(
        CHECKSUM + FieldBytes.size(response.headers()) + FieldBytes.size(response.trailers()) + 4,
        response.body().length);
  }

  /** Fills the rest of the record, which is as long as {@link #size} says. */
  static void write(StoredResponse response, byte[] record, int at) {
    ByteBuffer to = ByteBuffer.wrap(record).position(at + CHECKSUM);
    FieldBytes.write(response.headers(), to);
    FieldBytes.write(response.trailers(), to);
    to.putInt(response.body().length).put(response.body());
    to.putInt(at, checksum(record, at + CHECKSUM));
  }

  /** The response that fills the rest of the record, or null where that is damaged. */
  static @Nullable StoredResponse read(int status, byte[] record, int at) {
    ByteBuffer from = ByteBuffer.wrap(record).position(at);
    try {
      if (from.getInt() != checksum(record, at + CHECKSUM)) {
        return null;
      }
      Headers headers = FieldBytes.read(from);
      Headers trailers = FieldBytes.read(from);
      byte[] body = bytes(from, from.getInt());
      return from.hasRemaining() ? null : new StoredResponse(status, headers, body, trailers);
    } catch (BufferUnderflowException e) {
      return null;
    }
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
