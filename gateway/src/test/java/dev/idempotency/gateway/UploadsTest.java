package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Gate;
import io.netty.util.internal.PlatformDependent;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

/** Keyed bodies that stream through and are hashed on the way. */
class UploadsTest {

  private static final int LARGE = 8 << 20;

  private static TestGateway start(ScriptedUpstream upstream, String store, String... route) {
    List<String> lines =
        new ArrayList<>(
            List.of(
                "idempotency: required",
                "fingerprint: { body: raw }",
                "request: { mode: stream, limit: 12MiB }"));
    lines.addAll(List.of(route));
    return TestGateway.start(
        "limits: { body-budget: 1MiB, body-timeout: 60s }\n"
            + TestGateway.yaml(upstream.url(), store, lines.toArray(String[]::new))
                // All at once, not one after the other.
                .replace(upstream.url() + '"', upstream.url() + "\", max-connections: 1000"));
  }

  private static byte[] body(int length) {
    byte[] body = new byte[length];
    new Random(length).nextBytes(body);
    return body;
  }

  private static byte[] upload(String key, byte[] body) {
    return RawClient.request("POST", "/files", key, "application/octet-stream", body);
  }

  private static byte[] chunked(String key, byte[] body) {
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    request.writeBytes(ascii("POST /files HTTP/1.1\r\nHost: gw.test\r\nIdempotency-Key: " + key));
    request.writeBytes(
        ascii("\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n"));
    for (int at = 0; at < body.length; at += 50_000) {
      int length = Math.min(50_000, body.length - at);
      request.writeBytes(ascii(Integer.toHexString(length) + "\r\n"));
      request.write(body, at, length);
      request.writeBytes(ascii("\r\n"));
    }
    request.writeBytes(ascii("0\r\n\r\n"));
    return request.toByteArray();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  @OnBothStores
  void uploadLargerThanAllMemoryForBodiesIsForwardedOnceAndReplayed(String store) {
    byte[] body = body(LARGE);
    byte[] other = body.clone();
    other[LARGE - 1] ^= 1;
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start((request, wire) -> wire.respond(201, "stored"));
        TestGateway gateway = start(upstream, store)) {
      assertThat(once(gateway.port(), upload("k", body)).text()).isEqualTo("stored");
      assertThat(upstream.last().body()).isEqualTo(body);
      assertThat(upstream.last().header("Idempotency-Attempt")).isEqualTo("1");
      assertThat(upstream.last().header("Content-Length")).isEqualTo("" + LARGE);

      RawResponse replay = once(gateway.port(), upload("k", body));
      assertThat(replay.isReplay()).isTrue();
      assertThat(replay.text()).isEqualTo("stored");
      // However it is framed, it is the same request.
      assertThat(once(gateway.port(), chunked("k", body)).isReplay()).isTrue();
      assertThat(once(gateway.port(), upload("k", other)).problem()).isEqualTo("key-reused");
      assertThat(once(gateway.port(), chunked("c", body)).text()).isEqualTo("stored");
      assertThat(upstream.last().body()).isEqualTo(body);
      assertThat(upstream.last().header("Transfer-Encoding")).isEqualTo("chunked");
      assertThat(upstream.requests()).isEqualTo(2);
      await().until(() -> gateway.gateway().heldBytes() == 0);
    }
  }

