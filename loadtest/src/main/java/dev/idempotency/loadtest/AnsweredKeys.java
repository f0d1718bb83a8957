package dev.idempotency.loadtest;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The keys that can be sent again: the latest of those that were answered, and those whose answer
 * was a failure.
 *
 * <p>Threading: confined to one thread at a time.
 */
final class AnsweredKeys {

  private static final int KEPT = 4096;
  private static final int MOST_FAILED = 100_000;

  private final String[] done = new String[KEPT];
  private final Queue<String> failed = new ArrayDeque<>();
  private long count;

  /** A key was answered. */
  void done(String key) {
    done[(int) (count++ % KEPT)] = key;
  }

  /** A key has a failure for its answer so far. */
  void failed(String key) {
    if (failed.size() < MOST_FAILED) {
      failed.add(key);
    }
  }

  /** One of the latest answered keys, or null as long as there is none. */
  @Nullable String anyDone(RandomGenerator random) {
    return count == 0 ? null : done[random.nextInt((int) Math.min(count, KEPT))];
  }

  /** Takes the key that failed first, or null where there is none. */
  @Nullable String nextFailed() {
    return failed.poll();
  }
}
