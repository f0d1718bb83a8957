package dev.idempotency.gateway.store.redis;

import java.util.concurrent.ThreadLocalRandom;

/** How long to wait before the next connection attempt: doubling, capped, spread by chance. */
final class Backoff {

  private static final long FIRST_MILLIS = 20;
  private static final long LONGEST_MILLIS = 1_000;

  private int failures;

  /** The next wait in milliseconds: nothing after a success, else half to all of the step. */
  long nextMillis() {
    if (failures == 0) {
      return 0;
    }
    long step = Math.min(LONGEST_MILLIS, FIRST_MILLIS << Math.min(failures - 1, 10));
    return step / 2 + ThreadLocalRandom.current().nextLong(step / 2 + 1);
  }

  void failed() {
    failures++;
  }

  void succeeded() {
    failures = 0;
  }
}
