package dev.idempotency.gateway.fingerprint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/** Hostile documents cost in proportion to their size: steps and bytes are counted, not seconds. */
class JsonLinearWorkTest {

  private static final int SIZE = 1 << 20;

  @Test
  void siblingsWithoutNumberCostLittleMemory() {
    byte[] document = bytes("[" + "[],".repeat(SIZE / 3) + "0]");

    assertThat(allocated(document)).isLessThan(3L * document.length);
  }

  @Test
  void manyUnorderedSmallObjectsCostMemoryInProportion() {
    byte[] document = bytes("[" + "{\"b\":0,\"a\":0},".repeat(SIZE / 14) + "0]");

    assertThat(allocated(document)).isLessThan(20L * document.length);
  }

  @Test
  void aHundredThousandMembersAreSortedInSortingTime() {
    for (IntFunction<String> name : names()) {
      StringBuilder text = new StringBuilder("{\"z\":0");
      for (int i = 0; i < 100_000; i++) {
        text.append(",\"").append(name.apply(i)).append("\":1");
      }
      byte[] document = bytes(text.append('}').toString());
      JsonCanonicalizer canonicalizer = new JsonCanonicalizer();

      assertThat(canonicalizer.canonicalize(document, null)).isTrue();

      assertThat(canonicalizer.work()).isLessThan(18L * document.length);
      assertThat(allocated(document)).isLessThan(20L * document.length);
    }
  }

  private static Iterable<IntFunction<String>> names() {
    String[] sameHash = {"Aa", "BB"};
    return List.of(
        i -> Integer.toString(i),
        i -> Integer.toString(1_000_000 - i),
        i -> "the same first bytes " + Integer.reverse(i),
        i -> {
          StringBuilder name = new StringBuilder();
          for (int bit = 0; bit < 17; bit++) {
            name.append(sameHash[i >> bit & 1]);
          }
          return name.toString();
        });
  }

  @Test
  void namesWithALongCommonStartAreNotComparedTooOften() {
    StringBuilder text = new StringBuilder("{");
    for (int i = 1000; i > 0; i--) {
      text.append('"').append("x".repeat(1000)).append(i).append("\":1,");
    }
    byte[] document = bytes(text.append("\"\":0}").toString());
    JsonCanonicalizer canonicalizer = new JsonCanonicalizer();

    assertThat(canonicalizer.canonicalize(document, null)).isTrue();

    assertThat(canonicalizer.work()).isLessThan(16L * document.length);
  }

  @Test
  void unorderedObjectsAroundAMegabyteCopyItOnce() {
    int depth = JsonCanonicalizer.MAX_DEPTH - 1;
    byte[] document =
        bytes("{\"b\":0,\"a\":".repeat(depth) + '"' + "x".repeat(SIZE) + '"' + "}".repeat(depth));
    JsonCanonicalizer canonicalizer = new JsonCanonicalizer();

    assertThat(canonicalizer.canonicalize(document, null)).isTrue();

    assertThat(canonicalizer.work()).isLessThan(3L * document.length);
    assertThat(allocated(document)).isLessThan(4L * document.length);
  }

  @Test
  void numbersCostWhatTheirSpellingCosts() {
    for (String number : new String[] {"1e999999999", "1e20", "1e-5", "10000000e100000000"}) {
      byte[] document = bytes("[" + (number + ",").repeat(SIZE / number.length()) + "0]");

      assertThat(allocated(document)).as(number).isLessThan(30L * document.length);
    }
    assertThat(allocated(bytes("9".repeat(SIZE)))).isLessThan(4L * SIZE);
    assertThat(allocated(bytes("0." + "1".repeat(SIZE)))).isLessThan(4L * SIZE);
    assertThat(allocated(bytes("1" + "0".repeat(SIZE) + "e-" + SIZE))).isLessThan(4L * SIZE);
  }

  @Test
  void aLargeDocumentLeavesLittleMemoryBehind() {
    JsonCanonicalizer canonicalizer = new JsonCanonicalizer();
    byte[] large = bytes("[" + "{\"b\":\"\\\"\",\"a\":0},".repeat(SIZE / 14) + "0]");
    canonicalizer.canonicalize(large, null);

    canonicalizer.clear();

    assertThat(canonicalizer.bytes().length).isLessThanOrEqualTo(12 << 10);
  }

  /** Bytes that a canonicalizer allocates for a document that it meets first. */
  private static long allocated(byte[] document) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    JsonCanonicalizer canonicalizer = new JsonCanonicalizer();
    long before = threads.getCurrentThreadAllocatedBytes();
    boolean canonical = canonicalizer.canonicalize(document, null);
    long after = threads.getCurrentThreadAllocatedBytes();
    assertThat(canonical).isTrue();
    return after - before;
  }

  private static byte[] bytes(String document) {
    return document.getBytes(UTF_8);
  }
}
