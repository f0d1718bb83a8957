package dev.idempotency.gateway.operations;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts durations by size, for a histogram.
 *
 * <p>Threading: written and read from any thread, without locks and without garbage.
 */
final class DurationCounts {

  private static final long MICRO = 1_000;
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000_000_000;

  /** Upper bounds in nanoseconds, each included. Fixed: dashboards and alerts build on them. */
  private static final long[] BOUNDS = {
    500 * MICRO,
    MILLI,
    2_500 * MICRO,
    5 * MILLI,
    10 * MILLI,
    25 * MILLI,
    50 * MILLI,
    100 * MILLI,
    250 * MILLI,
    500 * MILLI,
    SECOND,
    2_500 * MILLI,
    5 * SECOND,
    10 * SECOND,
    30 * SECOND,
  };

  private final LongAdder[] buckets = new LongAdder[BOUNDS.length + 1];
  private final LongAdder nanos = new LongAdder();

  DurationCounts() {
    for (int i = 0; i < buckets.length; i++) {
      buckets[i] = new LongAdder();
    }
  }

  /** Upper bounds in seconds, the last one infinite. */
  static double[] bounds() {
    double[] seconds = new double[BOUNDS.length + 1];
    for (int i = 0; i < BOUNDS.length; i++) {
      seconds[i] = BOUNDS[i] / 1e9;
    }
    seconds[BOUNDS.length] = Double.POSITIVE_INFINITY;
    return seconds;
  }

  void add(long duration) {
    int bucket = 0;
    while (bucket < BOUNDS.length && duration > BOUNDS[bucket]) {
      bucket++;
    }
    buckets[bucket].increment();
    nanos.add(duration);
  }

  /** How many fell between each bound and the one before. */
  long[] counts() {
    long[] counts = new long[buckets.length];
    for (int i = 0; i < counts.length; i++) {
      counts[i] = buckets[i].sum();
    }
    return counts;
  }

  /** All of them together, in seconds. */
  double sum() {
    return nanos.sum() / 1e9;
  }
}
