package dev.idempotency.gateway.exchange;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Time that stands still until a test moves it. */
final class HandScheduler implements Scheduler {

  private record Task(long due, Runnable run) {}

  private final List<Task> tasks = new ArrayList<>();
  private long now = 1_000_000_000L;
  private long dayMillis;

  @Override
  public long nanoTime() {
    return now;
  }

  @Override
  public long currentTimeMillis() {
    return now / 1_000_000 + dayMillis;
  }

  @Override
  public void schedule(Runnable task, Duration delay) {
    tasks.add(new Task(now + delay.toNanos(), task));
  }

  /** Moves the time and runs what falls due, in order. */
  void advance(Duration time) {
    long until = now + time.toNanos();
    while (true) {
      Task next =
          tasks.stream()
              .filter(task -> task.due <= until)
              .min(Comparator.comparingLong(Task::due))
              .orElse(null);
      if (next == null) {
        break;
      }
      tasks.remove(next);
      now = Math.max(now, next.due);
      next.run.run();
    }
    now = until;
  }

  /** Sets the clock of this machine on or back; no time passes. */
  void setClock(Duration by) {
    dayMillis += by.toMillis();
  }

  /** Moves the time as a stopped process sees it: nothing runs meanwhile. */
  void stopFor(Duration time) {
    now += time.toNanos();
  }
}
