package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.Http2RawClient;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A deploy rolls while hundreds of requests are under way. */
class DrainUnderLoadTest {

  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int CONNECTIONS = 150;

  private final ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
  private final RedisServer redis = RedisServer.start();
  private final ScriptedUpstream upstream = ScriptedUpstream.ok();
  private final TestGateway other = gateway("0s", "0s");
  private TestGateway gateway;

  @AfterEach
  void stop() {
    gate.open();
    if (gateway != null) {
      gateway.close();
    }
    other.close();
    upstream.close();
    redis.close();
  }

  private TestGateway gateway(String delay, String drain) {
    return TestGateway.start(
        """
        listen: { address: 127.0.0.1:0, http2: true }
        store: { url: "%s", timeout: 10s }
        drain-delay: %s
        drain: %s
        threads: 1
        upstreams:
          app: { url: "%s", max-connections: %d, connect-timeout: 20s,
            acquire-timeout: 1m }
        routes:
          - { name: orders, path: /**, upstream: app, lease: 10m }
        """
            .formatted(redis.url(), delay, drain, upstream.url(), CONNECTIONS));
  }

  /** Begins to end it. */
  private CompletableFuture<Void> closing() {
    TestGateway ending = gateway;
    gateway = null;
    return CompletableFuture.runAsync(ending::close);
  }

  /** How many operations are not finished. */
  private int open() {
    return Integer.parseInt(redis.call("ZCARD", "idem:open"));
  }

  /** How often the upstream was sent each key. */
  private Map<String, Long> effects() {
    return upstream.received().stream()
        .collect(Collectors.groupingBy(it -> it.header("Idempotency-Key"), Collectors.counting()));
  }

  /** What clients that balance between two gateways saw. */
  private final class Load {
    private static final int CLIENTS = 30;
    private final AtomicBoolean ends = new AtomicBoolean();
    private final AtomicInteger answered = new AtomicInteger();
    private final AtomicInteger moved = new AtomicInteger();
    private final ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
    private final ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    private final TestGateway first;

    Load(TestGateway first) {
      this.first = first;
      for (int i = 0; i < CLIENTS; i++) {
        String name = "client-" + i + "-";
        threads.execute(() -> run(name));
      }
    }

    private void run(String name) {
      RawClient connection = RawClient.connect(first.port());
      try {
        for (int i = 0; !ends.get(); i++) {
          connection = send(connection, name + i);
          answered.incrementAndGet();
        }
      } catch (RuntimeException e) {
        wrong.add(name + " " + e);
      } finally {
        connection.close();
      }
    }

    /** Sends it again, to the other gateway, where the connection ended without an answer. */
    private RawClient send(RawClient connection, String key) {
      RawResponse answer;
      try {
        answer = connection.send(post("/orders", key, "{}")).read();
      } catch (UncheckedIOException ended) {
        connection.close();
        RawClient next = move();
        check(key, next.send(post("/orders", key, "{}")).read());
        return next;
      }
      check(key, answer);
      if (answer.header("Connection") == null) {
        return connection;
      }
      connection.close();
      return move();
    }

    private RawClient move() {
      moved.incrementAndGet();
      return RawClient.connect(other.port());
    }

    /** Who had no answer was not executed either: a replay would be one that was lost. */
    private void check(String key, RawResponse answer) {
      if (answer.status() != 200 || answer.isReplay()) {
        wrong.add(key + " " + answer.status() + " " + answer.text());
      }
    }

    void awaitMore(int answers) {
      int wanted = answered.get() + answers;
      await().atMost(PATIENCE).until(() -> answered.get() >= wanted || !wrong.isEmpty());
    }

    void end() throws InterruptedException {
      ends.set(true);
      threads.shutdown();
      assertThat(threads.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void clientsThatMoveToAnotherGatewayLoseNothingAndGetNothingTwice() throws Exception {
    gateway = gateway("2s", "20s");
    Load load = new Load(gateway);
    load.awaitMore(300);
    TestGateway ending = gateway;
    CompletableFuture<Void> closed = closing();
    await().atMost(PATIENCE).until(() -> !ending.isReady());
    // Readiness goes first: who does not know yet is served, over connections of any age.
    assertThat(RawClient.once(ending.port(), post("/orders", "late", "{}")).text()).isEqualTo("ok");
    int before = load.moved.get();
    assertThat(closed).succeedsWithin(PATIENCE);
    load.awaitMore(300);
    load.end();

    assertThat(load.wrong).isEmpty();
    assertThat(before).as("moved while the gateway still served").isZero();
    assertThat(load.moved).hasValue(Load.CLIENTS);
    assertThat(effects().values()).containsOnly(1L);
    assertThat(effects()).hasSize(load.answered.get() + 1);
  }

  @Test
  void requestsThatCannotFinishAreUnknownAtOnceAndThoseThatNeverBeganAreFree() {
    upstream.script(gate::passAndAnswer);
    gateway = gateway("0s", "0s");
    List<RawClient> clients = new ArrayList<>();
    try (Http2RawClient streams = Http2RawClient.connect(gateway.port())) {
      // Who does not acknowledge the settings is not waited for.
      streams.readUntil(() -> !streams.serverSettings().isEmpty());
      for (int i = 0; i < 100; i++) {
        String[] fields = {"idempotency-key", "stream-" + i, "content-type", "application/json"};
        streams.post(2 * i + 1, "/orders", fields).data(2 * i + 1, true, "{}");
        clients.add(RawClient.connect(gateway.port()).send(post("/orders", "plain-" + i, "{}")));
      }
      // As many as there are connections are sent; the others hold a reservation and wait.
      await().atMost(PATIENCE).until(() -> upstream.requests() == CONNECTIONS);
      await().atMost(PATIENCE).untilAsserted(() -> assertThat(open()).isEqualTo(200));
      CompletableFuture<Void> closed = closing();
      Map<String, String> told = new HashMap<>();
      for (int i = 0; i < 100; i++) {
        told.put("stream-" + i, streams.read(2 * i + 1).text());
        told.put("plain-" + i, clients.get(i).read().text());
      }
      assertThat(closed).succeedsWithin(PATIENCE);
      assertToldTheTruth(told);
    } finally {
      clients.forEach(RawClient::close);
    }
  }

  private void assertToldTheTruth(Map<String, String> told) {
    Set<String> sent = effects().keySet();
    assertThat(told)
        .allSatisfy(
            (key, text) ->
                assertThat(text)
                    .contains(sent.contains(key) ? "outcome-unknown" : "shutting-down"));
    gate.open();
    try (RawClient client = RawClient.connect(other.port())) {
      for (String key : told.keySet()) {
        RawResponse again = client.send(post("/orders", key, "{}")).read();
        // Long before the lease of ten minutes has run out.
        assertThat(again.text()).contains(sent.contains(key) ? "outcome-unknown" : "ok");
      }
    }
    assertThat(effects()).hasSize(200);
    assertThat(effects().values()).containsOnly(1L);
  }
}
