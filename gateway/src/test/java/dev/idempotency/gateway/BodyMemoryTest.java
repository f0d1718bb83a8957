package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Many large bodies at once: they take no more memory than they may, and give all of it back. */
class BodyMemoryTest {

  private static final int CLIENTS = 200;
  private static final int LARGE = 8 << 20;
  private static final long BUDGET = 64L << 20;

  /** What connections may hold beside the budget; all bodies together would be far more. */
  private static final long MOST_DIRECT = 160L << 20;

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static TestGateway gateway(ScriptedUpstream large, ScriptedUpstream small) {
    return TestGateway.start(
        String.join(
            "\n",
            "store: memory",
            "drain: 1s",
            "threads: 2",
            "limits: { body-budget: 64MiB, body-timeout: 60s }",
            "upstreams:",
            "  large: { url: \"" + large.url() + "\", max-connections: 1000 }",
            "  small: { url: \"" + small.url() + "\" }",
            "routes:",
            "  - name: small",
            "    path: /small",
            "    upstream: small",
            "  - name: stream",
            "    path: /stream",
            "    upstream: large",
            "    response: { limit: 64KiB, mode: stream }",
            "  - name: large",
            "    path: /**",
            "    upstream: large",
            "    request: { limit: 16MiB }",
            "    response: { limit: 16MiB }",
            ""));
  }

  private static void othersStillWork(TestGateway gateway, String key) {
    for (int i = 0; i < 20; i++) {
      RawResponse response = once(gateway.port(), post("/small", key + i, "x".repeat(10_000)));
      assertThat(response.status()).isEqualTo(200);
    }
  }

