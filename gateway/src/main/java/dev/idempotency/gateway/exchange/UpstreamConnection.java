package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;

/**
 * A connection to an upstream that carries one exchange at a time. After the exchange the edge puts
 * it back or closes it; the caller only lets go.
 *
 * <h2>Threading</h2>
 *
 * <p>Event loop of the exchange only.
 *
 * <h2>Failure</h2>
 *
 * <p>No method throws. {@link #send} and {@link #begin} say false if the connection died while it
 * waited: then surely nothing was sent and the connection is gone. After true, every failure comes
 * through the receiver, and bytes may have left.
 */
public interface UpstreamConnection {

  /**
   * Sends a whole request, at once.
   *
   * @param head without framing fields; these are made here
   * @param body not to be modified until the exchange ends
   */
  boolean send(RequestHead head, byte[] body, ResponseReceiver receiver);

  /**
   * Begins a request whose body follows.
   *
   * @param contentLength number of bytes, or -1 for chunked; 0 for a request without content
   */
  boolean begin(RequestHead head, long contentLength, ResponseReceiver receiver);

  /**
   * Sends a request without content that asks for a WebSocket; a protocol that can't be asked so
   * sends it without the wish.
   */
  default boolean upgrade(RequestHead head, ResponseReceiver receiver) {
    return send(head, Response.NO_BODY, receiver);
  }

  /** Takes over the chunk. */
  void write(Chunk chunk);

  /** Ends the request that was begun, and sends it. */
  void end();

  /** Sends what was written. */
  void flush();

  /** Whether more can be written without piling up in memory. */
  boolean isWritable();

  /** Reads no more of the response until {@link #resumeResponse}. */
  void pauseResponse();

  /** Reads the response again. */
  void resumeResponse();

  /** Gives up: closes the connection; the receiver hears nothing more. */
  void cancel();

  /** Returns a connection that nothing was sent on. */
  void giveBack();
}
