package dev.idempotency.gateway.fingerprint;

import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.Fingerprinter;
import dev.idempotency.gateway.idempotency.Fingerprints;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.erdtman.jcs.JsonCanonicalizer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * What a fingerprint of a JSON body costs, beside two ways to have one from a library. Those two
 * hash the body alone; a fingerprint has the rest of the request in it.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class FingerprintBenchmark {

  private static final int ROUNDS = 3;

  /** Length of the document in bytes, nearly. */
  @Param({"200", "10240", "1048576"})
  public int size;

  private final RequestHead head =
      RequestHead.of("POST", "/orders", Headers.of("Content-Type", "application/json"));
  private final Fingerprinter fingerprinter = RequestFingerprinter.create(FingerprintRule.DEFAULT);
  private final JsonMapper trees =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .enable(JsonNodeFeature.WRITE_PROPERTIES_SORTED)
          .build();

  private MessageDigest sha256;
  private byte[] document;

  /** Makes the document. */
  @Setup
  public void prepare() throws NoSuchAlgorithmException {
    sha256 = MessageDigest.getInstance("SHA-256");
    document = Orders.ofSize(size);
  }

  /** The gateway's own. */
  @Benchmark
  public Fingerprints gateway() {
    return fingerprinter.fingerprint(head, document);
  }

  /** A tree of Jackson's with exact decimals, written with its members sorted. */
  @Benchmark
  public byte[] jackson() throws IOException {
    return sha256.digest(trees.writeValueAsBytes(trees.readTree(document)));
  }

  /** RFC 8785 by the library of one of its authors, which knows doubles only. */
  @Benchmark
  public byte[] jcs() throws IOException {
    return sha256.digest(new JsonCanonicalizer(document).getEncodedUTF8());
  }

  /**
   * Prints the table of all, in forks that take turns.
   *
   * @param arguments how many seconds to measure each way in each fork
   */
  public static void main(String[] arguments) throws RunnerException {
    TimeValue second = TimeValue.seconds(1);
    int seconds = arguments.length == 0 ? 2 : Integer.parseInt(arguments[0]);
    Map<String, Row> rows = new TreeMap<>();
    for (int round = 0; round < ROUNDS; round++) {
      Options options =
          new OptionsBuilder()
              .include(FingerprintBenchmark.class.getName())
              .addProfiler(GCProfiler.class)
              .verbosity(VerboseMode.SILENT)
              .jvmArgs("-Xms512m", "-Xmx512m")
              .forks(1)
              .warmupTime(second)
              .warmupIterations(3)
              .measurementTime(second)
              .measurementIterations(seconds)
              .build();
      for (RunResult result : new Runner(options).run()) {
        String way = result.getPrimaryResult().getLabel();
        String size = result.getParams().getParam("size");
        rows.merge("%8s %s".formatted(size, way), Row.of(result), Row::better);
      }
    }
    System.out.println("    size way            ns/op          B/op   gateway is faster by");
    rows.forEach(
        (name, row) -> {
          double own = rows.get(name.substring(0, 9) + "gateway").nanos();
          System.out.printf(
              Locale.ROOT,
              "%-17s %,14.0f %,13.0f   %.2f%n",
              name,
              row.nanos(),
              row.bytes(),
              row.nanos() / own);
        });
  }

  /** The best of all rounds: what else the machine did can only have added to it. */
  private record Row(double nanos, double bytes) {
    static Row of(RunResult result) {
      double nanos = result.getPrimaryResult().getStatistics().getMin();
      double bytes = result.getSecondaryResults().get("gc.alloc.rate.norm").getScore();
      return new Row(nanos, bytes);
    }

    Row better(Row other) {
      return new Row(Math.min(nanos, other.nanos), Math.min(bytes, other.bytes));
    }
  }
}
