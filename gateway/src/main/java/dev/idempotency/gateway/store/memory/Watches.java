package dev.idempotency.gateway.store.memory;

import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.SettlementNotices.Registration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Who watches which operation.
 *
 * <p>Threading: safe from any thread.
 */
final class Watches {

  private final Map<OperationId, Set<Watch>> watches = new ConcurrentHashMap<>();

  /**
   * Watches from now on, and calls back once for what happened before.
   *
   * @param where calls back
   */
  Registration watch(OperationId id, Executor where, Runnable changed) {
    Watch watch = new Watch(id, where, changed);
    watches.compute(
        id,
        (same, others) -> {
          Set<Watch> all = others == null ? ConcurrentHashMap.newKeySet() : others;
          all.add(watch);
          return all;
        });
    watch.tell();
    return watch;
  }

  /** Tells all that watch it. */
  void changed(OperationId id) {
    Set<Watch> told = watches.get(id);
    if (told != null) {
      told.forEach(Watch::tell);
    }
  }

  private final class Watch implements Registration {
    private final OperationId id;
    private final Executor where;
    private final Runnable changed;
    private volatile boolean ended;

    Watch(OperationId id, Executor where, Runnable changed) {
      this.id = id;
      this.where = where;
      this.changed = changed;
    }

    void tell() {
      try {
        where.execute(this::run);
      } catch (RejectedExecutionException e) {
        // The loop has ended, and with it all who waited there.
        end();
      }
    }

    private void run() {
      if (!ended) {
        changed.run();
      }
    }

    @Override
    public void end() {
      ended = true;
      watches.computeIfPresent(
          id,
          (same, all) -> {
            all.remove(this);
            return all.isEmpty() ? null : all;
          });
    }
  }
}
