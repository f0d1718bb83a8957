package dev.idempotency.gateway.fingerprint;

import static dev.idempotency.gateway.fingerprint.Requests.FORM;
import static dev.idempotency.gateway.fingerprint.Requests.JSON;
import static dev.idempotency.gateway.fingerprint.Requests.bytes;
import static dev.idempotency.gateway.fingerprint.Requests.post;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Fingerprints;
import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import org.junit.jupiter.api.Test;

/** Bodies with a content coding. */
class CodedBodyTest {

  private static final String ONE = "{\"b\":1.0,\"a\":\"" + "text ".repeat(50) + "\"}";
  private static final String SAME = "{\"a\":\"" + "text ".repeat(50) + "\",\"b\":1}";
  private static final String OTHER = ONE.replace("1.0", "2.0");

  @Test
  void whatIsDecodedCountsByItsMediaType() {
    Fingerprint one = of(JSON, "gzip", gzip(bytes(ONE), 6, 0));

    assertThat(of(JSON, "gzip", gzip(bytes(ONE), 6, 1_700_000_000))).isEqualTo(one);
    assertThat(of(JSON, "gzip", gzip(bytes(ONE), 1, 7))).isEqualTo(one);
    assertThat(of(JSON, "GZip", gzip(bytes(SAME), 9, 7))).isEqualTo(one);
    assertThat(of(JSON, "gzip", named(bytes(ONE)))).isEqualTo(one);
    assertThat(of(JSON, "gzip", members(bytes(ONE)))).isEqualTo(one);
    assertThat(of(JSON, "gzip", gzip(bytes(OTHER), 6, 0))).isNotEqualTo(one);
    assertThat(of(FORM, "deflate", zlib(bytes("a=1&b=2"), 1)))
        .isEqualTo(of(FORM, "deflate", zlib(bytes("b=2&a=1"), 9)));
    assertThat(of("text/plain", "gzip", gzip(bytes(ONE), 6, 0)))
        .isEqualTo(of("text/plain", "gzip", gzip(bytes(ONE), 6, 1)))
        .isNotEqualTo(of("text/plain", "gzip", gzip(bytes(SAME), 6, 0)));
  }

  @Test
  void codingsCountByTheirNames() {
    byte[] gzip = gzip(bytes(ONE), 6, 0);
    List<Fingerprint> all = new ArrayList<>();
    all.add(of(JSON, "identity", bytes(ONE)));
    all.add(of(JSON, "gzip", gzip));
    all.add(of(JSON, "x-gzip", gzip));
    all.add(of(JSON, "br", gzip));
    all.add(of(JSON, "identity", gzip));
    all.add(of(JSON, "deflate", zlib(bytes(ONE), 6)));
    all.add(of(JSON, "deflate", deflate(bytes(ONE), 6, true)));
    all.add(of(JSON, "gzip, gzip", gzip(gzip, 6, 0)));
    all.add(of(JSON, "deflate, gzip", gzip(zlib(bytes(ONE), 6), 6, 0)));
    all.add(of(JSON, "gzip, deflate", zlib(gzip, 6)));

    assertThat(all).doesNotHaveDuplicates();
    assertThat(of(JSON, "gzip,gzip", gzip(gzip(bytes(SAME), 1, 5), 9, 6))).isEqualTo(all.get(7));
    assertThat(of(JSON, "deflate, gzip", gzip(zlib(bytes(SAME), 1), 9, 6))).isEqualTo(all.get(8));
    assertThat(of(JSON, "deflate", deflate(bytes(SAME), 1, true))).isEqualTo(all.get(6));
  }

  /** Each pair would be equal if it were decoded. */
  @Test
  void whatIsBrokenOrUnknownCountsAsItCame() {
    byte[] one = gzip(bytes(ONE), 6, 0);
    byte[] other = gzip(bytes(ONE), 6, 1);
    raw("gzip", Arrays.copyOf(one, one.length - 1), Arrays.copyOf(other, one.length - 1));
    raw("gzip", Arrays.copyOf(one, one.length - 8), Arrays.copyOf(other, one.length - 8));
    raw("gzip", Arrays.copyOf(one, 30), Arrays.copyOf(other, 30));
    raw("gzip", Arrays.copyOf(one, one.length + 1), Arrays.copyOf(other, one.length + 1));
    raw("gzip", flipped(one, one.length - 5), flipped(other, other.length - 5));
    raw("gzip", flipped(one, one.length - 1), flipped(other, other.length - 1));
    raw("gzip", flipped(one, 0), flipped(other, 0));
    raw("gzip", flipped(one, 2), flipped(other, 2));
    raw("gzip", with(one, 3, 0x20), with(other, 3, 0x20));
    raw("gzip", with(one, 3, 2), with(other, 3, 2));
    for (String coding :
        List.of("br", "zstd", "compress", "gzip, br", "", "gzip,", "gzip, , gzip")) {
      raw(coding, one, other);
    }
    raw("gzip, gzip, gzip", gzip(gzip(one, 1, 0), 1, 0), gzip(gzip(one, 1, 1), 1, 0));
    byte[] zlib = zlib(bytes(ONE), 1);
    byte[] better = zlib(bytes(ONE), 9);
    raw("deflate", flipped(zlib, zlib.length - 1), flipped(better, better.length - 1));
    raw("deflate", Arrays.copyOf(zlib, zlib.length + 1), Arrays.copyOf(better, better.length + 1));
    raw("deflate", with(zlib, 1, zlib[1] ^ 0x20 ^ 31), with(better, 1, better[1] ^ 0x20 ^ 31));
  }

  private static void raw(String coding, byte[] one, byte[] other) {
    assertThat(of(JSON, coding, one)).isNotEqualTo(of(JSON, coding, other));
    assertThat(of(JSON, coding, one)).isEqualTo(of(JSON, coding, one));
  }

