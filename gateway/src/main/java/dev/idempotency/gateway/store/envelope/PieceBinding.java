package dev.idempotency.gateway.store.envelope;

import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.OperationId;
import java.nio.ByteBuffer;

/** The place of a piece of a response; in any other it is refused. */
record PieceBinding(OperationId id, AttemptToken token, int index) implements Bound {

  private static final int LENGTH = OperationId.LENGTH + AttemptToken.LENGTH + 4;

  @Override
  public byte[] behind(byte[] envelope, int head) {
    return ByteBuffer.allocate(head + LENGTH)
        .put(envelope, 0, head)
        .put(id.toByteArray())
        .put(token.toByteArray())
        .putInt(index)
        .array();
  }
}
