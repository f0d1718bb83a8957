package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.WriteReply;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads what the scripts reply: one letter, or a record, before which stand {@code L} and 8 bytes
 * with the lease's rest where the record is a reservation.
 */
final class Replies {

  private static final int LEASE = 9;

  private Replies() {}

  static ReserveReply reserve(byte @Nullable [] reply) {
    return switch (letter(reply)) {
      case 'A' -> ReserveReply.ACQUIRED;
      case 'G' -> ReserveReply.GONE;
      default -> new ReserveReply.Existing(operation(reply));
    };
  }

  static WriteReply write(byte @Nullable [] reply) {
    return letter(reply) == 'D' ? WriteReply.DONE : new WriteReply.Fenced(operation(reply));
  }

  /** Whether Redis says that it has written what it was told. */
  static boolean isWritten(byte @Nullable [] reply) {
    char letter = letter(reply);
    return letter == 'A' || letter == 'D';
  }

  static ResolveReply resolve(byte @Nullable [] reply) {
    return switch (letter(reply)) {
      case 'D' -> ResolveReply.DONE;
      case 'G' -> ResolveReply.GONE;
      default -> new ResolveReply.Refused(operation(reply));
    };
  }

  static Optional<StoredOperation> find(byte @Nullable [] reply) {
    return letter(reply) == 'G' ? Optional.empty() : Optional.of(operation(reply));
  }

  private static boolean isReservation(byte[] reply) {
    return reply[0] == 'L' && reply.length > LEASE;
  }

  private static char letter(byte @Nullable [] reply) {
    return reply != null && reply.length == 1 ? (char) reply[0] : 0;
  }

  private static StoredOperation operation(byte @Nullable [] reply) {
    if (reply == null || reply.length == 0) {
      throw new StoreUnavailableException("Redis replied nothing to a script");
    }
    if (isReservation(reply)) {
      return RecordFormat.read(reply, LEASE, ByteBuffer.wrap(reply).getLong(1));
    }
    return RecordFormat.read(reply, 0, 0);
  }
}
