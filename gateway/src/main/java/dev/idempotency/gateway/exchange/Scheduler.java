package dev.idempotency.gateway.exchange;

import java.time.Duration;

/** Time as an event loop has it. */
public interface Scheduler {

  /** Monotonic time in nanoseconds, of arbitrary origin; goes on while the process is stopped. */
  long nanoTime();

  /** The time of day in milliseconds since 1970, as this machine has it; may jump. */
  long currentTimeMillis();

  /** Runs the task once on the event loop. It is dropped where the loop has ended before. */
  void schedule(Runnable task, Duration delay);
}
