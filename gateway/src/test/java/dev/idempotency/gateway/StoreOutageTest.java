package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static dev.idempotency.gateway.testing.RawClient.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.FaultProxy;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Redis goes, hangs, loses replies, refuses or forgets, and comes back. */
class StoreOutageTest {

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /** The deadline is 500 ms; the rest is for a busy machine. */
  private static final Duration DEADLINE = Duration.ofSeconds(4);

  private static final String KEY = "client-key-0c5b";
  private static final String TOKEN = "secret-token-7a1e";

  private RedisServer redis;
  private FaultProxy proxy;
  private ScriptedUpstream upstream;
  private TestGateway gateway;

  @BeforeEach
  void start() {
    redis = RedisServer.start();
    proxy = FaultProxy.to(redis);
    upstream = ScriptedUpstream.ok();
    gateway = TestGateway.start(yaml());
    await().atMost(PATIENCE).until(() -> gateway.isReady());
  }

  private String yaml() {
    return """
    store: { url: "redis://127.0.0.1:%d", timeout: 500ms }
    drain: 0s
    threads: 1
    upstreams:
      app: { url: "%s" }
    routes:
      - { name: orders, path: /**, upstream: app, lease: 2s, idempotency: optional }
    """
        .formatted(proxy.port(), upstream.url());
  }

  @AfterEach
  void stop() {
    gateway.close();
    upstream.close();
    proxy.close();
    redis.close();
  }

  private RawResponse keyed(String suffix) {
    return RawClient.once(
        gateway.port(), post("/orders", KEY + suffix, "{}", "Authorization: Bearer " + TOKEN));
  }

  private RawResponse keyless(String method) {
    byte[] body = method.equals("GET") ? null : new byte[] {'{', '}'};
    return RawClient.once(gateway.port(), request(method, "/free", null, null, body));
  }

  private long keyedHits() {
    return upstream.received().stream().filter(r -> r.line().contains("/orders")).count();
  }

