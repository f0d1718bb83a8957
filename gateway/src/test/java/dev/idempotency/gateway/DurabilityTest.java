package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisSentinels;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Routes that ask for more than that Redis has executed a write. */
class DurabilityTest {

  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final String REPLICA = "{ replicas: 1 }";

  private final ScriptedUpstream upstream = ScriptedUpstream.ok();
  @TempDir private Path folder;

  private RedisSentinels redis;
  private TestGateway gateway;
  private boolean paused;

  private void start(String durability) {
    gateway =
        TestGateway.start(
            """
            store: { url: "%s", timeout: 600ms, checks: 1s }
            drain: 0s
            threads: 1
            upstreams:
              app: { url: "%s" }
            routes:
              - { name: plain, path: /plain/**, upstream: app }
              - name: orders
                path: /**
                upstream: app
                durability: %s
            """
                .formatted(redis.url(), upstream.url(), durability));
    await().atMost(PATIENCE).until(() -> gateway.isReady());
  }

  @BeforeEach
  void startRedis() {
    List<String> place = List.of("--dir", folder.toString());
    redis = RedisSentinels.start(new RedisSentinels.Options(place, List.of(), List.of()));
  }

  @AfterEach
  void stop() {
    resume();
    if (gateway != null) {
      gateway.close();
    }
    upstream.close();
    redis.close();
  }

  private void pause() {
    redis.second().pause();
    // What is under way to it would reach it all the same when it goes on.
    redis.first().call("CLIENT", "KILL", "TYPE", "replica");
    paused = true;
  }

  private void resume() {
    if (paused) {
      paused = false;
      redis.second().resume();
    }
  }

  private RawResponse send(String path, String key) {
    return RawClient.once(gateway.port(), post(path, key, "{}"));
  }

  private String admin(String path) {
    byte[] question = RawClient.request("GET", path, null, null, null);
    return RawClient.once(gateway.adminPort(), question).text();
  }

  @Test
  void nothingIsForwardedUntilAReplicaHasTheReservation() {
    start(REPLICA);
    // A replica that has just come is not counted at once.
    await().atMost(PATIENCE).until(() -> send("/orders", "kept").status() == 200);
    pause();
    RawResponse refused = send("/orders", "new");
    assertThat(refused.status()).isEqualTo(503);
    assertThat(refused.problem()).isEqualTo("store-unavailable");
    assertThat(upstream.requests()).isEqualTo(1);
    // Who asks for less, and who was answered before, does not notice.
    assertThat(send("/plain", "new").status()).isEqualTo(200);
    assertThat(send("/orders", "kept").isReplay()).isTrue();
    resume();
    await()
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(100))
        .until(() -> send("/orders", "new").status() == 200);
    assertThat(send("/orders", "new").isReplay()).isTrue();
    assertThat(upstream.requests()).isEqualTo(3);
  }

  @Test
  void reservationThatTheReplicaNeverGotIsForgottenAndWasNeverForwarded() {
    start(REPLICA);
    pause();
    assertThat(send("/orders", "k").status()).isEqualTo(503);
    redis.first().kill();
    resume();
    redis.awaitFailover();
    // There is no replica any more, so nothing new is begun on the new primary either.
    await().atMost(PATIENCE).until(() -> gateway.isReady() && send("/plain", "p").status() == 200);
    assertThat(send("/orders", "k").status()).isEqualTo(503);
    redis.first().restart();
    redis.first().call("REPLICAOF", "127.0.0.1", Integer.toString(redis.second().port()));
    await()
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(100))
        .until(() -> send("/orders", "k").status() == 200);
    assertThat(upstream.received().stream().filter(r -> r.line().contains("/orders"))).hasSize(1);
  }

  @Test
  void operationUnderWayOutlivesAFailover() {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    start(REPLICA);
    // A replica that has just come is not counted at once.
    await().atMost(PATIENCE).until(() -> send("/orders", "before").status() == 200);
    upstream.script(gate::passAndAnswer);
    CompletableFuture<RawResponse> first =
        CompletableFuture.supplyAsync(() -> send("/orders", "k"));
    await().atMost(PATIENCE).until(() -> upstream.requests() == 2);
    redis.first().kill();
    redis.awaitFailover();
    await().atMost(PATIENCE).until(() -> gateway.isReady());
    RawResponse duplicate = send("/orders", "k");
    assertThat(duplicate.problem()).isEqualTo("request-in-flight");
    gate.open();
    assertThat(first.join().status()).isEqualTo(200);
    await().atMost(PATIENCE).until(() -> send("/orders", "k").isReplay());
    assertThat(upstream.requests()).isEqualTo(2);
  }

  @Test
  void completionThatIsNotYetDurableIsWrittenInTheBackgroundWhileTheClientHasItsAnswer() {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    start("{ replicas: 1, completions: true }");
    // A replica that has just come is not counted at once.
    await().atMost(PATIENCE).until(() -> send("/orders", "before").status() == 200);
    upstream.script(gate::passAndAnswer);
    CompletableFuture<RawResponse> first =
        CompletableFuture.supplyAsync(() -> send("/orders", "k"));
    await().atMost(PATIENCE).until(() -> upstream.requests() == 2);
    pause();
    gate.open();
    assertThat(first.join().status()).isEqualTo(200);
    assertThat(gateway.gateway().deferredWrites()).isEqualTo(1);
    assertThat(admin("/metrics")).containsPattern("gateway_deferred_write_bytes [1-9]");
    resume();
    await().atMost(PATIENCE).until(() -> gateway.gateway().deferredWrites() == 0);
    redis.failOver();
    await().atMost(PATIENCE).until(() -> gateway.isReady() && send("/orders", "k").isReplay());
    assertThat(upstream.requests()).isEqualTo(2);
  }

  @Test
  void missingReplicaIsSaidWhereOperatorsLook() {
    start(REPLICA);
    redis.second().kill();
    await().atMost(PATIENCE).until(() -> admin("/readyz").contains("\"code\":\"replicas\""));
    assertThat(admin("/readyz")).contains("\"status\":\"ready\"", "\"severity\":\"error\"");
    assertThat(admin("/metrics")).contains("gateway_store_finding{code=\"replicas\"} 1");
  }

  @Test
  void routeOnDiskIsRefusedByAServerThatKeepsNothing() {
    start("disk");
    assertThat(send("/orders", "k").problem()).isEqualTo("store-unavailable");
    assertThat(upstream.requests()).isZero();
    redis.first().call("CONFIG", "SET", "appendfsync", "always");
    redis.first().call("CONFIG", "SET", "appendonly", "yes");
    await()
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(100))
        .until(() -> send("/orders", "k").status() == 200);
  }
}
