package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.idempotency.Outcome;
import dev.idempotency.gateway.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

/**
 * A response on its way in: kept for the record as far as limit and budget allow, and passed on at
 * once where the route streams or where it turns out too large to be kept.
 */
final class Capture {

  private static final String EVENTS = "text/event-stream";

  private final ResponseHead head;
  private final long contentLength;
  private final Outcome outcome;
  private final boolean saidSo;
  private final BodyBuffer buffer;
  private final AnswerRule answers;
  private final @Nullable PieceWriter pieces;
  private boolean inPieces;
  private boolean overflown;
  private boolean begun;
  private boolean kept;

  /**
   * @param head the end-to-end head
   * @param saidSo whether the upstream named the outcome itself
   * @param answers what is added to what the client gets, and not to the copy
   * @param pieces takes what is too much for the buffer; null where that is not kept
   */
  Capture(
      ResponseHead head,
      long contentLength,
      Outcome outcome,
      boolean saidSo,
      BodyBuffer buffer,
      AnswerRule answers,
      @Nullable PieceWriter pieces) {
    this.head = head;
    this.contentLength = contentLength;
    this.outcome = outcome;
    this.saidSo = saidSo;
    this.buffer = buffer;
    this.answers = answers;
    this.pieces = pieces;
  }

  ResponseHead head() {
    return head;
  }

  Outcome outcome() {
    return outcome;
  }

  boolean saidSo() {
    return saidSo;
  }

  /** Whether the client has got the head already. */
  boolean isBegun() {
    return begun;
  }

  /** From now on the client gets the response as it comes. */
  void begin(Delivery to) {
    if (begun || to.isGone()) {
      return;
    }
    begun = true;
    // The edge adds framing to what it is given; the record gets none of that.
    ResponseHead shown = new ResponseHead(head.status(), head.headers().copy());
    answers.expose(shown.headers());
    to.begin(shown, contentLength, buffer.toByteArray(), buffer.share());
  }

  /** Whether it is a stream of server-sent events, which nobody wants to get at its end. */
  boolean isEventStream() {
    String type = head.headers().get("Content-Type");
    return type != null && type.regionMatches(true, 0, EVENTS, 0, EVENTS.length());
  }

  /** Keeps no more of it, and not what came before. */
  void giveUp() {
    overflown = true;
    buffer.release();
    if (pieces != null) {
      pieces.fail();
    }
  }

  /** Takes the chunk over. */
  void take(Chunk chunk, Delivery to) {
    if (pieces != null && inPieces) {
      pieces.add(chunk);
    } else if (!overflown) {
      gather(chunk, to);
    }
    if (begun) {
      to.write(chunk);
    } else {
      chunk.release();
    }
  }

  private void gather(Chunk chunk, Delivery to) {
    BodyBuffer.Addition came = buffer.add(chunk);
    if (came == BodyBuffer.Addition.ADDED) {
      return;
    }
    begin(to);
    if (pieces != null && came == BodyBuffer.Addition.OVER_LIMIT) {
      inPieces = true;
      pieces.first(buffer.toByteArray(), buffer.share());
      buffer.release();
      pieces.add(chunk);
    } else {
      // At once: what is not kept takes no memory.
      giveUp();
    }
  }

  /** Whether the upstream should wait until some of it is stored. */
  boolean isFull() {
    return pieces != null && pieces.isFull();
  }

  /**
   * The response has ended.
   *
   * @param then runs when all but its record is stored
   */
  void end(Runnable then) {
    if (pieces != null && inPieces) {
      pieces.end(then);
    } else {
      then.run();
    }
  }

  /** What to store, or null where it was too much, or is nothing that is stored. */
  @Nullable StoredResponse stored(Headers trailers, CopyRule rule) {
    return overflown || outcome != Outcome.COMPLETED || (pieces != null && pieces.isFailed())
        ? null
        : ResponseFields.stored(head, buffer.toByteArray(), trailers, rule);
  }

  /** The copy as the record takes it; null where not all of it is there. */
  @Nullable StoredResponse packed(StoredResponse stored) {
    return pieces != null && inPieces ? pieces.packed(stored) : stored;
  }

  /** What the client gets; the copy has been made before. */
  Response response(Headers trailers) {
    answers.expose(head.headers());
    return new Response(head, buffer.toByteArray(), trailers);
  }

  /**
   * One more holder of the bytes, which are {@link #response}'s body; null where there are none.
   */
  @Nullable Charge share() {
    return buffer.share();
  }

  /** The bytes are still needed after the exchange. */
  void keepMemory() {
    kept = true;
  }

  void releaseUnlessKept() {
    if (pieces != null) {
      pieces.leave();
    }
    if (!kept) {
      buffer.release();
    }
  }

  void releaseMemory() {
    buffer.release();
  }
}
