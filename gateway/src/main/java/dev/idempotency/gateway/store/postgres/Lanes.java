package dev.idempotency.gateway.store.postgres;

import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads that wait for PostgreSQL. Commands on one operation keep to one lane and so to their
 * order: a renewal that was sent before a release must not write the record again after it.
 */
final class Lanes {

  /** Commands that may wait in a lane; what comes then is refused at once. */
  static final int LONGEST = 256;

  private static final int IDLE_SECONDS = 60;

  private final List<ThreadPoolExecutor> lanes = new ArrayList<>();

  Lanes(int number) {
    ThreadFactory threads = new DefaultThreadFactory("gateway-postgres", true);
    for (int i = 0; i < number; i++) {
      ThreadPoolExecutor lane =
          new ThreadPoolExecutor(
              1,
              1,
              IDLE_SECONDS,
              TimeUnit.SECONDS,
              new ArrayBlockingQueue<>(LONGEST),
              threads,
              new ThreadPoolExecutor.AbortPolicy());
      lane.allowCoreThreadTimeOut(true);
      lanes.add(lane);
    }
  }

  /**
   * Hands it to a lane.
   *
   * @param hash equal for what must keep its order
   */
  void execute(int hash, Work<?> work) {
    ThreadPoolExecutor lane = lanes.get(Math.floorMod(hash, lanes.size()));
    try {
      lane.execute(work);
    } catch (RejectedExecutionException e) {
      work.refuse(
          StoreUnavailableException.notExecuted(
              lane.isShutdown()
                  ? "the store is closed"
                  : "PostgreSQL is too slow: " + LONGEST + " commands wait for a connection"));
    }
  }

  void close() {
    lanes.forEach(ThreadPoolExecutor::shutdown);
  }
}
