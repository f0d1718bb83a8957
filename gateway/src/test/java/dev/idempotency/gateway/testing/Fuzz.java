package dev.idempotency.gateway.testing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/**
 * Damage at random that can be repeated: every case has a generator of its own, made of the seed
 * ({@code -Dfuzz.seed}) and the number of the case. How long it goes on: {@code -Dfuzz.seconds}.
 * One case only: {@code -Dfuzz.case}.
 */
public final class Fuzz {

  public static final long SEED = Long.getLong("fuzz.seed", 20_261_129L);

  /** What breaks framing, and what looks as if it did. */
  private static final List<String> WORDS =
      List.of(
          "\r\n",
          "\n",
          "\r",
          "\r\n\r\n",
          "\r\n ",
          "\r\n\t",
          " ",
          "\t",
          ":",
          ";",
          ",",
          "=",
          "\"",
          "\0",
          "\u00ff",
          "\u0085",
          "\u000b",
          "0",
          "9",
          "-1",
          "+1",
          "0x",
          "chunked",
          "Transfer-Encoding: chunked\r\n",
          "Transfer-Encoding: gzip\r\n",
          "Transfer-Encoding : chunked\r\n",
          "Content-Length: 3\r\n",
          "Content-Length: 0\r\n",
          "Content-Length: 3, 3\r\n",
          "Content_Length: 3\r\n",
          "Connection: close\r\n",
          "Connection: keep-alive\r\n",
          "Connection: X-Fuzz-Id\r\n",
          "HTTP/1.0",
          "HTTP/1.1",
          "HEAD ",
          "Host: other\r\n",
          "Expect: 100-continue\r\n",
          "Upgrade: websocket\r\n",
          "GET / ",
          "GET /hidden HTTP/1.1\r\nHost: gw.test\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhidden",
          "HTTP/1.1 100 Continue\r\n\r\n",
          "ffffffffffffffff",
          "8000000000000001",
          "0\r\n\r\n",
          "Idempotency-Key: x\r\n",
          "#",
          "?",
          "%00",
          "%2e",
          "%2f",
          "..",
          "//",
          "*",
          "http://gw.test/");

  private final Random random;

  private Fuzz(Random random) {
    this.random = random;
  }

  /** The generator of one case. */
  public static Fuzz of(long number) {
    return new Fuzz(Seeds.random(SEED * 1_000_003 + number));
  }

  /** What a case does. */
  public interface Case {
    void run(Fuzz fuzz, long number) throws Exception;
  }