  @OnBothStores
  void uploadThatTurnsOutEmptyIsForwardedAndReplayed(String store) {
    byte[] empty = chunked("k", new byte[0]);
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start((request, wire) -> wire.respond(201, "stored"));
        TestGateway gateway = start(upstream, store)) {
      assertThat(once(gateway.port(), empty).text()).isEqualTo("stored");
      assertThat(upstream.last().body()).isEmpty();
      assertThat(once(gateway.port(), empty).isReplay()).isTrue();
      // However it is framed, it is the same request.
      assertThat(once(gateway.port(), upload("k", new byte[0])).isReplay()).isTrue();
      assertThat(once(gateway.port(), chunked("k", body(1))).problem()).isEqualTo("key-reused");
      assertThat(upstream.requests()).isEqualTo(1);
      assertThat(gateway.gateway().underWay()).isZero();
    }
  }

  @OnBothStores
  void uploadThatBreaksOffNeverIsWholeAndIsTakenOver(String store) {
    byte[] body = body(300_000);
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start((request, wire) -> wire.respond(201, "stored"));
        TestGateway gateway = start(upstream, store, "unknown: retry")) {
      for (byte[] request : List.of(upload("k", body), chunked("c", body))) {
        int before = upstream.connections();
        try (RawClient client = RawClient.connect(gateway.port())) {
          client.send(Arrays.copyOf(request, request.length - 100));
          await().until(() -> upstream.connections() > before);
        }
        await().until(() -> upstream.openConnections() == 0);
        int whole = upstream.requests();
        await().until(() -> gateway.gateway().underWay() == 0 && upstream.requests() == whole);
        assertThat(once(gateway.port(), request).text()).isEqualTo("stored");
        assertThat(upstream.requests()).isEqualTo(whole + 1);
        assertThat(upstream.last().header("Idempotency-Attempt")).isEqualTo("2");
        assertThat(upstream.last().body()).isEqualTo(body);
      }
    }
  }

  @OnBothStores
  void uploadThatBreaksOffIsHeldWhereTheRouteSaysSo(String store) {
    byte[] request = upload("k", body(300_000));
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = start(upstream, store)) {
      try (RawClient client = RawClient.connect(gateway.port())) {
        client.send(Arrays.copyOf(request, request.length - 100));
        await().until(() -> upstream.connections() == 1);
      }
      await().until(() -> gateway.gateway().underWay() == 0);
      assertThat(once(gateway.port(), request).problem()).isEqualTo("outcome-unknown");
      assertThat(upstream.requests()).isZero();
    }
  }

  @Test
  void chunkedUploadOverTheLimitIsCutOff() {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = start(upstream, "memory")) {
      RawResponse refused =
          RawClient.onceIgnoringWriteFailure(gateway.port(), chunked("k", body(13 << 20)));
      assertThat(refused.problem()).isEqualTo("body-too-large");
      assertThat(refused.header("Connection")).isEqualTo("close");
      assertThat(upstream.requests()).isZero();
    }
  }

  @Test
  void earlyAnswerIsGivenAndReplayedWhenTheRestHasBeenSeen() {
    byte[] body = body(2 << 20);
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start(
                    (request, wire) -> {
                      wire.respond(413, "no", "Connection: close");
                      // What is unread would reset the answer away.
                      wire.socket().shutdownOutput();
                      skip(wire.in());
                    })
                .withoutReadingBodies();
        TestGateway gateway = start(upstream, "memory")) {
      RawResponse told = once(gateway.port(), upload("k", body));
      assertThat(told.status()).isEqualTo(413);
      assertThat(told.text()).isEqualTo("no");
      RawResponse again = once(gateway.port(), upload("k", body));
      assertThat(again.isReplay()).isTrue();
      assertThat(again.text()).isEqualTo("no");
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  private static void skip(InputStream in) throws java.io.IOException {
    byte[] buffer = new byte[64 << 10];
    while (in.read(buffer) >= 0) {}
  }

  @Test
  void bodyThatIsNotWantedIsNotAskedFor() {
    Gate gate = new Gate();
    byte[] body = body(100_000);
    byte[] request =
        RawClient.request("POST", "/files", "k", "text/plain", body, "Expect: 100-continue");
    int head = request.length - body.length;
    try (ScriptedUpstream upstream = ScriptedUpstream.start(gate::passAndAnswer);
        TestGateway gateway = start(upstream, "memory");
        RawClient first = RawClient.connect(gateway.port());
        RawClient second = RawClient.connect(gateway.port())) {
      first.send(Arrays.copyOf(request, head));
      assertThat(first.readAny(false).status()).isEqualTo(100);
      first.send(Arrays.copyOfRange(request, head, head + 50_000));
      second.send(Arrays.copyOf(request, head));
      assertThat(second.readAny(false).status()).isEqualTo(409);
      first.send(request, head + 50_000);
      gate.open();
      assertThat(first.read().status()).isEqualTo(200);
    }
  }

  @Test
  void manyUploadsToAnUpstreamThatDoesNotReadKeepMemoryFlat() {
    // A gate's patience is too short for so many.
    CountDownLatch gate = new CountDownLatch(1);
    byte[] body = body(LARGE);
    ExecutorService threads = Executors.newCachedThreadPool();
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start(
                    (request, wire) -> {
                      gate.await();
                      byte[] buffer = new byte[64 << 10];
                      for (int left = LARGE; left > 0; ) {
                        int read = wire.in().read(buffer, 0, Math.min(left, buffer.length));
                        if (read < 0) {
                          return;
                        }
                        left -= read;
                      }
                      wire.respond(200, "ok");
                    })
                .withoutReadingBodies();
        TestGateway gateway = start(upstream, "memory")) {
      long before = PlatformDependent.usedDirectMemory();
      List<CompletableFuture<Integer>> clients = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        byte[] head = upload("k-" + i, new byte[0]);
        clients.add(CompletableFuture.supplyAsync(() -> send(gateway.port(), head, body), threads));
      }
      await().atMost(Duration.ofSeconds(60)).until(() -> upstream.requests() == 200);
      assertThat(gateway.gateway().heldBytes()).isZero();
      assertThat(PlatformDependent.usedDirectMemory() - before).isLessThan(160L << 20);
      gate.countDown();
      clients.forEach(client -> assertThat(client.join()).isEqualTo(200));
      assertThat(PlatformDependent.usedDirectMemory() - before).isLessThan(160L << 20);
    } finally {
      threads.shutdownNow();
    }
  }

  private static int send(int port, byte[] emptyUpload, byte[] body) {
    String head = new String(emptyUpload, StandardCharsets.US_ASCII);
    try (RawClient client = RawClient.connect(port)) {
      client.send(head.replace("Content-Length: 0", "Content-Length: " + body.length));
      return client.send(body, 0).read(Duration.ofSeconds(60)).status();
    }
  }
}
