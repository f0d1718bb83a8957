package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.FaultProxy;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A gateway process dies, or stops for longer than its lease, and another one goes on. */
class GatewayDeathIT {

  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final byte[] HELD = post("/hold/orders", "k1", "{\"a\":1}");
  private static final byte[] ASKED = post("/ask/orders", "k1", "{\"a\":1}");
  private static final byte[] RETRIED = post("/retry/orders", "k1", "{\"a\":1}");

  private RedisServer redis;
  private ScriptedUpstream upstream;
  private TestGateway other;

  @BeforeEach
  void start() {
    redis = RedisServer.start();
    upstream = ScriptedUpstream.ok();
    other = TestGateway.start(yaml(redis.url(), upstream.url()));
  }

  @AfterEach
  void stop() {
    other.close();
    upstream.close();
    redis.close();
  }

  private static String yaml(String store, String upstreamUrl) {
    return """
    store: { url: "%s", timeout: 10s }
    sweep: { every: 200ms }
    drain: 1s
    threads: 1
    upstreams:
      app: { url: "%s", connect-timeout: 1s }
    routes:
      - { name: held, path: /hold/**, upstream: app, lease: 3s }
      - { name: retried, path: /retry/**, upstream: app, lease: 3s, unknown: retry }
      - { name: asked, path: /ask/**, upstream: app, lease: 1s, unknown: probe,
          probe: { url: "/by-key/{key}", grace: 0s, back-off: 1m, status: 201 } }
    """
        .formatted(store, upstreamUrl);
  }

  private static CompletableFuture<RawResponse> send(int port, byte[] request) {
    RawClient client = RawClient.connect(port).send(request);
    return CompletableFuture.supplyAsync(
        () -> {
          try (client) {
            return client.read();
          }
        });
  }

  private RawResponse askOther(byte[] request) {
    return RawClient.once(other.port(), request);
  }

