package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.HttpDate;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.idempotency.Outcome;
import dev.idempotency.gateway.idempotency.OutcomePolicy;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ResponsePieces;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The response of one attempt on its way in: captured for the record, and passed on to the client
 * where the client still waits for it and the route streams, or it is too large to be kept.
 */
final class Incoming {

  private final Exchanges exchanges;
  private final Route route;
  private final KeyedExchange keyed;
  private final Supplier<Reservation> owner;
  private final Runnable roomAgain;
  private @Nullable Capture capture;
  private List<String> nominated = List.of();

  /**
   * @param owner the attempt's reservation
   * @param roomAgain runs when the store takes more of the response
   */
  Incoming(
      Exchanges exchanges,
      Route route,
      KeyedExchange keyed,
      Supplier<Reservation> owner,
      Runnable roomAgain) {
    this.exchanges = exchanges;
    this.route = route;
    this.keyed = keyed;
    this.owner = owner;
    this.roomAgain = roomAgain;
  }

  /** The response as far as it is there; null before its head. */
  @Nullable Capture capture() {
    return capture;
  }

  /** Whether the client has got the head of the response already. */
  boolean isAnswering() {
    return capture != null && capture.isBegun();
  }

  /** The final response begins. */
  void head(ResponseHead head, long contentLength, boolean wanted) {
    Outcome outcome = route.outcomes().of(head);
    boolean saidSo = OutcomePolicy.said(head) != null;
    nominated = ResponseFields.nominated(head);
    ResponseHead shown = ResponseFields.endToEnd(head);
    keyed.course.mark(shown.headers());
    Capture begun =
        new Capture(
            dated(shown),
            contentLength,
            outcome,
            saidSo,
            BodyBuffer.of(gathered(), contentLength, exchanges.budget),
            route.answers(),
            outcome == Outcome.COMPLETED ? pieces(contentLength) : null);
    capture = begun;
    if (wanted && contentLength > route.responseLimit()) {
      begun.begin(keyed.delivery());
    }
  }

  /** What is put into one value; who redacts needs the whole body. */
  private long gathered() {
    return route.copy().redactor() == null
        ? Math.min(route.responseLimit(), ResponsePieces.SIZE)
        : route.responseLimit();
  }

  private @Nullable PieceWriter pieces(long contentLength) {
    long limit = route.responseLimit();
    return gathered() < limit && contentLength <= limit
        ? new PieceWriter(exchanges, owner, limit, roomAgain)
        : null;
  }

  /** Whether the store takes more of the response. */
  boolean isWritable() {
    return capture == null || !capture.isFull();
  }

  /** A replay says when the response was made, so that its age can be told (RFC 9110 §6.6.1). */
  private ResponseHead dated(ResponseHead head) {
    if (!head.headers().contains("Date")) {
      head.headers().add("Date", HttpDate.now(exchanges.scheduler.currentTimeMillis()));
    }
    return head;
  }

  /** What of the trailers goes on. */
  Headers trailers(Headers received) {
    return ResponseFields.trailers(received, nominated);
  }

  /**
   * Takes the chunk over.
   *
   * @return false where the client or the store takes no more for now
   */
  boolean chunk(Chunk chunk, boolean wanted) {
    Capture current = capture;
    if (current == null) {
      chunk.release();
      return true;
    }
    Delivery to = wanted ? keyed.delivery() : Delivery.GONE;
    current.take(chunk, to);
    return !current.isFull() && (!current.isBegun() || to.isWritable());
  }

  /**
   * Where the route streams, or the response is one of server-sent events, the client's response
   * begins here and not with its head: what turns out to be broken in the same burst is answered as
   * an error of its own.
   */
  void flush(boolean wanted) {
    if (wanted && capture != null && (route.streaming() || capture.isEventStream())) {
      capture.begin(keyed.delivery());
    }
    if (isAnswering()) {
      keyed.delivery().flush();
    }
  }
}
