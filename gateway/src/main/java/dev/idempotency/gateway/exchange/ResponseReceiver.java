package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.http.Tunnel;

/**
 * Hears what comes back from an upstream, in this order: interim responses, head, chunks, end; or,
 * at any point, a failure. After the end or a failure nothing more comes.
 *
 * <p>Threading: event loop of the exchange. Failure: no method may throw.
 */
public interface ResponseReceiver {

  /** An interim response other than 101 (RFC 9110 §15.2). */
  void informational(ResponseHead head);

  /**
   * The upstream answered 101 to a request that asked for another protocol: what it grants is to be
   * looked at. The connection is a tunnel now, and nothing more is heard here.
   */
  default void upgraded(ResponseHead head, Tunnel tunnel) {
    tunnel.close();
  }

  /**
   * The final response begins.
   *
   * @param head with all its fields
   * @param contentLength number of bytes to come, or -1 where it is not known
   */
  void head(ResponseHead head, long contentLength);

  /** A piece of the body; taken over. */
  void chunk(Chunk chunk);

  /** The response is complete by its own framing. */
  void end(Headers trailers);

  /** Everything that could be read for now has been delivered. */
  void flush();

  /** More of the request body can be written. */
  void writable();

  /**
   * Nothing came for the upstream's response time-out. The connection stays open and may still
   * answer; whoever does not want to wait cancels it.
   */
  void overdue();

  /** The response will not come, or not whole. Request bytes may have left. */
  void failed(Failure failure);

  /** Why a response did not come whole. */
  enum Failure {
    /** The connection was closed or reset. */
    CLOSED("the upstream closed the connection before its response was complete"),
    /** It said so itself, in place of a response; no such word counts after a response began. */
    NOT_PROCESSED("the upstream said that it has not processed the request"),
    /** What came is not HTTP. */
    MALFORMED("the upstream's response is not valid HTTP"),
    /** Nothing came in time, however long it was waited. */
    TIMEOUT("the upstream did not answer in time");

    private final String text;

    Failure(String text) {
      this.text = text;
    }

    /** For the client and the log. */
    public String text() {
      return text;
    }
  }
}
