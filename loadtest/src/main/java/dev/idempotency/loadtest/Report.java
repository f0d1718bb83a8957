package dev.idempotency.loadtest;

import java.io.PrintStream;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/** Tells people what a run came to. */
final class Report {

  private static final double[] PERCENTILES = {50, 90, 99, 99.9};

  private final PrintStream out;

  Report(PrintStream out) {
    this.out = out;
  }

  void print(Settings settings, Generator generator, Checker checker) {
    line(
        "requests %d, operations %d, failures %d, starts not made %d (seed %d)",
        generator.requests(),
        checker.operations(),
        checker.failures(),
        generator.unmade(),
        settings.seed());
    if (generator.unmade() > 0) {
      line("The target could not keep up with %s starts per second.", settings.rate());
    }
    line("latency from the intended start, ms:");
    line("%-10s %9s %9s %9s %9s %9s %9s", "kind", "count", "p50", "p90", "p99", "p99.9", "max");
    for (Kind kind : Kind.values()) {
      print(kind, generator.latencies().of(kind));
    }
    for (Violation violation : checker.violations()) {
      line("VIOLATION %s, key %s: %s", violation.rule(), violation.key(), violation.seen());
    }
    checker.counts().forEach((rule, count) -> line("broken %d times: %s", count, rule.promise()));
    line(checker.counts().isEmpty() ? "verdict: PASS" : "verdict: FAIL");
  }

  private void print(Kind kind, Histogram micros) {
    StringBuilder row = new StringBuilder();
    for (double percentile : PERCENTILES) {
      row.append(ms(micros.getValueAtPercentile(percentile))).append(' ');
    }
    row.append(ms(micros.getMaxValue()));
    line("%-10s %9d %s", kind.word(), micros.getTotalCount(), row);
  }

  private static String ms(long micros) {
    return String.format(Locale.ROOT, "%9.3f", micros / 1000.0);
  }

  private void line(String format, Object... values) {
    out.println(String.format(Locale.ROOT, format, values));
  }
}
