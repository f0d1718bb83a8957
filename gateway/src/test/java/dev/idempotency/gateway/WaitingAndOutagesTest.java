package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static dev.idempotency.gateway.testing.RawClient.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.FaultProxy;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Gate;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Duplicates that wait, and requests while the store is away. */
class WaitingAndOutagesTest {

  private static final byte[] REQUEST = post("/o", "k", "{}");

  @OnBothStores
  void duplicateThatWaitsGetsTheReplay(String store) {
    Gate gate = new Gate();
    try (ScriptedUpstream upstream = held(gate);
        TestGateway gateway = TestGateway.start(upstream.url(), store, "in-flight: wait 30s");
        RawClient first = RawClient.connect(gateway.port());
        RawClient second = RawClient.connect(gateway.port())) {
      first.send(REQUEST);
      await().until(() -> upstream.requests() == 1);
      second.send(REQUEST);
      // Another request needs no waiting to be refused.
      assertThat(once(gateway.port(), post("/o", "k", "{\"a\":1}")).status()).isEqualTo(422);
      CompletableFuture<RawResponse> waiting = CompletableFuture.supplyAsync(second::read);
      await().during(Duration.ofMillis(300)).until(() -> !waiting.isDone());
      gate.open();

      assertThat(first.read().isReplay()).isFalse();
      RawResponse replay = waiting.orTimeout(20, TimeUnit.SECONDS).join();
      assertThat(replay.status()).isEqualTo(201);
      assertThat(replay.isReplay()).isTrue();
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  @OnBothStores
  void duplicateWhosePatienceEndsIsRefusedAndTakesNothingOver(String store) {
    Gate gate = new Gate();
    try (ScriptedUpstream upstream = held(gate);
        TestGateway gateway =
            TestGateway.start(
                upstream.url(), store, "in-flight: wait 2s", "lease: 500ms", "unknown: retry");
        RawClient first = RawClient.connect(gateway.port())) {
      first.send(REQUEST);
      await().until(() -> upstream.requests() == 1);
      RawResponse refused = once(gateway.port(), REQUEST);
      assertThat(refused.status()).isEqualTo(409);
      assertThat(refused.problem()).isEqualTo("request-in-flight");
      assertThat(refused.header("Retry-After")).isEqualTo("1");

      gate.open();
      assertThat(first.read().status()).isEqualTo(201);
      assertThat(once(gateway.port(), REQUEST).isReplay()).isTrue();
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  @Test
  void withoutTheStoreNothingKeyedIsForwarded() {
    try (FaultProxy redis = FaultProxy.to(RedisServer.shared());
        ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = TestGateway.start(upstream.url(), through(redis))) {
      once(gateway.port(), post("/o", "before", "{}"));
      redis.refuse();
      RawResponse refused = once(gateway.port(), REQUEST);
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.problem()).isEqualTo("store-unavailable");
      assertThat(refused.header("Retry-After")).isNotNull();
      assertThat(refused.header("Idempotency-Bypassed")).isNull();
      assertThat(upstream.requests()).isEqualTo(1);
      assertThat(once(gateway.port(), request("GET", "/o", null, null, null)).status())
          .isEqualTo(200);

      redis.pass();
      await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> once(gateway.port(), REQUEST).status() == 200);
      assertThat(once(gateway.port(), REQUEST).isReplay()).isTrue();
    }
  }

  @Test
  void routeThatBypassesForwardsWithoutTheStoreAndSaysSo() {
    try (FaultProxy redis = FaultProxy.to(RedisServer.shared());
        ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway =
            TestGateway.start(upstream.url(), through(redis), "store-outage: bypass")) {
      RawResponse guarded = once(gateway.port(), post("/o", "before", "{}"));
      assertThat(guarded.header("Idempotency-Bypassed")).isNull();
      redis.refuse();
      for (int i = 0; i < 2; i++) {
        RawResponse bypassed = once(gateway.port(), REQUEST);
        assertThat(bypassed.status()).isEqualTo(200);
        assertThat(bypassed.header("Idempotency-Bypassed")).isEqualTo("true");
        assertThat(bypassed.isReplay()).isFalse();
      }
      assertThat(upstream.requests()).isEqualTo(3);
      assertThat(upstream.last().text()).isEqualTo("{}");
      assertThat(upstream.last().header("Idempotency-Attempt")).isNull();
      assertThat(upstream.last().header("Idempotency-Key")).isEqualTo("k");
    }
  }

  @Test
  void clientGetsNoAnswerBeforeItsRecordIsThere() {
    try (RedisServer server = RedisServer.start();
        ScriptedUpstream upstream =
            ScriptedUpstream.start(
                (request, wire) -> {
                  server.pause();
                  wire.respond(201, "made");
                });
        TestGateway gateway = TestGateway.start(upstream.url(), OnBothStores.Stores.redis(server));
        RawClient client = RawClient.connect(gateway.port())) {
      client.send(REQUEST);
      CompletableFuture<RawResponse> answer = CompletableFuture.supplyAsync(client::read);
      await().until(() -> upstream.requests() == 1);
      await().during(Duration.ofMillis(500)).until(() -> !answer.isDone());
      server.resume();

      assertThat(answer.orTimeout(20, TimeUnit.SECONDS).join().text()).isEqualTo("made");
      assertThat(once(gateway.port(), REQUEST).isReplay()).isTrue();
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  @Test
  void clientGetsItsAnswerWhenTheStoresDeadlineHasPassedAndTheRecordFollows() {
    try (RedisServer server = RedisServer.start();
        ScriptedUpstream upstream =
            ScriptedUpstream.start(
                (request, wire) -> {
                  server.pause();
                  wire.respond(201, "made");
                });
        TestGateway gateway =
            TestGateway.start(upstream.url(), OnBothStores.Stores.redis(server.url(), "1s"))) {
      RawResponse first = once(gateway.port(), REQUEST);
      assertThat(first.text()).isEqualTo("made");
      assertThat(once(gateway.port(), REQUEST).problem()).isEqualTo("store-unavailable");
      server.resume();

      await().atMost(Duration.ofSeconds(20)).until(() -> once(gateway.port(), REQUEST).isReplay());
      assertThat(once(gateway.port(), REQUEST).text()).isEqualTo("made");
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  private static String through(FaultProxy redis) {
    return OnBothStores.Stores.redis("redis://127.0.0.1:" + redis.port(), "2s");
  }

  private static ScriptedUpstream held(Gate gate) {
    return ScriptedUpstream.start(
        (request, wire) -> {
          gate.pass();
          wire.respond(201, "made");
        });
  }
}
