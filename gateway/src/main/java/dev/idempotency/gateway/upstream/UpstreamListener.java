package dev.idempotency.gateway.upstream;

import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * Hears what becomes of an upstream's addresses, for the log.
 *
 * <p>Threading: any event loop. Failure: no method may throw.
 */
public interface UpstreamListener {

  /** Nobody listens. */
  UpstreamListener NONE = new UpstreamListener() {};

  /** One event loop passes over the address for that time, because requests to it fail. */
  default void ejected(String upstream, InetSocketAddress address, Duration time) {}

  /** One event loop uses the address again. */
  default void returned(String upstream, InetSocketAddress address) {}

  /** The health checks of an address turned. */
  default void health(String upstream, InetSocketAddress address, boolean good) {}

  /**
   * A name could not be looked up; the last known addresses stay in use. Told at the first failure
   * and then once a minute.
   */
  default void lookUpFailed(String upstream, String host, String why) {}
}
