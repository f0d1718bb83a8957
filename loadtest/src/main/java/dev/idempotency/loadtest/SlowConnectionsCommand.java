package dev.idempotency.loadtest;

import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Measures what slow connections cost those who work: the latency of keyed requests, one after the
 * other at a fixed rate, in turns without and with the slow connections, so that what else the
 * machine does falls on both. Every answer has to be 2xx. Exit codes: 0 it was measured, 2 it could
 * not be.
 *
 * <p>{@code java -cp loadtest/target/idempotency-loadtest.jar
 * dev.idempotency.loadtest.SlowConnectionsCommand --target http://127.0.0.1:8080/orders}
 */
@Command(
    name = "slow-connections",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Compares latencies without and with many slow connections.")
public final class SlowConnectionsCommand implements Callable<Integer> {

  private static final int NOT_RUN = 2;
  private static final long LONGEST_MICROS = 60_000_000L;

  private final PrintStream out;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final String prefix = "sc-" + Long.toString(new SecureRandom().nextLong() >>> 1, 36);
  private int sent;

  @Option(names = "--target", required = true, description = "where orders are posted")
  private String target = "";

  @Option(names = "--slow", description = "slow connections (default: ${DEFAULT-VALUE})")
  private int slow = 500;

  @Option(names = "--rate", description = "requests per second (default: ${DEFAULT-VALUE})")
  private int rate = 200;

  @Option(names = "--turns", description = "of each kind (default: ${DEFAULT-VALUE})")
  private int turns = 5;

  @Option(names = "--seconds", description = "of one turn (default: ${DEFAULT-VALUE})")
  private int seconds = 4;

  SlowConnectionsCommand(PrintStream out) {
    this.out = out;
  }

  @SuppressWarnings("SystemOut") // the report is what this program is for
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new SlowConnectionsCommand(System.out)).execute(arguments));
  }

  @Override
  public Integer call() throws InterruptedException {
    try {
      compare();
      return 0;
    } catch (IllegalArgumentException | IOException e) {
      out.println("not run: " + target + ": " + (e.getMessage() == null ? e : e.getMessage()));
      return NOT_RUN;
    }
  }

  private void compare() throws IOException, InterruptedException {
    URI where = Loopback.only("--target", target);
    Histogram without = new Histogram(LONGEST_MICROS, 3);
    Histogram with = new Histogram(LONGEST_MICROS, 3);
    turn(where, new Histogram(LONGEST_MICROS, 3)); // warms up
    int ended = 0;
    for (int i = 0; i < turns; i++) {
      turn(where, without);
      try (SlowConnections held = SlowConnections.open(where, slow)) {
        turn(where, with);
        ended += held.replaced();
      }
    }
    out.printf(
        Locale.ROOT,
        "%d slow connections (%d ended by the gateway), %d requests of each kind%n",
        slow,
        ended,
        with.getTotalCount());
    for (double percentile : new double[] {50, 90, 99}) {
      long alone = without.getValueAtPercentile(percentile);
      long beside = with.getValueAtPercentile(percentile);
      out.printf(
          Locale.ROOT,
          "p%.0f: %d us without, %d us with, ratio %.2f%n",
          percentile,
          alone,
          beside,
          (double) beside / alone);
    }
  }

  private void turn(URI where, Histogram latencies) throws IOException, InterruptedException {
    long gap = TimeUnit.SECONDS.toNanos(1) / rate;
    long due = System.nanoTime();
    for (int i = 0; i < rate * seconds; i++) {
      due += gap;
      long early = due - System.nanoTime();
      if (early > 0) {
        TimeUnit.NANOSECONDS.sleep(early);
      }
      order(where);
      // From when it was due: what waited for a slow answer counts with its waiting.
      long micros = (System.nanoTime() - due) / 1000;
      latencies.recordValue(Math.min(LONGEST_MICROS, Math.max(0, micros)));
    }
  }

  private void order(URI where) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(where)
            .timeout(Duration.ofSeconds(30))
            .header("Idempotency-Key", prefix + '-' + sent++)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{\"item\":\"book\",\"quantity\":1}"))
            .build();
    int status = client.send(request, BodyHandlers.discarding()).statusCode();
    if (status < 200 || status > 299) {
      throw new IOException("a request was answered " + status + " (expected: 2xx)");
    }
  }
}
