package dev.idempotency.gateway.store.redis;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** Looks again and again, as long as there is something to look after; on the event loop. */
final class Tick {

  /** What is done at each tick. */
  interface Watch {
    /**
     * Looks after what is watched.
     *
     * @param now {@link System#nanoTime}
     * @return whether to go on
     */
    boolean look(long now);
  }

  private static final long SHORTEST_NANOS = 1_000_000;
  private static final long LONGEST_NANOS = 100_000_000;

  private final EventLoop loop;
  private final long nanos;
  private final Watch watch;
  private boolean running;

  Tick(EventLoop loop, long nanos, Watch watch) {
    this.loop = loop;
    this.nanos = Math.max(SHORTEST_NANOS, Math.min(LONGEST_NANOS, nanos));
    this.watch = watch;
  }

  void start() {
    if (!running) {
      running = true;
      schedule();
    }
  }

  private void run() {
    running = false;
    if (watch.look(System.nanoTime()) && !running) {
      start();
    }
  }

  private void schedule() {
    // A loop that ends takes its timers along; nobody waits for this one.
    ScheduledFuture<?> unused = loop.schedule(this::run, nanos, TimeUnit.NANOSECONDS);
  }
}
