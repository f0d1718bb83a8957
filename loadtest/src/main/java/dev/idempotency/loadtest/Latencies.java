package dev.idempotency.loadtest;

import java.util.EnumMap;
import java.util.Map;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * How long answers took, per kind, in microseconds, counted from the moment at which the schedule
 * wanted the request to start: a request that had to wait for a slow one before it is counted with
 * its waiting.
 *
 * <p>Threading: from any thread.
 */
final class Latencies {

  private static final long LONGEST_MICROS = 3_600_000_000L;

  private final Map<Kind, Histogram> histograms = new EnumMap<>(Kind.class);

  Latencies() {
    for (Kind kind : Kind.values()) {
      histograms.put(kind, new ConcurrentHistogram(LONGEST_MICROS, 3));
    }
  }

  /**
   * Records one answer.
   *
   * @param nanos the time since the intended start
   */
  void record(Kind kind, long nanos) {
    of(kind).recordValue(Math.min(LONGEST_MICROS, Math.max(0, nanos / 1000)));
  }

  /** The histogram of a kind, in microseconds. */
  Histogram of(Kind kind) {
    Histogram histogram = histograms.get(kind);
    if (histogram == null) {
      throw new IllegalStateException("every kind has one");
    }
    return histogram;
  }
}
