package dev.idempotency.gateway.upstream;

/**
 * What a link needs to know, and whom it tells.
 *
 * <p>Threading: event loop of the link's channel only. Failure: no method throws.
 */
interface LinkOwner {

  UpstreamOptions options();

  /** host:port, for requests that name no host. */
  String authority();

  /** The time in nanoseconds, of an origin that means nothing. */
  long nanoTime();

  /** Whether one more exchange may be kept for a response that is overdue. */
  boolean mayKeepOverdue();

  /**
   * Exchanges ended, or their places were given back, and the link is still open. Whether it can
   * carry another exchange {@link Link#isFull} says.
   */
  void released(Link link);

  /** The link's connection is closed. May be told again. */
  void closed(Link link);

  /** A response did not come in time, or did not come whole; once for each exchange. */
  void failed(Link link);

  /** A response came in time and whole, whatever its status. */
  void succeeded(Link link);
}
