package dev.idempotency.gateway.idempotency;

import dev.idempotency.gateway.http.FieldBytes;
import dev.idempotency.gateway.http.Headers;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A response that is too large for one value: its record has everything but the body, which lies in
 * {@link ResponsePieces}.
 *
 * <p>A record takes it {@link #packed}, as a response that nobody may be shown as it is ({@link
 * StoredResponse#SEALED}). So stores and envelopes need not know of it, and a gateway older than
 * this says that the response was not kept, instead of replaying one without a body.
 *
 * @param head status and fields; its body is empty
 * @param writer the attempt that wrote the pieces
 * @param count how many pieces there are, 1 or more
 * @param length of the whole body in bytes
 */
public record PiecedResponse(StoredResponse head, AttemptToken writer, int count, long length) {

  /** Begins the body of a packed one; an envelope begins with another byte. */
  private static final byte MARK = 'P';

  private static final int FIXED = 1 + AttemptToken.LENGTH + 4 + 8;

  public PiecedResponse {
    if (count < 1 || length < count) {
      throw new IllegalArgumentException(
          count + " pieces of " + length + " bytes in all, expected: 1 or more of 1 or more each");
    }
  }

  /** As a record takes it. */
  public StoredResponse packed() {
    Headers headers = head.headers();
    Headers trailers = head.trailers();
    ByteBuffer to =
        ByteBuffer.allocate(FIXED + FieldBytes.size(headers) + FieldBytes.size(trailers));
    to.put(MARK).put(writer.toByteArray()).putInt(count).putLong(length);
    FieldBytes.write(headers, to);
    FieldBytes.write(trailers, to);
    return new StoredResponse(
        head.status(), Headers.of(StoredResponse.SEALED, "pieces"), to.array(), new Headers());
  }

  /** Reads what {@link #packed} made; null where it is anything else. */
  public static @Nullable PiecedResponse of(StoredResponse stored) {
    byte[] packed = stored.body();
    if (!stored.isSealed() || packed.length < FIXED || packed[0] != MARK) {
      return null;
    }
    ByteBuffer from = ByteBuffer.wrap(packed).position(1);
    byte[] token = new byte[AttemptToken.LENGTH];
    from.get(token);
    try {
      int count = from.getInt();
      long length = from.getLong();
      Headers headers = FieldBytes.read(from);
      StoredResponse head =
          new StoredResponse(stored.status(), headers, new byte[0], FieldBytes.read(from));
      return from.hasRemaining()
          ? null
          : new PiecedResponse(head, AttemptToken.of(token), count, length);
    } catch (BufferUnderflowException | IllegalArgumentException e) {
      return null;
    }
  }
}
