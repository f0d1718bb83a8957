package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static dev.idempotency.gateway.testing.RawClient.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A gateway stops while clients are there; another one on the same Redis goes on. */
class DrainTest {

  private static final byte[] ORDER = post("/orders", "k1", "{}");

  private final ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
  private RedisServer redis;
  private ScriptedUpstream upstream;
  private TestGateway other;

  @BeforeEach
  void start() {
    redis = RedisServer.start();
    upstream =
        ScriptedUpstream.start(
            (request, wire) -> {
              gate.pass();
              wire.respond(200, "done");
            });
    other = gateway("0s");
  }

  @AfterEach
  void stop() {
    gate.open();
    other.close();
    upstream.close();
    redis.close();
  }

  private TestGateway gateway(String drain) {
    return TestGateway.start(
        """
        store: { url: "%s", timeout: 5s }
        drain: %s
        threads: 1
        upstreams:
          app: { url: "%s" }
        routes:
          - { name: orders, path: /orders/**, upstream: app, lease: 1m }
          - { name: streams, path: /streams/**, upstream: app, response: { mode: stream } }
          - { name: free, path: /free/**, upstream: app, idempotency: off }
        """
            .formatted(redis.url(), drain, upstream.url()));
  }

  private static CompletableFuture<Void> closing(TestGateway gateway) {
    int port = gateway.port();
    CompletableFuture<Void> closed = CompletableFuture.runAsync(gateway::close);
    await().atMost(Duration.ofSeconds(10)).until(() -> isRefused(port));
    return closed;
  }

  private static boolean isRefused(int port) {
    try {
      RawClient.connect(port).close();
      return false;
    } catch (UncheckedIOException e) {
      return true;
    }
  }

  /** Well before a drain time of a minute. */
  private static void assertEndsSoon(CompletableFuture<Void> closed) {
    closed.orTimeout(20, TimeUnit.SECONDS).join();
  }

  @Test
  void exchangeInFlightIsFinishedAnsweredAndStored() {
    TestGateway gateway = gateway("1m");
    try (RawClient client = RawClient.connect(gateway.port()).send(ORDER)) {
      await().until(() -> upstream.requests() == 1);
      CompletableFuture<Void> closed = closing(gateway);
      gate.open();

      RawResponse answer = client.read();
      assertThat(answer.text()).isEqualTo("done");
      assertThat(answer.header("Connection")).isEqualTo("close");
      assertThat(client.isClosedByPeer()).isTrue();
      assertEndsSoon(closed);
      assertThat(RawClient.once(other.port(), ORDER).isReplay()).isTrue();
    }
  }

  @Test
  void exchangeWhoseClientLeftIsFinishedAndStored() {
    TestGateway gateway = gateway("1m");
    RawClient client = RawClient.connect(gateway.port()).send(ORDER);
    await().until(() -> upstream.requests() == 1);
    client.reset();
    CompletableFuture<Void> closed = closing(gateway);
    gate.open();

    assertEndsSoon(closed);
    assertThat(RawClient.once(other.port(), ORDER).isReplay()).isTrue();
    assertThat(upstream.requests()).isEqualTo(1);
  }

  @Test
  void connectionAtRestIsClosedAtOnce() {
    gate.open();
    TestGateway gateway = gateway("1m");
    try (RawClient fresh = RawClient.connect(gateway.port());
        RawClient used = RawClient.connect(gateway.port()).send(ORDER)) {
      assertThat(used.read().header("Connection")).isNull();
      CompletableFuture<Void> closed = closing(gateway);

      assertThat(used.isClosedByPeer()).isTrue();
      assertThat(fresh.isClosedByPeer()).isTrue();
      assertEndsSoon(closed);
    }
  }

  @Test
  void responseThatBeganBeforeTheDrainEndsItsConnection() {
    upstream.script(
        (request, wire) -> {
          wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
          gate.pass();
          wire.send("3\r\ntwo\r\n0\r\n\r\n");
        });
    TestGateway gateway = gateway("1m");
    try (RawClient keyed = RawClient.connect(gateway.port()).send(post("/streams/1", "k1", "{}"));
        RawClient free =
            RawClient.connect(gateway.port()).send(request("GET", "/free/1", null, null, null))) {
      assertThat(keyed.peek()).isEqualTo('H');
      assertThat(free.peek()).isEqualTo('H');
      CompletableFuture<Void> closed = closing(gateway);
      gate.open();

      assertThat(keyed.read().text()).isEqualTo("onetwo");
      assertThat(free.read().text()).isEqualTo("onetwo");
      assertThat(keyed.isClosedByPeer()).isTrue();
      assertThat(free.isClosedByPeer()).isTrue();
      assertEndsSoon(closed);
    }
  }

  @Test
  void exchangeBeyondTheLimitIsUnknownAtOnceAndItsClientIsTold() {
    TestGateway gateway = gateway("200ms");
    try (RawClient client = RawClient.connect(gateway.port()).send(ORDER)) {
      await().until(() -> upstream.requests() == 1);
      CompletableFuture<Void> closed = closing(gateway);

      RawResponse answer = client.read();
      assertThat(answer.status()).isEqualTo(502);
      assertThat(answer.problem()).isEqualTo("outcome-unknown");
      // The lease had lived for a minute.
      assertThat(RawClient.once(other.port(), ORDER).problem()).isEqualTo("outcome-unknown");
      assertThat(upstream.requests()).isEqualTo(1);
      assertEndsSoon(closed);
    }
  }

  @Test
  void requestThatIsNotWholeAtTheLimitIsRefusedAndItsKeyIsFree() {
    TestGateway gateway = gateway("200ms");
    String whole = new String(ORDER, java.nio.charset.StandardCharsets.ISO_8859_1);
    try (RawClient client =
        RawClient.connect(gateway.port()).send(whole.substring(0, whole.length() - 1))) {
      await().until(() -> gateway.gateway().underWay() == 1);
      CompletableFuture<Void> closed = closing(gateway);

      assertThat(client.read().problem()).isEqualTo("shutting-down");
      assertEndsSoon(closed);
      gate.open();
      assertThat(RawClient.once(other.port(), ORDER).status()).isEqualTo(200);
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }
}
