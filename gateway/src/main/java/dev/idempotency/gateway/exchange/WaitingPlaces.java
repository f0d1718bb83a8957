package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.idempotency.OperationId;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many duplicates may wait at once, over all event loops: in all, and for one operation.
 *
 * <p>Threading: safe from any thread.
 */
public final class WaitingPlaces {

  private final int most;
  private final AtomicInteger taken = new AtomicInteger();
  private final ConcurrentHashMap<OperationId, Integer> byOperation = new ConcurrentHashMap<>();

  /**
   * @param most places in all, 0 or more
   */
  public WaitingPlaces(int most) {
    this.most = most;
  }

  /**
   * Takes a place if one is left; who took it {@link #leave leaves} once.
   *
   * @param perKey how many may wait for that operation
   */
  boolean take(OperationId id, int perKey) {
    if (taken.incrementAndGet() > most) {
      taken.decrementAndGet();
      return false;
    }
    if (byOperation.merge(id, 1, Integer::sum) > perKey) {
      leave(id);
      return false;
    }
    return true;
  }

  void leave(OperationId id) {
    taken.decrementAndGet();
    byOperation.computeIfPresent(id, (key, count) -> count == 1 ? null : count - 1);
  }

  /** Places in use. */
  int taken() {
    return taken.get();
  }
}
