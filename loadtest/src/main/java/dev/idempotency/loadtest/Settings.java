package dev.idempotency.loadtest;

import java.net.URI;
import java.time.Duration;
import java.util.List;

/**
 * What a run does.
 *
 * @param target where orders are posted
 * @param ledger where the upstream tells its ledger
 * @param rate starts per second, above 0
 * @param duration how long starts are made, warm-up included
 * @param warmUp how long latencies are not recorded at the beginning; checks are made all the time
 * @param mix how often each kind comes
 * @param connections most requests at the same time, 3 or more: a start of duplicates needs three
 * @param timeout how long an answer is waited for
 * @param seed makes the order of kinds repeatable
 * @param headers name and value in turn, sent with every request
 * @param strictness what counts as a violation
 */
record Settings(
    URI target,
    URI ledger,
    double rate,
    Duration duration,
    Duration warmUp,
    Mix mix,
    int connections,
    Duration timeout,
    long seed,
    List<String> headers,
    Strictness strictness) {

  /** So many operations can be remembered with the heap of a small machine. */
  static final long MOST_STARTS = 2_000_000;

  Settings {
    headers = List.copyOf(headers);
    check(rate > 0, "rate", rate, "> 0");
    check(duration.compareTo(Duration.ZERO) > 0, "duration", duration, "> 0s");
    check(warmUp.compareTo(duration) < 0, "warm-up", warmUp, "less than the duration");
    check(connections >= 3, "connections", connections, ">= 3");
    check(timeout.compareTo(Duration.ZERO) > 0, "timeout", timeout, "> 0s");
    check(
        rate * duration.toMillis() / 1000 <= MOST_STARTS,
        "rate",
        rate + " for " + duration,
        "at most " + MOST_STARTS + " starts, each is remembered");
  }

  /** How many starts the schedule has. */
  long starts() {
    return Math.max(1, (long) (rate * duration.toMillis() / 1000));
  }

  private static void check(boolean holds, String name, Object value, String expected) {
    if (!holds) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: " + expected + ")");
    }
  }
}
