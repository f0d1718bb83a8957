package dev.idempotency.gateway.store.envelope;

import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.store.RuleModel;
import dev.idempotency.gateway.store.StoreContractTest;
import dev.idempotency.gateway.store.memory.MemoryIdempotencyStore;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Envelopes change nothing of what the store behind them promises. */
class EnvelopesInMemoryTest extends StoreContractTest {

  private final AtomicLong nanos = new AtomicLong();
  private final ExecutorService workers = Executors.newFixedThreadPool(2);
  private final OperationStore store =
      new EnvelopeStore(
          MemoryIdempotencyStore.create(1 << 24, nanos::get),
          Keys.options(16, "k1"),
          1 << 24,
          Runnable::run,
          workers,
          message -> {
            throw new AssertionError(message);
          });

  @AfterEach
  void stop() {
    workers.shutdown();
  }

  @Override
  protected OperationStore store() {
    return store;
  }

  @Override
  protected void elapse(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  @Test
  void randomCommandsGiveTheRepliesOfTheRules() {
    new RuleModel(store, this::elapse, System.nanoTime()).run(5_000);
  }
}