  /** Nothing keyed is sent, and what has no key does not notice. */
  private void assertClosed() {
    long before = keyedHits();
    for (int i = 0; i < 2; i++) {
      long asked = System.nanoTime();
      RawResponse refused = keyed("-again");
      assertThat(Duration.ofNanos(System.nanoTime() - asked)).isLessThan(DEADLINE);
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.problem()).isEqualTo("store-unavailable");
      assertThat(refused.header("Retry-After")).isNotNull();
    }
    assertThat(keyless("POST").status()).isEqualTo(200);
    assertThat(keyless("GET").status()).isEqualTo(200);
    assertThat(keyedHits()).isEqualTo(before);
  }

  /** The key that was refused runs once and is kept. */
  private void assertOpenAgain() {
    long before = keyedHits();
    await()
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(100))
        .until(() -> keyed("-again").status() == 200);
    assertThat(keyed("-again").isReplay()).isTrue();
    assertThat(keyedHits()).isEqualTo(before + 1);
    assertRecordsEndAndTellNothing();
  }

  private void assertRecordsEndAndTellNothing() {
    String names = redis.call("KEYS", "*");
    assertThat(names).isNotBlank().doesNotContain(KEY, TOKEN);
    for (String name : names.lines().toList()) {
      assertThat(Long.parseLong(redis.call("PTTL", name))).as(name).isPositive();
      assertThat(redis.call("GET", name)).doesNotContain(KEY, TOKEN);
    }
  }

  @Test
  void stoppedRedisClosesTheGatewayForKeysUntilItIsBack() {
    redis.stop();
    assertClosed();
    redis.restart();
    assertOpenAgain();
  }

  @Test
  void blackHoleClosesTheGatewayForKeysUntilItIsGone() {
    proxy.blackHole();
    assertClosed();
    proxy.pass();
    assertOpenAgain();
  }

  @Test
  void slowRedisClosesTheGatewayForKeysUntilItIsFast() {
    proxy.delay(Duration.ofSeconds(5));
    assertClosed();
    proxy.pass();
    assertOpenAgain();
  }

  @Test
  void frozenRedisClosesTheGatewayForKeysUntilItGoesOn() {
    redis.pause();
    assertClosed();
    redis.resume();
    assertOpenAgain();
  }

  @Test
  void replicaIsNeverBelieved() {
    redis.call("REPLICAOF", "127.0.0.1", "1");
    assertClosed();
    redis.call("CONFIG", "SET", "replica-serve-stale-data", "no");
    assertClosed();
    redis.call("REPLICAOF", "NO", "ONE");
    assertOpenAgain();
  }

  @Test
  void redisThatIsAwayAtTheStartIsAwaited() {
    redis.stop();
    gateway.close();
    gateway = TestGateway.start(yaml());
    assertClosed();
    redis.restart();
    assertOpenAgain();
  }

  /** Nothing passes until all of them are answered: it is the deadline that ends them. */
  @Test
  void manyRequestsIntoABlackHoleCostNoMoreThanTheirDeadlineAndLeaveNothingBehind() {
    String body = "x".repeat(10_000);
    List<RawClient> clients = new ArrayList<>();
    proxy.blackHole();
    try {
      for (int i = 0; i < 500; i++) {
        clients.add(RawClient.connect(gateway.port()).send(post("/orders", KEY + "-" + i, body)));
      }
      assertThat(keyless("GET").status()).isEqualTo(200);
      for (RawClient client : clients) {
        assertThat(client.read().problem()).isEqualTo("store-unavailable");
      }
      assertThat(keyless("POST").status()).isEqualTo(200);
    } finally {
      clients.forEach(RawClient::close);
    }
    assertThat(keyedHits()).isZero();
    await().atMost(PATIENCE).until(() -> gateway.gateway().underWay() == 0);
    await().atMost(PATIENCE).until(() -> gateway.gateway().heldBytes() == 0);

    proxy.pass();
    // Each may have been reserved, for all that its gateway knows.
    await().atMost(PATIENCE).until(() -> gateway.gateway().deferredWrites() == 0);
    await().atMost(PATIENCE).until(() -> "0".equals(redis.call("DBSIZE")));
    assertThat(keyed("-1").status()).isEqualTo(200);
  }

  /** What is left behind is found when the class ends. */
  @Test
  void gatewayThatConnectsInVainStopsAndLeavesNoBufferBehind() {
    proxy.blackHole();
    proxy.resetAll();
    await().atMost(PATIENCE).until(() -> proxy.open() > 0);
    CompletableFuture<Void> stopped = CompletableFuture.runAsync(gateway::close);

    assertThat(stopped).succeedsWithin(PATIENCE);
    gateway = TestGateway.start(yaml());
  }

  @Test
  void lostReplyToTheReservationNeitherBlocksNorDoubles() {
    proxy.swallowNextReply();
    RawResponse first = keyed("");

    assertThat(proxy.hasSwallowed()).isTrue();
    assertThat(first.problem()).isIn(null, "store-unavailable");
    await().atMost(PATIENCE).until(() -> keyed("").status() == 200);
    assertThat(keyed("").isReplay()).isTrue();
    assertThat(keyedHits()).isEqualTo(1);
  }

  @Test
  void reservationWhoseReplyNeverComesIsTakenBack() {
    proxy.delay(Duration.ofSeconds(2));
    assertThat(keyed("").problem()).isEqualTo("store-unavailable");
    proxy.pass();

    await()
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(100))
        .until(() -> keyed("").status() == 200);
    assertThat(keyedHits()).isEqualTo(1);
  }

  @Test
  void lostReplyToTheCompletionIsAnsweredAndReplayed() {
    upstream.script(
        (request, wire) -> {
          proxy.swallowNextReply();
          wire.respond(201, "made");
        });
    RawResponse first = keyed("");

    assertThat(proxy.hasSwallowed()).isTrue();
    assertThat(first.status()).isEqualTo(201);
    await().atMost(PATIENCE).until(() -> keyed("").status() == 201);
    RawResponse replay = keyed("");
    assertThat(replay.isReplay()).isTrue();
    assertThat(replay.body()).isEqualTo(first.body());
    assertThat(keyedHits()).isEqualTo(1);
  }

  @Test
  void recordThatRedisForgotDuringTheExchangeIsWrittenAgain() {
    upstream.script(
        (request, wire) -> {
          redis.restart();
          wire.respond(201, "made");
        });
    assertThat(keyed("").text()).isEqualTo("made");
    assertReplayedAfterwards();
  }

  @Test
  void responseThatCameWhileRedisWasAwayIsStoredWhenItIsBack() {
    upstream.script(
        (request, wire) -> {
          redis.stop();
          wire.respond(201, "made");
        });
    assertThat(keyed("").text()).isEqualTo("made");
    redis.restart();
    assertReplayedAfterwards();
  }

  @Test
  void responseThatWaitsForRedisIsStoredBeforeTheProcessEnds() {
    upstream.script(
        (request, wire) -> {
          proxy.refuse();
          wire.respond(201, "made");
        });
    assertThat(keyed("").text()).isEqualTo("made");
    proxy.pass();
    gateway.close();

    gateway = TestGateway.start(yaml());
    await().atMost(PATIENCE).until(() -> gateway.isReady());
    assertThat(keyed("").isReplay()).isTrue();
    assertThat(keyedHits()).isEqualTo(1);
  }

  @Test
  void refusedRequestsDoNotCrowdOutTheRecordOfAnExecutedOne() {
    upstream.script(
        (request, wire) -> {
          redis.stop();
          wire.respond(201, "made");
        });
    assertThat(keyed("").text()).isEqualTo("made");
    try (RawClient client = RawClient.connect(gateway.port())) {
      for (int i = 0; i < 200; i++) {
        client.send(post("/orders", KEY + i, "{}"));
        assertThat(client.read().problem()).isEqualTo("store-unavailable");
      }
    }
    assertThat(gateway.gateway().deferredWrites())
        .as("what surely was not written need not be removed")
        .isLessThan(10);
  }

  private void assertReplayedAfterwards() {
    await().atMost(PATIENCE).until(() -> "1".equals(redis.call("DBSIZE")));
    await().atMost(PATIENCE).until(() -> keyed("").status() == 201);
    RawResponse replay = keyed("");
    assertThat(replay.isReplay()).isTrue();
    assertThat(replay.text()).isEqualTo("made");
    assertThat(keyedHits()).isEqualTo(1);
    assertRecordsEndAndTellNothing();
  }
}
