package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.FaultProxy;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Gate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The rows of the life of an operation, seen by its callers. */
class OperationLifeTest {

  private static final byte[] REQUEST = post("/orders", "k", "{\"amount\":1}");
  private static final byte[] OTHER = post("/orders", "k", "{\"amount\":2}");

  @OnBothStores
  void operationInFlightRefusesItsDuplicatesAndOtherRequests(String store) {
    Gate gate = new Gate();
    try (ScriptedUpstream upstream = held(gate);
        TestGateway gateway = TestGateway.start(upstream.url(), store);
        RawClient first = RawClient.connect(gateway.port())) {
      first.send(REQUEST);
      await().until(() -> upstream.requests() == 1);

      RawResponse duplicate = once(gateway.port(), REQUEST);
      assertThat(duplicate.status()).isEqualTo(409);
      assertThat(duplicate.problem()).isEqualTo("request-in-flight");
      assertThat(duplicate.header("Content-Type")).isEqualTo("application/problem+json");
      assertThat(duplicate.header("Link")).contains("rel=\"describedby\"");
      assertThat(Integer.parseInt(duplicate.header("Retry-After"))).isBetween(1, 10);
      keyReused(once(gateway.port(), OTHER));

      gate.open();
      assertThat(first.read().status()).isEqualTo(201);
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  @OnBothStores
  void completedOperationIsReplayedToTheSameRequestOnly(String store) {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = TestGateway.start(upstream.url(), store)) {
      once(gateway.port(), REQUEST);

      keyReused(once(gateway.port(), OTHER));
      keyReused(once(gateway.port(), OTHER));
      keyReused(once(gateway.port(), post("/orders?x=1", "k", "{\"amount\":1}")));
      RawResponse replay = once(gateway.port(), REQUEST);
      assertThat(replay.isReplay()).isTrue();
      assertThat(replay.text()).isEqualTo("ok");
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  @OnBothStores
  void retentionThatEndedMakesTheKeyNew(String store) {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway =
            TestGateway.start(upstream.url(), store, "retention: 1s", "lease: 1s")) {
      once(gateway.port(), REQUEST);

      await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> once(gateway.port(), OTHER).status() != 422);
      assertThat(upstream.requests()).isEqualTo(2);
      assertThat(upstream.last().header("Idempotency-Attempt")).isEqualTo("1");
    }
  }

  @Test
  void fingerprintSurvivesCompletionForAnotherGateway() {
    String store = OnBothStores.Stores.redis(RedisServer.shared());
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway first = TestGateway.start(upstream.url(), store);
        TestGateway second = TestGateway.start(upstream.url(), store)) {
      once(first.port(), REQUEST);

      keyReused(once(second.port(), OTHER));
      keyReused(once(second.port(), OTHER));
      assertThat(once(second.port(), REQUEST).isReplay()).isTrue();
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  @Test
  void retryAfterIsWhatIsLeftOfTheOwnersLease() {
    Gate gate = new Gate();
    String store = OnBothStores.Stores.redis(RedisServer.shared());
    try (ScriptedUpstream upstream = held(gate);
        TestGateway owner = TestGateway.start(upstream.url(), store, "lease: 90s");
        TestGateway other = TestGateway.start(upstream.url(), store, "lease: 5s");
        RawClient first = RawClient.connect(owner.port())) {
      first.send(REQUEST);
      await().until(() -> upstream.requests() == 1);

      assertThat(Integer.parseInt(once(other.port(), REQUEST).header("Retry-After")))
          .isBetween(40, 90);
      gate.open();
      first.read();
    }
  }

  @OnBothStores
  void leaseIsRenewedWhileTheUpstreamWorks(String store) {
    Gate gate = new Gate();
    try (ScriptedUpstream upstream = held(gate);
        TestGateway gateway =
            TestGateway.start(upstream.url(), store, "lease: 1s", "unknown: retry");
        RawClient first = RawClient.connect(gateway.port())) {
      first.send(REQUEST);
      await().until(() -> upstream.requests() == 1);

      await()
          .during(Duration.ofMillis(1_500))
          .atMost(Duration.ofSeconds(20))
          .until(() -> "request-in-flight".equals(once(gateway.port(), REQUEST).problem()));
      gate.open();
      assertThat(first.read().status()).isEqualTo(201);
      assertThat(once(gateway.port(), REQUEST).isReplay()).isTrue();
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  @Test
  void gatewayThatDiedLeavesAnUnknownOutcomeWhenItsLeaseHasRunOut() {
    Gate gate = new Gate();
    String store = OnBothStores.Stores.redis(RedisServer.shared());
    try (ScriptedUpstream upstream = held(gate);
        GatewayProcess dying =
            GatewayProcess.start(TestGateway.yaml(upstream.url(), store, "lease: 3s"));
        TestGateway holding = TestGateway.start(upstream.url(), store, "unknown: hold");
        TestGateway retrying = TestGateway.start(upstream.url(), store, "unknown: retry");
        RawClient first = RawClient.connect(dying.port())) {
      first.send(REQUEST);
      await().until(() -> upstream.requests() == 1);
      dying.kill();

      List<Integer> left = new ArrayList<>();
      await()
          .atMost(Duration.ofSeconds(20))
          .until(
              () -> {
                RawResponse response = once(holding.port(), REQUEST);
                if (response.problem().equals("request-in-flight")) {
                  left.add(Integer.valueOf(response.header("Retry-After")));
                }
                return response.problem().equals("outcome-unknown");
              });
      assertThat(left).isSortedAccordingTo(Comparator.reverseOrder()).last().isEqualTo(1);
      assertThat(left).allMatch(seconds -> seconds <= 3);
      assertThat(once(holding.port(), REQUEST).status()).isEqualTo(409);
      assertThat(upstream.requests()).isEqualTo(1);

      gate.open();
      assertThat(once(retrying.port(), REQUEST).status()).isEqualTo(201);
      assertThat(upstream.requests()).isEqualTo(2);
      assertThat(upstream.last().header("Idempotency-Attempt")).isEqualTo("2");
      assertThat(once(holding.port(), REQUEST).isReplay()).isTrue();
      assertThat(upstream.requests()).isEqualTo(2);
    }
  }

  @OnBothStores
  void connectionThatIsRefusedLeavesTheKeyNew(String store) {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        FaultProxy proxy = FaultProxy.to("127.0.0.1", upstream.port());
        TestGateway gateway = TestGateway.start("http://127.0.0.1:" + proxy.port(), store)) {
      proxy.refuse();
      RawResponse refused = once(gateway.port(), REQUEST);
      assertThat(refused.status()).isEqualTo(502);
      assertThat(refused.problem()).isEqualTo("upstream-unreachable");
      assertThat(refused.header("Retry-After")).isNotNull();

      proxy.pass();
      assertThat(once(gateway.port(), OTHER).text()).isEqualTo("ok");
      assertThat(upstream.requests()).isEqualTo(1);
      assertThat(upstream.last().header("Idempotency-Attempt")).isEqualTo("1");
    }
  }

  @OnBothStores
  void fullQueueLeavesTheKeyNew(String store) {
    Gate gate = new Gate();
    try (ScriptedUpstream upstream = held(gate);
        TestGateway gateway =
            TestGateway.start(
                TestGateway.yaml(upstream.url(), store)
                    .replace("threads: 2", "threads: 1")
                    .replace(" }\nroutes", ", max-connections: 1, max-waiting: 0 }\nroutes"));
        RawClient first = RawClient.connect(gateway.port())) {
      first.send(post("/orders", "another", "{}"));
      await().until(() -> upstream.requests() == 1);
      RawResponse refused = once(gateway.port(), REQUEST);
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.problem()).isEqualTo("overloaded");
      assertThat(refused.header("Retry-After")).isNotNull();

      gate.open();
      first.read();
      assertThat(once(gateway.port(), OTHER).status()).isEqualTo(201);
      assertThat(upstream.requests()).isEqualTo(2);
    }
  }

  @OnBothStores
  void requestThatWasSentAndLostIsHeld(String store) {
    try (ScriptedUpstream upstream = ScriptedUpstream.start((request, wire) -> wire.reset());
        TestGateway gateway = TestGateway.start(upstream.url(), store)) {
      RawResponse lost = once(gateway.port(), REQUEST);
      assertThat(lost.status()).isEqualTo(502);
      assertThat(lost.problem()).isEqualTo("outcome-unknown");
      assertThat(lost.header("Retry-After")).isNull();

      RawResponse duplicate = once(gateway.port(), REQUEST);
      assertThat(duplicate.status()).isEqualTo(409);
      assertThat(duplicate.problem()).isEqualTo("outcome-unknown");
      keyReused(once(gateway.port(), OTHER));
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  @OnBothStores
  void requestThatWasSentAndLostIsTriedAgainWhereTheUpstreamCanTakeIt(String store) {
    try (ScriptedUpstream upstream = ScriptedUpstream.start((request, wire) -> wire.close());
        TestGateway gateway = TestGateway.start(upstream.url(), store, "unknown: retry")) {
      once(gateway.port(), REQUEST);
      upstream.script((request, wire) -> wire.respond(201, "made"));
      keyReused(once(gateway.port(), OTHER));

      RawResponse second = once(gateway.port(), REQUEST);
      assertThat(second.status()).isEqualTo(201);
      assertThat(second.isReplay()).isFalse();
      assertThat(upstream.last().header("Idempotency-Attempt")).isEqualTo("2");
      assertThat(once(gateway.port(), REQUEST).isReplay()).isTrue();
      assertThat(upstream.requests()).isEqualTo(2);
    }
  }

  @OnBothStores
  void responseThatComesLateCompletesTheRecord(String store) {
    Gate gate = new Gate();
    try (ScriptedUpstream upstream = held(gate);
        TestGateway gateway =
            TestGateway.start(
                TestGateway.yaml(upstream.url(), store)
                    .replace(" }\nroutes", ", response-timeout: 500ms }\nroutes"))) {
      RawResponse late = once(gateway.port(), REQUEST);
      assertThat(late.status()).isEqualTo(504);
      assertThat(late.problem()).isEqualTo("outcome-unknown");
      assertThat(once(gateway.port(), REQUEST).problem()).isEqualTo("outcome-unknown");

      gate.open();
      await().until(() -> once(gateway.port(), REQUEST).isReplay());
      assertThat(once(gateway.port(), REQUEST).status()).isEqualTo(201);
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  private static ScriptedUpstream held(Gate gate) {
    return ScriptedUpstream.start(
        (request, wire) -> {
          gate.pass();
          wire.respond(201, "made", "Location: /orders/1");
        });
  }

  private static void keyReused(RawResponse response) {
    assertThat(response.status()).isEqualTo(422);
    assertThat(response.problem()).isEqualTo("key-reused");
    assertThat(response.header("Retry-After")).isNull();
    assertThat(response.isReplay()).isFalse();
  }
}
