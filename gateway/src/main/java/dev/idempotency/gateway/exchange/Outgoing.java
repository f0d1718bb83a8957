package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.RequestHead;

/**
 * The body of an attempt's request, on its way to the upstream.
 *
 * <p>Threading: event loop of the exchange only.
 */
interface Outgoing {

  /**
   * Sends the request, or begins to.
   *
   * @return false where the connection had died and surely nothing was sent; it may be tried again
   */
  boolean send(UpstreamConnection connection, RequestHead head, ResponseReceiver receiver);

  /** The connection takes more. */
  void writable();

  /** Whether the client's request has been seen to its end. */
  boolean isWhole();

  /** Sends what is held back, so that the upstream has the whole request. */
  void finish();

  /** Nothing more goes to the connection; what still comes from the client is only hashed. */
  void cut();

  /** Whether the rest of the body is so short that it is worth being waited for. */
  boolean isNearlyWhole();
}