  private static void allIsGivenBack(TestGateway gateway) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(gateway.gateway().heldBytes()).isZero());
  }

  @Test
  void largeUploadsToAnUpstreamThatDoesNotReadAreHeldBackOrRefused() {
    byte[] request = post("/large", "KEY", "x".repeat(LARGE));
    int keyAt = new String(request, 0, 200, StandardCharsets.ISO_8859_1).indexOf("KEY");
    CountDownLatch gate = new CountDownLatch(1);
    ExecutorService threads = Executors.newCachedThreadPool();
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start(
                    (received, wire) -> {
                      gate.await();
                      skip(wire.in(), Integer.parseInt(received.header("Content-Length")));
                      wire.respond(200, "ok");
                    })
                .withoutReadingBodies();
        ScriptedUpstream small = ScriptedUpstream.ok();
        TestGateway gateway = gateway(upstream, small)) {
      AtomicInteger refused = new AtomicInteger();
      AtomicInteger done = new AtomicInteger();
      List<CompletableFuture<Void>> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        String key = String.format("%03d", i);
        clients.add(
            CompletableFuture.runAsync(
                () -> {
                  int status = upload(gateway.port(), request, keyAt, key);
                  (status == 200 ? done : refused).incrementAndGet();
                  assertThat(status).isIn(200, 503);
                },
                threads));
      }
      await().atMost(PATIENCE).until(() -> gateway.gateway().heldBytes() > BUDGET / 2);
      othersStillWork(gateway, "during");
      await().atMost(PATIENCE).until(() -> refused.get() > 0);
      assertThat(gateway.gateway().heldBytes()).isLessThanOrEqualTo(BUDGET);
      othersStillWork(gateway, "still");
      gate.countDown();
      CompletableFuture.allOf(clients.toArray(CompletableFuture<?>[]::new)).join();
      assertThat(done.get()).isPositive();
      assertThat(done.get() + refused.get()).isEqualTo(CLIENTS);
      allIsGivenBack(gateway);
    } finally {
      threads.shutdownNow();
    }
  }

  /** The status; the key is put in while the bytes go out, so that all share the body. */
  private static int upload(int port, byte[] request, int keyAt, String key) {
    try (RawClient client = RawClient.connect(port)) {
      Thread writer =
          new Thread(
              () -> {
                try {
                  client.send(java.util.Arrays.copyOf(request, keyAt)).send(key);
                  client.send(request, keyAt + key.length());
                } catch (java.io.UncheckedIOException e) {
                  // Answered and closed before the request was out.
                }
              });
      writer.start();
      return client.read(Duration.ofSeconds(60)).status();
    }
  }

  private static void skip(InputStream in, int bytes) throws IOException {
    byte[] buffer = new byte[64 << 10];
    for (int left = bytes; left > 0; ) {
      int read = in.read(buffer, 0, Math.min(left, buffer.length));
      if (read < 0) {
        throw new IOException("cut off");
      }
      left -= read;
    }
  }

  @Test
  void largeResponsesToClientsThatDoNotReadTakeNoMoreThanTheBudget() throws IOException {
    byte[] body = new byte[LARGE];
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start(
                (request, wire) ->
                    // Not in one piece: the bodies are one array, not 200 copies of it.
                    wire.send("HTTP/1.1 200 OK\r\nContent-Length: " + LARGE + "\r\n\r\n")
                        .send(body));
        ScriptedUpstream small = ScriptedUpstream.ok();
        TestGateway gateway = gateway(upstream, small)) {
      long before = PlatformDependent.usedDirectMemory();
      List<Socket> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        clients.add(slowReader(gateway.port(), post("/large", "slow-" + i, "{}")));
      }
      await().atMost(PATIENCE).until(() -> upstream.requests() == CLIENTS);
      await().atMost(PATIENCE).until(() -> gateway.gateway().heldBytes() > BUDGET / 4);
      othersStillWork(gateway, "during");
      assertThat(gateway.gateway().heldBytes()).isLessThanOrEqualTo(BUDGET);
      assertThat(PlatformDependent.usedDirectMemory() - before).isLessThan(MOST_DIRECT);
      for (int i = 0; i < CLIENTS; i += 40) {
        assertThat(bodyBytes(clients.get(i))).isEqualTo(LARGE);
      }
      for (Socket client : clients) {
        client.close();
      }
      allIsGivenBack(gateway);
    }
  }

  @Test
  void replaysToClientsThatDoNotReadAreChargedAndRefusedOverTheBudget() throws IOException {
    // More than the sockets themselves take.
    byte[] body = new byte[LARGE];
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start((request, wire) -> wire.respond(200, body));
        ScriptedUpstream small = ScriptedUpstream.ok();
        TestGateway gateway = gateway(upstream, small)) {
      byte[] request = post("/large", "stored", "{}");
      assertThat(once(gateway.port(), request).body()).hasSize(body.length);
      long before = PlatformDependent.usedDirectMemory();
      List<Socket> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        clients.add(slowReader(gateway.port(), request));
      }
      await().atMost(PATIENCE).until(() -> gateway.gateway().heldBytes() > BUDGET / 16 * 13);
      RawResponse over = once(gateway.port(), request);
      assertThat(over.status()).isEqualTo(503);
      assertThat(over.problem()).isEqualTo("overloaded");
      assertThat(over.header("Retry-After")).isNotNull();
      othersStillWork(gateway, "during");
      assertThat(PlatformDependent.usedDirectMemory() - before).isLessThan(MOST_DIRECT);
      assertThat(bodyBytes(clients.get(0))).isEqualTo(body.length);
      for (Socket client : clients) {
        client.close();
      }
      allIsGivenBack(gateway);
      assertThat(once(gateway.port(), request).isReplay()).isTrue();
    }
  }

  @Test
  void streamsOfEventsTakeNoMoreThanTheirLimitAndNothingAfterTheyOverflow() throws IOException {
    CountDownLatch gate = new CountDownLatch(1);
    byte[] event = ("data: " + "x".repeat(10_000) + "\n\n").getBytes(StandardCharsets.US_ASCII);
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start(
                (request, wire) -> {
                  wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
                  for (int i = 0; i < 5; i++) {
                    wire.send(event);
                  }
                  gate.await();
                  for (int i = 0; i < 20; i++) {
                    wire.send(event);
                  }
                  wire.close();
                });
        ScriptedUpstream small = ScriptedUpstream.ok();
        TestGateway gateway = gateway(upstream, small)) {
      long before = PlatformDependent.usedDirectMemory();
      List<RawClient> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        clients.add(
            RawClient.connect(gateway.port())
                .send(post("/stream", "s-" + i, "{}", "Connection: close")));
      }
      for (RawClient client : clients) {
        client.readUntil("data: xxx");
      }
      await().until(() -> gateway.gateway().heldBytes() >= CLIENTS * 5L * event.length);
      assertThat(gateway.gateway().heldBytes()).isLessThanOrEqualTo(CLIENTS * 66_000L);
      RawResponse duplicate = once(gateway.port(), post("/stream", "s-0", "{}"));
      assertThat(duplicate.problem()).isEqualTo("request-in-flight");
      gate.countDown();
      for (RawClient client : clients) {
        assertThat(client.readToEnd()).endsWith("0\r\n\r\n");
        client.close();
      }
      allIsGivenBack(gateway);
      assertThat(PlatformDependent.usedDirectMemory() - before).isLessThan(MOST_DIRECT);
      duplicate = once(gateway.port(), post("/stream", "s-0", "{}"));
      assertThat(duplicate.problem()).isEqualTo("response-not-kept");
    }
  }

  /** A client that has sent its request and takes next to nothing. */
  private static Socket slowReader(int port, byte[] request) throws IOException {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(4096);
    socket.setSoTimeout(60_000);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    socket.getOutputStream().write(request);
    return socket;
  }

  /** Reads the response on and gives the length of its body. */
  private static long bodyBytes(Socket socket) throws IOException {
    InputStream in = socket.getInputStream();
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      int next = in.read();
      assertThat(next).isNotNegative();
      head.append((char) next);
    }
    String name = "Content-Length: ";
    int at = head.indexOf(name) + name.length();
    int length = Integer.parseInt(head.substring(at, head.indexOf("\r\n", at)));
    skip(in, length);
    return length;
  }
}
