package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;

/**
 * One request on its way to its response, as the server edge drives it.
 *
 * <p>Threading: called on the event loop of the exchange only. Failure: no method throws.
 */
public interface Exchange {

  /** A piece of the request body; taken over. */
  void body(Chunk chunk);

  /** The request is complete. Its trailers are not passed on. */
  void bodyEnd();

  /** Everything that could be read for now has been delivered. */
  default void flush() {}

  /**
   * The client can't be answered any more: reset, or closed before its request was whole. A
   * half-close after a whole request is not this.
   */
  void clientGone();

  /**
   * The rest of the request can't be read, or does not come in time. Ends the exchange as {@link
   * #clientGone} does; the client is there, and hears of it from the edge.
   *
   * @param status what the client is told; 0 where a response had begun that is cut off
   */
  default void requestBroken(int status) {
    clientGone();
  }

  /** The client takes more of the response again. */
  default void clientWritable() {}

  /**
   * Whether nothing of it goes on any more. One with a key outlives its client: it is over when the
   * upstream has answered and the record is written.
   */
  boolean isOver();

  /** An exchange that is answered already: what still comes is dropped. */
  Exchange ANSWERED =
      new Exchange() {
        @Override
        public void body(Chunk chunk) {
          chunk.release();
        }

        @Override
        public void bodyEnd() {}

        @Override
        public void clientGone() {}

        @Override
        public boolean isOver() {
          return true;
        }
      };
}
