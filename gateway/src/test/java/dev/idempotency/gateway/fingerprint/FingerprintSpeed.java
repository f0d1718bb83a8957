package dev.idempotency.gateway.fingerprint;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.Fingerprinter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.Random;

/** Prints what a fingerprint costs, beside a tree of Jackson's sorted and written; run by hand. */
final class FingerprintSpeed {

  private static final JsonMapper TREES =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .enable(JsonNodeFeature.WRITE_PROPERTIES_SORTED)
          .build();

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private static long sink;

  private FingerprintSpeed() {}

  public static void main(String[] arguments) {
    Fingerprinter plain = RequestFingerprinter.create(FingerprintRule.DEFAULT);
    Fingerprinter keyed =
        RequestFingerprinter.create(new FingerprintRule(List.of(), List.of(), false, new byte[32]));
    JsonCanonicalizer canonicalizer = new JsonCanonicalizer();
    RequestHead head =
        RequestHead.of("POST", "/orders", Headers.of("Content-Type", "application/json"));
    for (int size : new int[] {200, 10 << 10, 1 << 20}) {
      byte[] document = document(size);
      double own =
          time(
              () -> {
                canonicalizer.canonicalize(document, null);
                sink += canonicalizer.length();
              });
      double tree = time(() -> sink += tree(document).length);
      double hashed = time(() -> sink += plain.fingerprint(head, document).current().hashCode());
      double hmac = time(() -> sink += keyed.fingerprint(head, document).current().hashCode());
      System.out.printf(
          "%,9d B: canonical %,12.0f ns, by tree %,12.0f ns (%.1f x); fingerprint %,12.0f ns, keyed %,12.0f ns%n",
          document.length, own, tree, tree / own, hashed, hmac);
    }
  }

  private static byte[] tree(byte[] document) {
    try {
      return TREES.writeValueAsBytes(TREES.readTree(document));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] document(int size) {
    Random random = new Random(1);
    StringBuilder text = new StringBuilder("{\"orders\":[");
    String comma = "";
    do {
      text.append(comma)
          .append("{\"id\":")
          .append(random.nextLong() >>> 1)
          .append(",\"customer\":{\"name\":\"Ana Maria ")
          .append(random.nextInt())
          .append("\",\"city\":\"S\u00e3o Paulo\"},\"amount\":")
          .append(random.nextInt(100_000))
          .append('.')
          .append(10 + random.nextInt(90))
          .append(",\"currency\":\"EUR\",\"paid\":true,\"note\":null}");
      comma = ",";
    } while (text.length() + 220 < size);
    return text.append("]}").toString().getBytes(UTF_8);
  }

  /** Best mean of several rounds, in nanoseconds of the thread's own time. */
  private static double time(Runnable task) {
    double best = Double.MAX_VALUE;
    for (int round = 0; round < 8; round++) {
      long start = THREADS.getCurrentThreadCpuTime();
      long runs = 0;
      long elapsed;
      do {
        task.run();
        task.run();
        task.run();
        task.run();
        runs += 4;
        elapsed = THREADS.getCurrentThreadCpuTime() - start;
      } while (elapsed < 200_000_000);
      best = Math.min(best, (double) elapsed / runs);
    }
    return best;
  }
}
