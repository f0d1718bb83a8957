package dev.idempotency.loadtest;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** Waits. */
final class Until {

  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long PAUSE_MILLIS = 20;

  /** Something that may hold. */
  interface Condition {
    boolean holds() throws IOException, InterruptedException;
  }

  private Until() {}

  /**
   * Waits until that holds; a failure is taken for "not yet".
   *
   * @param what the sentence that does not come true
   * @throws IOException if it does not within a minute
   */
  static void holds(String what, Condition condition) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + MOST_NANOS;
    while (!isTrue(condition)) {
      if (System.nanoTime() - deadline > 0) {
        throw new IOException("waited a minute in vain until " + what);
      }
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
    }
  }

  private static boolean isTrue(Condition condition) throws InterruptedException {
    try {
      return condition.holds();
    } catch (IOException e) {
      return false;
    }
  }
}