  private void awaitFromOther(byte[] request, String what) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(says(askOther(request))).isEqualTo(what));
  }

  /** The problem's name, or the body. */
  private static String says(RawResponse response) {
    String problem = response.problem();
    return problem == null ? response.status() + " " + response.text() : problem;
  }

  /** How many operations are not finished. */
  private int open() {
    return Integer.parseInt(redis.call("ZCARD", "idem:open"));
  }

  private long sent(String path) {
    return upstream.received().stream().filter(r -> r.line().contains(path)).count();
  }

  @Test
  void killedWhileTheUpstreamWorksIsHeldOrRetriedAfterTheLease() {
    ScriptedUpstream.Gate never = new ScriptedUpstream.Gate();
    upstream.script(
        (request, wire) -> {
          if ("1".equals(request.header("Idempotency-Attempt"))) {
            never.pass();
          }
          wire.respond(200, "second");
        });
    try (GatewayProcess gateway = GatewayProcess.start(yaml(redis.url(), upstream.url()))) {
      CompletableFuture<RawResponse> held = send(gateway.port(), HELD);
      CompletableFuture<RawResponse> retried = send(gateway.port(), RETRIED);
      await().atMost(PATIENCE).until(() -> upstream.requests() == 2);
      gateway.kill();

      assertThat(held.handle((answer, cut) -> cut)).succeedsWithin(PATIENCE).isNotNull();
      assertThat(retried.handle((answer, cut) -> cut)).succeedsWithin(PATIENCE).isNotNull();
      assertThat(says(askOther(HELD))).isEqualTo("request-in-flight");
      assertThat(says(askOther(RETRIED))).isEqualTo("request-in-flight");
      awaitFromOther(HELD, "outcome-unknown");
      awaitFromOther(RETRIED, "200 second");
      RawResponse replay = askOther(RETRIED);

      assertThat(says(askOther(HELD))).isEqualTo("outcome-unknown");
      assertThat(sent("/hold")).isEqualTo(1);
      assertThat(sent("/retry")).isEqualTo(2);
      assertThat(upstream.last().header("Idempotency-Attempt")).isEqualTo("2");
      assertThat(replay.isReplay()).isTrue();
    } finally {
      never.open();
    }
  }

  @Test
  void killedWhileTheUpstreamWorksHealsByOneQuestionBeforeItsClientAsks() {
    ScriptedUpstream.Gate never = new ScriptedUpstream.Gate();
    upstream.script(
        (request, wire) -> {
          if (request.line().startsWith("GET")) {
            wire.respond(200, "the order");
          } else {
            never.pass();
          }
        });
    try (GatewayProcess gateway = GatewayProcess.start(yaml(redis.url(), upstream.url()));
        TestGateway third = TestGateway.start(yaml(redis.url(), upstream.url()))) {
      await().atMost(PATIENCE).until(third::isReady);
      CompletableFuture<RawResponse> lost = send(gateway.port(), ASKED);
      await().atMost(PATIENCE).until(() -> sent("/ask/orders") == 1);
      gateway.kill();
      assertThat(lost.handle((answer, cut) -> cut)).succeedsWithin(PATIENCE).isNotNull();
      await().atMost(PATIENCE).until(() -> open() == 0);
      RawResponse replay = askOther(ASKED);

      assertThat(says(replay)).isEqualTo("201 the order");
      assertThat(replay.isReplay()).isTrue();
      assertThat(sent("/by-key/k1 ")).isEqualTo(1);
      assertThat(sent("/ask/orders")).isEqualTo(1);
    } finally {
      never.open();
    }
  }

  @Test
  void stoppedBetweenReservationAndSendingSendsNothingAfterATakeOver() {
    try (FaultProxy proxy = FaultProxy.to(redis);
        GatewayProcess gateway =
            GatewayProcess.start(yaml("redis://127.0.0.1:" + proxy.port(), upstream.url()))) {
      // Opens the connections, so that the next reply is that of the reservation.
      assertThat(RawClient.once(gateway.port(), post("/retry/warm", "w", "{}")).status())
          .isEqualTo(200);
      proxy.delay(Duration.ofSeconds(1));
      CompletableFuture<RawResponse> stopped = send(gateway.port(), RETRIED);
      await().atMost(PATIENCE).until(() -> open() == 1);
      gateway.pause();
      proxy.pass();
      upstream.script((request, wire) -> wire.respond(200, "by another"));
      awaitFromOther(RETRIED, "200 by another");
      upstream.script((request, wire) -> wire.respond(200, "on a lost lease"));
      gateway.resume();

      RawResponse answer = stopped.orTimeout(20, TimeUnit.SECONDS).join();
      assertThat(says(answer)).isEqualTo("200 by another");
      assertThat(answer.isReplay()).isTrue();
      assertThat(sent("/retry/orders")).isEqualTo(1);
      assertThat(says(askOther(RETRIED))).isEqualTo("200 by another");
    }
  }

  @Test
  void stoppedWhileConnectingAnswersFromTheRecordOfTheTakeOver() throws IOException {
    try (Clogged clogged = new Clogged();
        GatewayProcess gateway =
            GatewayProcess.start(yaml(redis.url(), "http://127.0.0.1:" + clogged.port()))) {
      CompletableFuture<RawResponse> stopped = send(gateway.port(), RETRIED);
      await().atMost(PATIENCE).until(() -> open() == 1);
      gateway.pause();
      upstream.script((request, wire) -> wire.respond(200, "by another"));
      awaitFromOther(RETRIED, "200 by another");
      gateway.resume();

      RawResponse answer = stopped.orTimeout(20, TimeUnit.SECONDS).join();
      assertThat(says(answer)).isEqualTo("200 by another");
      assertThat(answer.isReplay()).isTrue();
      assertThat(says(askOther(RETRIED))).isEqualTo("200 by another");
    }
  }

  @Test
  void stoppedAfterSendingCompletesLateOrIsFenced() {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    upstream.script(
        (request, wire) -> {
          String attempt = request.header("Idempotency-Attempt");
          if (attempt.equals("1")) {
            gate.pass();
          }
          wire.respond(200, "attempt " + attempt);
        });
    try (GatewayProcess gateway = GatewayProcess.start(yaml(redis.url(), upstream.url()))) {
      CompletableFuture<RawResponse> held = send(gateway.port(), HELD);
      CompletableFuture<RawResponse> retried = send(gateway.port(), RETRIED);
      await().atMost(PATIENCE).until(() -> upstream.requests() == 2);
      gateway.pause();
      gate.open();
      awaitFromOther(HELD, "outcome-unknown");
      awaitFromOther(RETRIED, "200 attempt 2");
      gateway.resume();

      RawResponse late = held.orTimeout(20, TimeUnit.SECONDS).join();
      RawResponse fenced = retried.orTimeout(20, TimeUnit.SECONDS).join();
      assertThat(says(late)).isEqualTo("200 attempt 1");
      assertThat(says(fenced)).isEqualTo("200 attempt 2");
      assertThat(fenced.isReplay()).isTrue();
      assertThat(says(askOther(HELD))).isEqualTo("200 attempt 1");
      assertThat(says(askOther(RETRIED))).isEqualTo("200 attempt 2");
      assertThat(sent("/hold")).isEqualTo(1);
      assertThat(sent("/retry")).isEqualTo(2);
    }
  }

  /** A listener whose queue is full: connecting hangs. */
  private static final class Clogged implements AutoCloseable {
    private final ServerSocket listener;
    private final List<Socket> fillers = new ArrayList<>();

    Clogged() throws IOException {
      listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
      for (boolean room = true; room; ) {
        Socket filler = new Socket();
        fillers.add(filler);
        try {
          filler.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port()), 300);
        } catch (SocketTimeoutException e) {
          room = false;
        }
      }
    }

    int port() {
      return listener.getLocalPort();
    }

    @Override
    public void close() throws IOException {
      for (Socket filler : fillers) {
        filler.close();
      }
      listener.close();
    }
  }
}
