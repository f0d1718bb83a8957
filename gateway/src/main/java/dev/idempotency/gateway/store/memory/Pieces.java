package dev.idempotency.gateway.store.memory;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ResponsePieces;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The pieces of responses, which weigh as much as the records do.
 *
 * <p>Threading: safe from any thread.
 */
final class Pieces {

  private static final long EACH = 256;

  private record Name(OperationId id, AttemptToken token, int index) {}

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Piece(byte[] bytes, Duration life) {
    long weight() {
      return EACH + bytes.length;
    }
  }

  private final Cache<Name, Piece> pieces;
  private final AtomicLong weight;

  /**
   * @param weight what all records and pieces weigh
   */
  Pieces(LongSupplier nanoClock, AtomicLong weight) {
    this.weight = weight;
    this.pieces =
        Caffeine.newBuilder()
            .ticker(nanoClock::getAsLong)
            .executor(Runnable::run)
            .expireAfter(Expiry.writing((Name name, Piece piece) -> piece.life()))
            .evictionListener((name, piece, cause) -> weighed(piece, null))
            .build();
  }

  /** False where it does not fit. */
  boolean put(Reservation owner, int index, byte[] bytes, long most) {
    Piece piece =
        new Piece(bytes, owner.lease().plus(owner.retention()).plus(ResponsePieces.MARGIN));
    if (weight.get() + piece.weight() > most) {
      pieces.cleanUp();
      if (weight.get() + piece.weight() > most) {
        return false;
      }
    }
    Name name = new Name(owner.id(), owner.token(), index);
    weighed(pieces.asMap().put(name, piece), piece);
    return true;
  }

  byte @Nullable [] get(OperationId id, AttemptToken token, int index) {
    Piece piece = pieces.getIfPresent(new Name(id, token, index));
    return piece == null ? null : piece.bytes();
  }

  void drop(Reservation owner, int count) {
    for (int i = 0; i < count; i++) {
      weighed(pieces.asMap().remove(new Name(owner.id(), owner.token(), i)), null);
    }
  }

  private void weighed(@Nullable Piece former, @Nullable Piece next) {
    weight.addAndGet((next == null ? 0 : next.weight()) - (former == null ? 0 : former.weight()));
  }
}
