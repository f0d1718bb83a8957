package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.idempotency.IdempotencyStore;
import dev.idempotency.gateway.idempotency.WriteReply;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
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
  private static final long LONGEST_MILLIS = 1_000;

  private final IdempotencyStore store;
  private final Scheduler scheduler;
  private final ExchangeListener listener;
  private final int limit;
  private final Set<Waiting> waiting = new LinkedHashSet<>();
  private boolean hurried;

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
    add(write, ended, limit);
  }

  /**
   * The same for a write that takes back what may never have been written. In an outage there is
   * one for each request that was refused; half of the places stay free for answers that were
   * given.
   */
  void addIfRoom(Function<IdempotencyStore, CompletionStage<WriteReply>> write, Runnable ended) {
    add(write, ended, limit / 2);
  }

  private void add(
      Function<IdempotencyStore, CompletionStage<WriteReply>> write, Runnable ended, int most) {
    listener.storeWriteDeferred();
    if (waiting.size() >= most) {
      listener.deferredWriteEnded(false);
      ended.run();
      return;
    }
    Waiting waiter = new Waiting(write, ended);
    waiting.add(waiter);
    later(waiter);
  }

  /** The process ends soon: tries all at once, and again in short intervals. */
  void hurry() {
    hurried = true;
    retry();
  }

  /** The store is back: tries all at once, before a duplicate asks for what they know. */
  void retry() {
    List.copyOf(waiting).forEach(this::attempt);
  }

  /** How many writes wait. */
  int size() {
    return waiting.size();
  }

  private void later(Waiting waiter) {
    long most = hurried ? FIRST_MILLIS : waiter.millis;
    long delay = most / 2 + ThreadLocalRandom.current().nextLong(most / 2 + 1);
    scheduler.schedule(() -> attempt(waiter), Duration.ofMillis(delay));
  }

  private void attempt(Waiting waiter) {
    if (waiter.underWay || !waiting.contains(waiter)) {
      return;
    }
    waiter.underWay = true;
    Stages.when(
        waiter.write.apply(store),
        reply -> end(waiter, true),
        unavailable -> {
          if (unavailable.isUnreadable()) {
            end(waiter, false);
            return;
          }
          waiter.underWay = false;
          waiter.millis = Math.min(LONGEST_MILLIS, waiter.millis * 2);
          later(waiter);
        },
        listener);
  }

  private void end(Waiting waiter, boolean written) {
    waiting.remove(waiter);
    listener.deferredWriteEnded(written);
    waiter.ended.run();
  }

  private static final class Waiting {
    private final Function<IdempotencyStore, CompletionStage<WriteReply>> write;
    private final Runnable ended;
    private long millis = FIRST_MILLIS;
    private boolean underWay;

    Waiting(Function<IdempotencyStore, CompletionStage<WriteReply>> write, Runnable ended) {
      this.write = write;
      this.ended = ended;
    }
  }
}
