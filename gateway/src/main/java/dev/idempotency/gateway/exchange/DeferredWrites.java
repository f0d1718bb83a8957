package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.idempotency.IdempotencyStore;
import dev.idempotency.gateway.idempotency.WriteReply;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

/**
 * Writes that the store did not take when they were due, tried again in the background for as long
 * as the process lives. The reservation keeps duplicates out meanwhile.
 *
 * <p>Waiting times grow and scatter, so that a store that comes back is not trampled.
 */
final class DeferredWrites {

  private static final long FIRST_MILLIS = 100;
  private static final long LONGEST_MILLIS = 5_000;

  private final IdempotencyStore store;
  private final Scheduler scheduler;
  private final ExchangeListener listener;
  private final int limit;
  private int waiting;

  /**
   * @param limit most writes that wait at once
   */
  DeferredWrites(
      IdempotencyStore store, Scheduler scheduler, ExchangeListener listener, int limit) {
    this.store = store;
    this.scheduler = scheduler;
    this.listener = listener;
    this.limit = limit;
  }

  /**
   * Tries a write until the store answers.
   *
   * @param write may be sent any number of times
   * @param ended runs once, when the store has answered or there is no place to wait
   */
  void add(Function<IdempotencyStore, CompletionStage<WriteReply>> write, Runnable ended) {
    listener.storeWriteDeferred();
    if (waiting >= limit) {
      listener.deferredWriteEnded(false);
      ended.run();
      return;
    }
    waiting++;
    later(new Waiting(write, ended, FIRST_MILLIS));
  }

  /** How many writes wait. */
  int size() {
    return waiting;
  }

  private void later(Waiting waiter) {
    long delay = waiter.millis / 2 + ThreadLocalRandom.current().nextLong(waiter.millis / 2 + 1);
    scheduler.schedule(() -> attempt(waiter), Duration.ofMillis(delay));
  }

  private void attempt(Waiting waiter) {
    Stages.when(
        waiter.write.apply(store),
        reply -> end(waiter),
        unavailable -> later(waiter.slower()),
        listener);
  }

  private void end(Waiting waiter) {
    waiting--;
    listener.deferredWriteEnded(true);
    waiter.ended.run();
  }

  private record Waiting(
      Function<IdempotencyStore, CompletionStage<WriteReply>> write, Runnable ended, long millis) {
    Waiting slower() {
      return new Waiting(write, ended, Math.min(LONGEST_MILLIS, millis * 2));
    }
  }
}
