package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.PiecedResponse;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import java.util.function.Consumer;

/**
 * A replay whose body lies in pieces: the next is read when the client has taken the one before, so
 * that never more than one of them is in memory. Where one is missing the response is cut, so that
 * the client sees that it is not whole.
 *
 * <p>Threading: event loop of the exchange only.
 */
final class PieceReplay {

  private final OperationStore store;
  private final ExchangeListener listener;
  private final OperationId id;
  private final PiecedResponse response;
  private final Delivery delivery;
  private final Runnable cut;
  private int next;
  private long sent;

  /**
   * @param cut ends a response that can't go on
   */
  PieceReplay(
      Exchanges exchanges,
      OperationId id,
      PiecedResponse response,
      Delivery delivery,
      Runnable cut) {
    this.store = exchanges.store;
    this.listener = exchanges.listener;
    this.id = id;
    this.response = response;
    this.delivery = delivery;
    this.cut = cut;
  }

  /** Reads the first piece, before anything is said to the client. */
  void first(Consumer<byte[]> found, Consumer<StoreUnavailableException> failed) {
    Stages.when(store.get(id, response.writer(), 0), found, failed, listener);
  }

  /** Hands the first piece out, and then the others. */
  void begin(byte[] first) {
    next = 1;
    give(first);
  }

  /** The client has taken all that was given. */
  void goOn() {
    if (next < response.count()) {
      Stages.when(store.get(id, response.writer(), next++), this::give, missing -> cut(), listener);
    } else if (sent != response.length()) {
      cut();
    } else {
      Headers trailers = response.head().trailers();
      delivery.endFed(trailers);
    }
  }

  private void give(byte[] piece) {
    sent += piece.length;
    if (sent > response.length()) {
      cut();
    } else {
      delivery.feed(piece);
    }
  }

  private void cut() {
    if (!delivery.isGone()) {
      cut.run();
    }
  }
}
