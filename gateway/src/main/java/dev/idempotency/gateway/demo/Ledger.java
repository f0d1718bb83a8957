package dev.idempotency.gateway.demo;

import java.io.IOException;
import java.time.Instant;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Counts what really happened: requests that came and orders that were created, per key and in all.
 * The witness of every exactly-once test.
 *
 * <p>Threading: from any thread. A reset during traffic may keep or lose what happens meanwhile.
 */
final class Ledger {

  /** A longer key is counted in sum only: memory stays bounded by the number of keys. */
  private static final int LONGEST_KEY = 255;

  private final int trackedKeys;
  private final @Nullable LedgerFile file;
  private final Map<String, Tally> keys = new ConcurrentHashMap<>();
  private final AtomicReference<Tally> keyless = new AtomicReference<>(Tally.NONE);
  private final AtomicReference<Tally> untracked = new AtomicReference<>(Tally.NONE);
  private final LongAdder effects = new LongAdder();
  private final LongAdder attempts = new LongAdder();

  Ledger(int trackedKeys, @Nullable LedgerFile file) {
    this.trackedKeys = trackedKeys;
    this.file = file;
  }

  /**
   * Records that a request came.
   *
   * @param number what it said in {@code Idempotency-Attempt}, 0 for nothing
   */
  void attempt(@Nullable String key, int number) {
    write("attempt", key, ",\"attempt\":" + number);
    attempts.increment();
    // Sums have no use for the numbers of unrelated requests.
    boolean ofOneKey = key != null;
    change(key, tally -> tally.withAttempt(ofOneKey ? number : 0));
  }

  /**
   * Records that an order was created.
   *
   * @return the how manieth of its key; 1 without a key, 0 where the key is counted in sum only
   */
  long effect(@Nullable String key, String order) {
    write("effect", key, ",\"order\":" + Json.quote(order));
    effects.increment();
    Tally changed = change(key, Tally::withEffect);
    return key == null ? 1 : keys.containsKey(key) ? changed.effects() : 0;
  }

  private Tally change(@Nullable String key, UnaryOperator<Tally> change) {
    if (key == null) {
      return keyless.updateAndGet(change);
    }
    boolean known = keys.containsKey(key);
    if (!known && (keys.size() >= trackedKeys || key.length() > LONGEST_KEY)) {
      return untracked.updateAndGet(change);
    }
    Tally changed =
        keys.compute(key, (k, tally) -> change.apply(tally == null ? Tally.NONE : tally));
    return changed == null ? Tally.NONE : changed;
  }

  private void write(String event, @Nullable String key, String more) {
    if (file != null) {
      file.append(
          "{\"event\":\""
              + event
              + "\",\"at\":\""
              + Instant.now()
              + "\",\"key\":"
              + Json.quote(key)
              + more
              + '}');
    }
  }

  long effects() {
    return effects.sum();
  }

  long attempts() {
    return attempts.sum();
  }

  Tally of(String key) {
    return keys.getOrDefault(key, Tally.NONE);
  }

  Tally keyless() {
    return Objects.requireNonNull(keyless.get());
  }

  Tally untracked() {
    return Objects.requireNonNull(untracked.get());
  }

  /** The keys that are counted one by one; weakly consistent while requests come. */
  Iterator<Map.Entry<String, Tally>> keys() {
    return keys.entrySet().iterator();
  }

  void reset() {
    write("reset", null, "");
    keys.clear();
    keyless.set(Tally.NONE);
    untracked.set(Tally.NONE);
    effects.reset();
    attempts.reset();
  }

  void close() throws IOException {
    if (file != null) {
      file.close();
    }
  }
}
