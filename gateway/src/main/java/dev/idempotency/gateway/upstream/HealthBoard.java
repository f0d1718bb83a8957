package dev.idempotency.gateway.upstream;

import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What the health checks of one upstream say, for all event loops: one of them asks, all read.
 *
 * <p>Threading: safe from any thread.
 */
public final class HealthBoard {

  private final AtomicBoolean claimed = new AtomicBoolean();
  private volatile Set<InetSocketAddress> unhealthy = Set.of();

  /** Whether the caller is the one that asks. */
  boolean claim() {
    return claimed.compareAndSet(false, true);
  }

  void publish(Set<InetSocketAddress> now) {
    unhealthy = Set.copyOf(now);
  }

  boolean isHealthy(InetSocketAddress address) {
    Set<InetSocketAddress> now = unhealthy;
    return now.isEmpty() || !now.contains(address);
  }
}
