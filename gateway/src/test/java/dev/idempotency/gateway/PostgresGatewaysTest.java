package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.PostgresServer;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Gateways that share their records in PostgreSQL. */
class PostgresGatewaysTest {

  private static String store(String url) {
    return "{ url: \"" + url + "\", timeout: 10s }";
  }

  private static TestGateway ready(ScriptedUpstream upstream, String store) {
    TestGateway gateway = TestGateway.start(upstream.url(), store);
    await().until(gateway::isReady);
    return gateway;
  }

  @Test
  void completedByOneGatewayIsReplayedByAnother() {
    String store = store(PostgresServer.shared().urlOfOwnSchema());
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway one = ready(upstream, store);
        TestGateway other = ready(upstream, store)) {
      RawResponse first = RawClient.once(one.port(), post("/orders", "k1", "{\"a\":1}"));
      RawResponse second = RawClient.once(other.port(), post("/orders", "k1", "{\"a\":1}"));
      RawResponse reused = RawClient.once(other.port(), post("/orders", "k1", "{\"a\":2}"));

      assertThat(first.status()).isEqualTo(200);
      assertThat(second.isReplay()).isTrue();
      assertThat(second.body()).isEqualTo(first.body());
      assertThat(reused.status()).isEqualTo(422);
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  @Test
  void keyThatManySendAtOnceIsForwardedOnce() {
    String store = store(PostgresServer.shared().urlOfOwnSchema());
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway one = ready(upstream, store);
        TestGateway other = ready(upstream, store)) {
      List<CompletableFuture<RawResponse>> answers =
          IntStream.range(0, 24)
              .mapToObj(
                  i ->
                      CompletableFuture.supplyAsync(
                          () ->
                              RawClient.once(
                                  i % 2 == 0 ? one.port() : other.port(),
                                  post("/orders", "k2", "{\"a\":1}"))))
              .toList();
      assertThat(answers).allSatisfy(answer -> assertThat(answer.join().status()).isIn(200, 409));
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  @Test
  void gatewayWithoutItsDatabaseIsNotReadyAndForwardsNothingKeyed() {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway =
            TestGateway.start(
                upstream.url(), "{ url: \"postgresql://nobody@127.0.0.1:1/none\", timeout: 1s }")) {
      RawResponse refused = RawClient.once(gateway.port(), post("/orders", "k3", "{}"));
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.problem()).contains("store-unavailable");
      assertThat(gateway.isReady()).isFalse();
      assertThat(upstream.requests()).isZero();
    }
  }
}
