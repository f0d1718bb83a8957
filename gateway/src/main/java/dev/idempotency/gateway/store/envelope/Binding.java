package dev.idempotency.gateway.store.envelope;

import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.StoredOperation;
import java.nio.ByteBuffer;

/**
 * The record that an envelope belongs to. An envelope in any other is refused: one that was copied
 * to another operation, attempt, status or fingerprint would be a stored answer shown to the wrong
 * caller.
 */
record Binding(OperationId id, long attempt, Fingerprint fingerprint, int status) implements Bound {

  private static final int LENGTH = OperationId.LENGTH + 8 + 1 + Fingerprint.LENGTH + 2;

  static Binding of(Reservation reservation, int status) {
    return new Binding(reservation.id(), reservation.attempt(), reservation.fingerprint(), status);
  }

  static Binding of(OperationId id, StoredOperation operation, int status) {
    return new Binding(id, operation.attempt(), operation.fingerprint(), status);
  }

  @Override
  public byte[] behind(byte[] envelope, int head) {
    return ByteBuffer.allocate(head + LENGTH)
        .put(envelope, 0, head)
        .put(id.toByteArray())
        .putLong(attempt)
        .put((byte) fingerprint.version())
        .put(fingerprint.hash())
        .putShort((short) status)
        .array();
  }
}
