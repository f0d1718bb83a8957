package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** The value of a piece of a response: CRC-32C of its bytes (4 bytes), its bytes. */
final class PieceFormat {

  private static final int CHECKSUM = 4;

  private PieceFormat() {}

  static byte[] write(byte[] bytes) {
    return ByteBuffer.allocate(CHECKSUM + bytes.length)
        .putInt(checksum(bytes, 0))
        .put(bytes)
        .array();
  }

  /**
   * The bytes.
   *
   * @throws StoreUnavailableException if there is none, or it is damaged
   */
  static byte[] read(byte @Nullable [] value) {
    if (value == null) {
      throw StoreUnavailableException.unreadable("a piece of the response is not there");
    }
    if (value.length < CHECKSUM || ByteBuffer.wrap(value).getInt() != checksum(value, CHECKSUM)) {
      throw StoreUnavailableException.unreadable("a piece of the response is damaged");
    }
    return Arrays.copyOfRange(value, CHECKSUM, value.length);
  }

  private static int checksum(byte[] bytes, int from) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, from, bytes.length - from);
    return (int) crc.getValue();
  }
}