  /**
   * Runs case after case, some at the same time. Where nobody says how long, the cases are the same
   * on a fast machine as on a slow one, of which there may be fewer.
   *
   * @param seconds how long at most, where nobody says otherwise
   * @param cases how many at most, where nobody says how long
   * @return how many there were
   */
  public static long run(int threads, int seconds, long cases, Case each) throws Exception {
    Long only = Long.getLong("fuzz.case");
    if (only != null) {
      each.run(of(only), only);
      return 1;
    }
    long nanos = Integer.getInteger("fuzz.seconds", seconds) * 1_000_000_000L;
    long until = System.nanoTime() + nanos;
    long most = Integer.getInteger("fuzz.seconds") == null ? cases : Long.MAX_VALUE;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Future<Long>> all = new ArrayList<>();
      for (int thread = 0; thread < threads; thread++) {
        int first = thread;
        all.add(pool.submit(worker(first, threads, until, most, each)));
      }
      long sum = 0;
      for (Future<Long> one : all) {
        sum += one.get();
      }
      System.out.println("fuzz.seed " + SEED + ": " + sum + " cases");
      return sum;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof AssertionError error) {
        throw error;
      }
      throw e;
    } finally {
      pool.shutdownNow();
    }
  }

  private static Callable<Long> worker(int first, int step, long until, long most, Case each) {
    return () -> {
      long number = first;
      for (; number < most && System.nanoTime() < until && !Thread.interrupted(); number += step) {
        try {
          each.run(of(number), number);
        } catch (Throwable e) {
          throw new AssertionError("fuzz.seed " + SEED + ", case " + number + ": " + e, e);
        }
      }
      return (number - first) / step;
    };
  }

  /** The bytes in a form that can be sent again, and one that can be read. */
  public static String shown(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    return "\n  hex " + HexFormat.of().formatHex(bytes) + "\n  text " + escaped(text);
  }

  public static String escaped(String text) {
    StringBuilder shown = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '\r' -> shown.append("\\r");
        case '\n' -> shown.append("\\n");
        default -> shown.append(c < 0x20 || c > 0x7e ? String.format("\\x%02x", (int) c) : c);
      }
    }
    return shown.toString();
  }

  /** The files of the cases with that ending. */
  public static List<byte[]> files(String ending) {
    try {
      Path folder = Path.of(Fuzz.class.getResource("/cases").toURI());
      List<byte[]> all = new ArrayList<>();
      try (Stream<Path> files = Files.list(folder)) {
        for (Path file : files.filter(it -> it.toString().endsWith(ending)).sorted().toList()) {
          all.add(Files.readAllBytes(file));
        }
      }
      return all;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  public int below(int bound) {
    return random.nextInt(bound);
  }

  public boolean oneIn(int many) {
    return random.nextInt(many) == 0;
  }

  public <T> T any(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  /** Up to three times damaged; another message is there to be mixed in. */
  public byte[] damaged(byte[] message, byte[] other) {
    byte[] bytes = message;
    for (int times = 1 + below(3); times > 0 && bytes.length > 2; times--) {
      bytes = damagedOnce(bytes, other);
    }
    return bytes;
  }

  private byte[] damagedOnce(byte[] bytes, byte[] other) {
    int at = below(bytes.length);
    int end = Math.min(bytes.length, at + 1 + below(oneIn(4) ? 40 : 4));
    byte[] copy = bytes.clone();
    switch (below(11)) {
      case 0 -> copy[at] = (byte) below(256);
      case 1 -> copy[at] ^= (byte) (1 << below(8));
      case 2 -> copy = spliced(bytes, at, new byte[0], end);
      case 3 -> copy = spliced(bytes, at, Arrays.copyOfRange(bytes, at, end), at);
      case 4 -> copy = Arrays.copyOf(bytes, at);
      case 5 -> {
        int from = below(other.length);
        copy = spliced(bytes, at, Arrays.copyOfRange(other, from, other.length), bytes.length);
      }
      case 6 -> copy = lines(bytes, true);
      case 7 -> copy = lines(bytes, false);
      default ->
          copy =
              spliced(
                  bytes, at, any(WORDS).getBytes(StandardCharsets.ISO_8859_1), oneIn(3) ? end : at);
    }
    return copy;
  }

  /** The bytes before one position, others, and the bytes from a position on. */
  private static byte[] spliced(byte[] bytes, int before, byte[] insert, int from) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.write(bytes, 0, before);
    all.writeBytes(insert);
    all.write(bytes, from, bytes.length - from);
    return all.toByteArray();
  }

  /** Two lines swapped, or one of them said again elsewhere. */
  private byte[] lines(byte[] bytes, boolean swap) {
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    List<String> lines = new ArrayList<>(List.of(text.split("\r\n", -1)));
    int one = below(lines.size());
    int two = below(lines.size());
    if (swap) {
      Collections.swap(lines, one, two);
    } else {
      lines.add(two, lines.get(one));
    }
    return String.join("\r\n", lines).getBytes(StandardCharsets.ISO_8859_1);
  }

  /** The bytes in one piece, or cut at random before that position. */
  public List<byte[]> pieces(byte[] bytes, int before) {
    List<byte[]> pieces = new ArrayList<>();
    int from = 0;
    for (int cuts = below(2) * below(6); cuts > 0 && from + 1 < before; cuts--) {
      int to = from + 1 + below(before - from - 1);
      pieces.add(Arrays.copyOfRange(bytes, from, to));
      from = to;
    }
    pieces.add(Arrays.copyOfRange(bytes, from, bytes.length));
    return pieces;
  }
}
