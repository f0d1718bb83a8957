package dev.idempotency.gateway.exchange;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that all bodies held at once may take, over all event loops.
 *
 * <p>Threading: safe from any thread.
 */
public final class BodyBudget {

  private final long limit;
  private final AtomicLong used = new AtomicLong();

  /**
   * @param limit bytes, 0 or more
   */
  public BodyBudget(long limit) {
    this.limit = limit;
  }

  /** Takes that many bytes if they are left. */
  boolean take(int bytes) {
    if (used.addAndGet(bytes) <= limit) {
      return true;
    }
    used.addAndGet(-bytes);
    return false;
  }

  void giveBack(int bytes) {
    used.addAndGet(-bytes);
  }

  /** Bytes in use. */
  public long used() {
    return used.get();
  }

  /** Bytes in all. */
  public long limit() {
    return limit;
  }
}
