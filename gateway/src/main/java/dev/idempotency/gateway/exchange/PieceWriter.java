package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.idempotency.PiecedResponse;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ResponsePieces;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes a response that is too large for one value to the store while it comes, piece by piece. At
 * most {@link #MOST_UNDER_WAY} pieces are on their way to the store and one is being filled; what
 * they take is charged. Where a piece can't be written, or no memory is left, the response is not
 * kept.
 *
 * <p>Threading: event loop of the exchange only.
 */
final class PieceWriter {

  private static final int MOST_UNDER_WAY = 2;

  private final Exchanges exchanges;
  private final Supplier<Reservation> owner;
  private final Runnable roomAgain;
  private final long limit;

  private byte[] filling = Response.NO_BODY;
  private int filled;
  private @Nullable Charge charge;
  private int count;
  private int underWay;
  private long length;
  private boolean failed;
  private boolean named;
  private @Nullable Runnable whole;

  /**
   * @param owner whose response it is
   * @param limit most bytes of the whole
   * @param roomAgain runs when more can be taken, after {@link #isFull} was true
   */
  PieceWriter(Exchanges exchanges, Supplier<Reservation> owner, long limit, Runnable roomAgain) {
    this.exchanges = exchanges;
    this.owner = owner;
    this.limit = limit;
    this.roomAgain = roomAgain;
  }

  /** Whether the upstream should wait until pieces are written. */
  boolean isFull() {
    return underWay >= MOST_UNDER_WAY;
  }

  boolean isFailed() {
    return failed;
  }

  /**
   * Takes what was gathered before as the first piece.
   *
   * @param held the charge for it, taken over
   */
  void first(byte[] gathered, @Nullable Charge held) {
    length = gathered.length;
    if (gathered.length == 0) {
      release(held);
    } else {
      put(gathered, held);
    }
  }

  /** Adds a copy; the chunk stays the caller's. */
  void add(Chunk chunk) {
    if (failed) {
      return;
    }
    int more = chunk.length();
    length += more;
    if (length > limit) {
      fail();
      return;
    }
    if (filled + more > filling.length) {
      putFilled();
      if (!makeRoom(Math.max(more, ResponsePieces.SIZE))) {
        fail();
        return;
      }
    }
    chunk.copyTo(filling, filled);
    filled += more;
  }

  private boolean makeRoom(int size) {
    charge = Charge.of(exchanges.budget, size);
    if (charge == null || failed) {
      return false;
    }
    filling = new byte[size];
    return true;
  }

  private void putFilled() {
    byte[] piece = filled == filling.length ? filling : Arrays.copyOf(filling, filled);
    Charge held = charge;
    filling = Response.NO_BODY;
    filled = 0;
    charge = null;
    if (piece.length > 0 && !failed) {
      put(piece, held);
    } else {
      release(held);
    }
  }

  private void put(byte[] piece, @Nullable Charge held) {
    underWay++;
    int index = count++;
    Stages.when(
        exchanges.store.put(owner.get(), index, piece),
        done -> written(held),
        unavailable -> {
          fail();
          written(held);
        },
        exchanges.listener);
  }

  private void written(@Nullable Charge held) {
    release(held);
    boolean wasFull = isFull();
    underWay--;
    if (underWay == 0) {
      if (failed) {
        drop();
      }
      tellIfWhole();
    }
    if (wasFull) {
      roomAgain.run();
    }
  }

  private void tellIfWhole() {
    Runnable then = whole;
    if (then != null && (underWay == 0 || failed)) {
      whole = null;
      then.run();
    }
  }

  /**
   * The response has ended.
   *
   * @param then runs when all pieces are written, or one can't be
   */
  void end(Runnable then) {
    putFilled();
    whole = then;
    tellIfWhole();
  }

  /** What the record says; null where the pieces are not all there. */
  @Nullable StoredResponse packed(StoredResponse head) {
    if (failed) {
      return null;
    }
    named = true;
    return new PiecedResponse(head, owner.get().token(), count, length).packed();
  }

  /** Keeps nothing of it. */
  void fail() {
    if (!failed) {
      failed = true;
      forgetFilling();
      if (underWay == 0) {
        drop();
      }
      tellIfWhole();
    }
  }

  /** Nothing more comes: what no record names is removed. May be called again. */
  void leave() {
    if (!named) {
      fail();
    }
  }

  private void forgetFilling() {
    filling = Response.NO_BODY;
    filled = 0;
    release(charge);
    charge = null;
  }

  private void drop() {
    if (count > 0) {
      int written = count;
      count = 0;
      Stages.when(
          exchanges.store.drop(owner.get(), written),
          done -> {},
          unavailable -> {},
          exchanges.listener);
    }
  }

  private static void release(@Nullable Charge held) {
    if (held != null) {
      held.release();
    }
  }
}
