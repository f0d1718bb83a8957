package dev.idempotency.gateway.store.redis;

import io.netty.channel.EventLoop;
import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Runs the client's few timers (connecting, shaking hands) on the event loop: no other thread. */
final class LoopTimer implements Timer {

  private final EventLoop loop;

  LoopTimer(EventLoop loop) {
    this.loop = loop;
  }

  @Override
  public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
    return new LoopTimeout(task, delay, unit);
  }

  @Override
  public Set<Timeout> stop() {
    return Set.of();
  }

  private final class LoopTimeout implements Timeout, Runnable {
    private final TimerTask task;
    private final ScheduledFuture<?> scheduled;

    LoopTimeout(TimerTask task, long delay, TimeUnit unit) {
      this.task = task;
      this.scheduled = loop.schedule(this, delay, unit);
    }

    @Override
    @SuppressWarnings("CatchingUnchecked") // the interface lets tasks throw anything
    public void run() {
      try {
        task.run(this);
      } catch (Exception e) {
        throw new IllegalStateException("a timer of the Redis client failed", e);
      }
    }

    @Override
    public Timer timer() {
      return LoopTimer.this;
    }

    @Override
    public TimerTask task() {
      return task;
    }

    @Override
    public boolean isExpired() {
      return scheduled.isDone() && !scheduled.isCancelled();
    }

    @Override
    public boolean isCancelled() {
      return scheduled.isCancelled();
    }

    @Override
    public boolean cancel() {
      return scheduled.cancel(false);
    }
  }
}
