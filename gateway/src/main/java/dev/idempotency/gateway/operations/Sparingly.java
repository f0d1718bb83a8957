package dev.idempotency.gateway.operations;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Lets one of many equal events through in each second and counts the others.
 *
 * <p>Threading: safe from any thread.
 */
final class Sparingly {

  private static final long NANOS = 1_000_000_000;

  private final LongSupplier nanoTime;
  private final AtomicLong next;
  private final AtomicLong suppressed = new AtomicLong();

  Sparingly(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.next = new AtomicLong(nanoTime.getAsLong());
  }

  /** Calls the action, with the number of events suppressed before, or suppresses this one. */
  void run(LongConsumer action) {
    long now = nanoTime.getAsLong();
    long due = next.get();
    if (now - due >= 0 && next.compareAndSet(due, now + NANOS)) {
      action.accept(suppressed.getAndSet(0));
    } else {
      suppressed.incrementAndGet();
    }
  }
}
