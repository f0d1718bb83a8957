package dev.idempotency.gateway;

import dev.idempotency.gateway.config.Configuration;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.store.envelope.EnvelopeOptions;
import dev.idempotency.gateway.store.envelope.EnvelopeStore;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Puts envelopes in front of stores, where the configuration wants any. */
final class Sealing implements AutoCloseable {

  /** Records live longer than limits: what an earlier, larger limit let in is still read. */
  private static final int LEAST_LIMIT = 64 << 20;

  private static final int MOST_THREADS = 2;
  private static final int MOST_WAITING = 64;
  private static final int IDLE_SECONDS = 60;

  private final EnvelopeOptions options;
  private final int most;
  private final ThreadPoolExecutor workers;

  Sealing(Configuration configuration) {
    this.options = RouteRules.envelope(configuration.envelope());
    long limit =
        configuration.routes().stream()
            .mapToLong(Configuration.Route::responseLimit)
            .max()
            .orElse(0);
    this.most = (int) Math.min(Integer.MAX_VALUE, Math.max(LEAST_LIMIT, limit));
    // No thread before there is work; where the queue is full, the loops do what must be done.
    this.workers =
        new ThreadPoolExecutor(
            MOST_THREADS,
            MOST_THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MOST_WAITING),
            new DefaultThreadFactory("gateway-envelopes", true));
    workers.allowCoreThreadTimeOut(true);
  }

  /**
   * The store itself where there is nothing to do.
   *
   * @param unreadable hears of responses that can't be taken out
   */
  OperationStore around(OperationStore store, EventLoop loop, Consumer<String> unreadable) {
    return options.isNothing()
        ? store
        : new EnvelopeStore(store, options, most, loop, workers, unreadable);
  }

  @Override
  public void close() {
    workers.shutdown();
  }
}
