package dev.idempotency.gateway;

import dev.idempotency.gateway.exchange.Scheduler;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The time of one event loop.
 *
 * @param wallClock milliseconds since 1970
 */
record LoopScheduler(EventLoop loop, LongSupplier wallClock) implements Scheduler {

  /** What this machine takes for the time. */
  static final LongSupplier MACHINE = System::currentTimeMillis;

  LoopScheduler(EventLoop loop) {
    this(loop, MACHINE);
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public long currentTimeMillis() {
    return wallClock.getAsLong();
  }

  @Override
  public void schedule(Runnable task, Duration delay) {
    try {
      Future<?> unused = loop.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // The loop has ended, and with it everything that the task was for.
    }
  }
}
