package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Gate;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies far larger than the gateway's memory, in a process that has little of it. */
class StreamingTest {

  private static final String[] LITTLE_MEMORY = {"-Xmx64m", "-XX:MaxDirectMemorySize=64m"};
  private static final long SIZE = 300L << 20;
  private static final int PIECE = 1 << 20;

  /** The resident memory of such a process, with the JVM's own, stays far under the body's size. */
  private static final long MOST_RESIDENT_KIB = 280L * 1024;

  /** Bytes that differ from piece to piece, so that a lost or a swapped one is seen. */
  private static byte[] piece(long number) {
    byte[] piece = new byte[PIECE];
    for (int i = 0; i < PIECE; i += 8) {
      piece[i] = (byte) (number * 31 + i * 7L);
      piece[i + 1] = (byte) (i >> 8);
    }
    return piece;
  }

  private static void send(OutputStream out, boolean chunked, AtomicLong sent) throws IOException {
    for (long number = 0; number * PIECE < SIZE; number++) {
      if (chunked) {
        out.write("100000\r\n".getBytes(StandardCharsets.US_ASCII));
      }
      out.write(piece(number));
      if (chunked) {
        out.write("\r\n".getBytes(StandardCharsets.US_ASCII));
      }
      sent.addAndGet(PIECE);
    }
    if (chunked) {
      out.write("0\r\nX-Sum: 7\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    }
    out.flush();
  }

  private static long expectedSum() {
    CRC32C sum = new CRC32C();
    for (long number = 0; number * PIECE < SIZE; number++) {
      sum.update(piece(number));
    }
    return sum.getValue();
  }

  /** Reads the body, by its framing, and gives its sum; then its trailers. */
  private static long receive(InputStream in, boolean chunked) throws IOException {
    CRC32C sum = new CRC32C();
    byte[] buffer = new byte[64 << 10];
    long left = chunked ? chunkSize(in) : SIZE;
    while (left > 0) {
      int read = in.read(buffer, 0, (int) Math.min(left, buffer.length));
      if (read < 0) {
        throw new IOException("cut off");
      }
      sum.update(buffer, 0, read);
      left -= read;
      if (left == 0 && chunked) {
        line(in);
        left = chunkSize(in);
      }
    }
    return sum.getValue();
  }

  private static long chunkSize(InputStream in) throws IOException {
    return Long.parseLong(line(in), 16);
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int b = in.read(); b != '\n' && b >= 0; b = in.read()) {
      if (b != '\r') {
        line.append((char) b);
      }
    }
    return line.toString();
  }

  private static void skipHead(InputStream in) throws IOException {
    while (!line(in).isEmpty()) {}
  }

  private static String framing(boolean chunked) {
    return chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "Content-Length: " + SIZE + "\r\n\r\n";
  }

  private static void write(OutputStream out, String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.US_ASCII));
    out.flush();
  }

  /** Waits until a sender has not got on for a while: it is blocked by its peer's full buffers. */
  private static void waitUntilBlocked(AtomicLong sent) {
    AtomicLong before = new AtomicLong();
    await()
        .atMost(30, TimeUnit.SECONDS)
        .pollInterval(100, TimeUnit.MILLISECONDS)
        .during(500, TimeUnit.MILLISECONDS)
        .until(() -> sent.get() > 0 && before.getAndSet(sent.get()) == sent.get());
  }

  private static void assertLittleMemory(GatewayProcess gateway) throws IOException {
    long kib =
        Files.readAllLines(Path.of("/proc/" + gateway.pid() + "/status")).stream()
            .filter(line -> line.startsWith("VmHWM:"))
            .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
            .sum();
    assertThat(kib).isLessThan(MOST_RESIDENT_KIB);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void largeUploadToASlowUpstreamIsHeldBack(boolean chunked) throws Exception {
    Gate gate = new Gate();
    CompletableFuture<Long> sum = new CompletableFuture<>();
    AtomicLong sent = new AtomicLong();
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start(
                    (request, wire) -> {
                      gate.pass();
                      sum.complete(receive(wire.in(), chunked));
                      if (chunked) {
                        skipHead(wire.in());
                      }
                      wire.respond(200, "ok");
                    })
                .withoutReadingBodies();
        GatewayProcess gateway =
            GatewayProcess.start(EdgeYaml.of(upstream.url()).toString(), LITTLE_MEMORY);
        Socket client = new Socket(InetAddress.getLoopbackAddress(), gateway.port())) {
      write(client.getOutputStream(), "POST /a HTTP/1.1\r\nHost: gw.test\r\n" + framing(chunked));
      Thread writer = writer(() -> send(client.getOutputStream(), chunked, sent));
      waitUntilBlocked(sent);
      assertThat(sent.get()).isLessThan(SIZE / 3);
      gate.open();
      assertThat(sum.join()).isEqualTo(expectedSum());
      assertThat(line(client.getInputStream())).startsWith("HTTP/1.1 200");
      writer.join();
      assertLittleMemory(gateway);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void largeDownloadToASlowClientIsHeldBack(boolean chunked) throws Exception {
    AtomicLong sent = new AtomicLong();
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start(
                (request, wire) -> {
                  wire.send("HTTP/1.1 200 OK\r\n" + framing(chunked));
                  send(wire.socket().getOutputStream(), chunked, sent);
                });
        GatewayProcess gateway =
            GatewayProcess.start(EdgeYaml.of(upstream.url()).toString(), LITTLE_MEMORY);
        Socket client = new Socket(InetAddress.getLoopbackAddress(), gateway.port())) {
      write(client.getOutputStream(), "GET /a HTTP/1.1\r\nHost: gw.test\r\n\r\n");
      waitUntilBlocked(sent);
      assertThat(sent.get()).isLessThan(SIZE / 3);
      InputStream in = new BufferedInputStream(client.getInputStream(), 64 << 10);
      skipHead(in);
      assertThat(receive(in, chunked)).isEqualTo(expectedSum());
      if (chunked) {
        assertThat(line(in)).isEqualTo("X-Sum: 7");
      }
      assertLittleMemory(gateway);
    }
  }

  @Test
  void downloadOfAClientThatGoesIsGivenUp() {
    AtomicLong sent = new AtomicLong();
    CompletableFuture<Boolean> cut = new CompletableFuture<>();
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start(
                (request, wire) -> {
                  wire.send("HTTP/1.1 200 OK\r\n" + framing(false));
                  try {
                    send(wire.socket().getOutputStream(), false, sent);
                    cut.complete(false);
                  } catch (IOException e) {
                    cut.complete(true);
                    throw e;
                  }
                });
        TestGateway gateway = EdgeYaml.of(upstream.url()).start();
        RawClient client = RawClient.connect(gateway.port())) {
      client.send("GET /a HTTP/1.1\r\nHost: gw.test\r\n\r\n");
      waitUntilBlocked(sent);
      client.reset();
      assertThat(cut.join()).isTrue();
    }
  }

  private interface Task {
    void run() throws IOException;
  }

  private static Thread writer(Task task) {
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } catch (IOException e) {
                // Seen by the one who reads.
              }
            });
    thread.start();
    return thread;
  }
}
