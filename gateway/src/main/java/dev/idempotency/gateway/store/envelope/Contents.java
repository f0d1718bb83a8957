package dev.idempotency.gateway.store.envelope;

import dev.idempotency.gateway.http.FieldBytes;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * What is in an envelope: header fields and trailer fields as {@link FieldBytes}, body up to the
 * end.
 */
final class Contents {

  private Contents() {}

  /** Everything before the body. */
  static byte[] fields(StoredResponse response) {
    Headers headers = response.headers();
    Headers trailers = response.trailers();
    ByteBuffer to = ByteBuffer.allocate(FieldBytes.size(headers) + FieldBytes.size(trailers));
    FieldBytes.write(headers, to);
    FieldBytes.write(trailers, to);
    return to.array();
  }

  /**
   * The response.
   *
   * @param length of the body when it is not compressed
   * @throws UnreadableException if this is not what {@link #fields} and a body were written to
   */
  static StoredResponse read(int status, byte[] bytes, int at, boolean deflated, int length)
      throws UnreadableException {
    ByteBuffer from = ByteBuffer.wrap(bytes).position(at);
    try {
      Headers headers = FieldBytes.read(from);
      Headers trailers = FieldBytes.read(from);
      return new StoredResponse(
          status, headers, body(bytes, from.position(), deflated, length), trailers);
    } catch (BufferUnderflowException e) {
      throw new UnreadableException("it is cut off");
    }
  }

  private static byte[] body(byte[] bytes, int at, boolean deflated, int length)
      throws UnreadableException {
    if (deflated) {
      return Deflate.inflated(bytes, at, length);
    }
    if (bytes.length - at != length) {
      throw new UnreadableException("its length is wrong");
    }
    return Arrays.copyOfRange(bytes, at, bytes.length);
  }
}
