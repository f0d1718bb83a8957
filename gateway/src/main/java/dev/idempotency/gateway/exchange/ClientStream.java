package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.http.Tunnel;
import org.jspecify.annotations.Nullable;

/**
 * The client's side of one exchange: where its request body is asked for and where its response
 * goes. The server edge makes the framing of the client's protocol version.
 *
 * <h2>Threading</h2>
 *
 * <p>Called on the event loop of the exchange only.
 *
 * <h2>Failure</h2>
 *
 * <p>No method throws. A client that is gone swallows and releases what it is given.
 */
public interface ClientStream {

  /** Asks for the request body; none is delivered before ({@code Expect: 100-continue}). */
  void wantBody();

  /** Delivers no more of the request body until {@link #resumeBody}. */
  void pauseBody();

  /** Delivers the request body again. */
  void resumeBody();

  /** Passes an interim response on (RFC 9110 §15.2). */
  void informational(ResponseHead head);

  /** Answers with a whole response. */
  void respond(Response response);

  /**
   * Begins a response whose body follows.
   *
   * @param contentLength number of bytes, or -1 where it is not known
   */
  void begin(ResponseHead head, long contentLength);

  /** Takes over the chunk. */
  void write(Chunk chunk);

  /** Ends the response that was begun. */
  void end(Headers trailers);

  /** Sends what was written; called when there is nothing more to write at the moment. */
  void flush();

  /**
   * Takes back a response that was begun and of which nothing is out yet, so that another can be
   * given. False where it is too late.
   */
  boolean takeBack();

  /**
   * Answers 101 to a request that asked for another protocol, and makes a tunnel of the connection
   * (RFC 9110 §7.8); the exchange hears nothing more of the client then. Null where that can't be:
   * the client sent more than it may before the answer. Nothing is written then.
   */
  default @Nullable Tunnel upgrade(ResponseHead head) {
    return null;
  }

  /** Cuts the connection, so that the client sees that its response is incomplete. */
  void abort();

  /** Whether more can be written without piling up in memory. */
  boolean isWritable();

  /** The client that is gone: swallows everything. */
  ClientStream GONE =
      new ClientStream() {
        @Override
        public void wantBody() {}

        @Override
        public void pauseBody() {}

        @Override
        public void resumeBody() {}

        @Override
        public void informational(ResponseHead head) {}

        @Override
        public void respond(Response response) {}

        @Override
        public void begin(ResponseHead head, long contentLength) {}

        @Override
        public void write(Chunk chunk) {
          chunk.release();
        }

        @Override
        public void end(Headers trailers) {}

        @Override
        public void flush() {}

        @Override
        public boolean takeBack() {
          return true;
        }

        @Override
        public void abort() {}

        @Override
        public boolean isWritable() {
          return true;
        }
      };
}