  @Test
  void rawRuleDecodesNothing() {
    FingerprintRule raw = new FingerprintRule(List.of(), List.of(), true, null);

    assertThat(all(raw, JSON, "gzip", gzip(bytes(ONE), 6, 0)).current())
        .isNotEqualTo(all(raw, JSON, "gzip", gzip(bytes(ONE), 6, 1)).current());
    assertThat(all(raw, JSON, "gzip", gzip(new byte[2 << 20], 6, 0)).isTooLarge()).isFalse();
  }

  @Test
  void whatIsLargerThanAllowedIsRefusedWithoutBeingDecodedWhole() {
    byte[] bomb = gzip(new byte[64 << 20], 9, 0);
    byte[] nested = gzip(bomb, 9, 0);
    Random random = new Random(1);
    byte[] noise = new byte[100_000];
    random.nextBytes(noise);

    assertThat(allocated("gzip", bomb)).isLessThan(4 << 20);
    assertThat(allocated("gzip, gzip", nested)).isLessThan(4 << 20);
    assertThat(allocated("deflate", zlib(new byte[64 << 20], 9))).isLessThan(4 << 20);
    for (int size : new int[] {0, 1, 99_999, 100_000}) {
      for (String coding : List.of("gzip", "deflate")) {
        byte[] body = Arrays.copyOf(noise, size);
        byte[] coded = coding.equals("gzip") ? gzip(body, 6, 0) : zlib(body, 6);
        Fingerprints atLimit = all(FingerprintRule.DEFAULT.within(size), "x/y", coding, coded);
        Fingerprints beyond =
            all(FingerprintRule.DEFAULT.within(Math.max(0, size - 1)), "x/y", coding, coded);
        assertThat(atLimit.isTooLarge()).isFalse();
        assertThat(beyond.isTooLarge()).isEqualTo(size > 0);
      }
    }
  }

  private static long allocated(String coding, byte[] body) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    Fingerprints made = all(FingerprintRule.DEFAULT, JSON, coding, body);
    long after = threads.getCurrentThreadAllocatedBytes();
    assertThat(made.isTooLarge()).isTrue();
    return after - before;
  }

  /** Garbage neither fails nor is it taken for something else. */
  @Test
  void damagedBodiesAreRefusedNowhere() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    byte[] gzip = named(bytes(ONE));
    byte[] zlib = zlib(bytes(ONE), 6);
    for (int i = 0; i < 5_000; i++) {
      byte[] damaged = (i % 2 == 0 ? gzip : zlib).clone();
      damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
      damaged = Arrays.copyOf(damaged, 1 + random.nextInt(damaged.length));

      String coding = i % 2 == 0 ? "gzip" : "deflate";
      assertThat(all(FingerprintRule.DEFAULT, JSON, coding, damaged).isTooLarge())
          .as("seed " + seed)
          .isFalse();
    }
  }

  private static Fingerprint of(String type, String coding, byte[] body) {
    return all(FingerprintRule.DEFAULT, type, coding, body).current();
  }

  private static Fingerprints all(FingerprintRule rule, String type, String coding, byte[] body) {
    return Requests.all(rule, post("/", "Content-Type", type, "Content-Encoding", coding), body);
  }

  private static byte[] flipped(byte[] bytes, int at) {
    return with(bytes, at, bytes[at] ^ 1);
  }

  private static byte[] with(byte[] bytes, int at, int value) {
    byte[] changed = bytes.clone();
    changed[at] = (byte) value;
    return changed;
  }

  private static byte[] zlib(byte[] content, int level) {
    return deflate(content, level, false);
  }

  private static byte[] deflate(byte[] content, int level, boolean bare) {
    Deflater deflater = new Deflater(level, bare);
    deflater.setInput(content);
    deflater.finish();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    byte[] buffer = new byte[8192];
    while (!deflater.finished()) {
      out.write(buffer, 0, deflater.deflate(buffer));
    }
    deflater.end();
    return out.toByteArray();
  }

  static byte[] gzip(byte[] content, int level, int modified) {
    return gzip(content, level, modified, 0, new byte[0]);
  }

  /** With a file name, a comment, a field of its own and the header's check sum. */
  private static byte[] named(byte[] content) {
    return gzip(content, 6, 5, 2 + 4 + 8 + 16, bytes("\u0003\u0000xyzname\u0000comment\u0000"));
  }

  private static byte[] gzip(byte[] content, int level, int modified, int flags, byte[] more) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(new byte[] {0x1f, (byte) 0x8b, 8, (byte) flags});
    out.writeBytes(little(modified));
    out.writeBytes(new byte[] {0, 3});
    out.writeBytes(more);
    if ((flags & 2) != 0) {
      out.writeBytes(Arrays.copyOf(little(crc(out.toByteArray())), 2));
    }
    out.writeBytes(deflate(content, level, true));
    out.writeBytes(little(crc(content)));
    out.writeBytes(little(content.length));
    return out.toByteArray();
  }

  private static byte[] members(byte[] content) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(gzip(Arrays.copyOf(content, 20), 6, 1));
    out.writeBytes(gzip(new byte[0], 6, 2));
    out.writeBytes(gzip(Arrays.copyOfRange(content, 20, content.length), 6, 3));
    return out.toByteArray();
  }

  private static int crc(byte[] bytes) {
    CRC32 crc = new CRC32();
    crc.update(bytes);
    return (int) crc.getValue();
  }

  private static byte[] little(int value) {
    return new byte[] {
      (byte) value, (byte) (value >> 8), (byte) (value >> 16), (byte) (value >> 24)
    };
  }
}
