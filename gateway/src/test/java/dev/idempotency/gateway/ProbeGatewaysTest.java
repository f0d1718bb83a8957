package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.PostgresServer;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Gateways that share their records ask once what became of an operation. */
class ProbeGatewaysTest {

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  static Stream<String> stores() {
    return Stream.of(
        OnBothStores.Stores.redis(RedisServer.shared()),
        "{ url: \"" + PostgresServer.shared().urlOfOwnSchema() + "\", timeout: 10s }");
  }

  private static TestGateway ready(ScriptedUpstream upstream, String store) {
    TestGateway gateway =
        TestGateway.start(
            "sweep: { every: 1h }\n"
                + TestGateway.yaml(
                    upstream.url(),
                    store,
                    "unknown: probe",
                    "in-flight: wait 20s",
                    "probe: { url: \"/by-key/{key}\", timeout: 20s, status: 201 }"));
    await().atMost(PATIENCE).until(gateway::isReady);
    return gateway;
  }

  private static CompletableFuture<RawResponse> send(TestGateway to, String... fields) {
    return CompletableFuture.supplyAsync(
        () -> RawClient.once(to.port(), post("/orders", "k", "{}", fields)));
  }

  @ParameterizedTest
  @MethodSource("stores")
  void oneAsksAndWhoWaitsAtAnotherGatewayGetsWhatItFound(String store) {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start(
                (request, wire) -> {
                  if (request.line().startsWith("GET")) {
                    gate.pass();
                    wire.respond(200, "the order");
                  } else {
                    wire.cut();
                  }
                });
        TestGateway one = ready(upstream, store);
        TestGateway other = ready(upstream, store)) {
      assertThat(send(one).join().status()).isEqualTo(502);
      CompletableFuture<RawResponse> asking = send(one);
      await().atMost(PATIENCE).until(() -> upstream.requests() == 2);
      RawResponse impatient = send(other, "Prefer: wait=0").join();
      CompletableFuture<RawResponse> waiting = send(other);
      gate.open();

      assertThat(impatient.status()).isEqualTo(409);
      assertThat(impatient.text()).contains("outcome-unknown");
      for (CompletableFuture<RawResponse> told : Stream.of(asking, waiting).toList()) {
        assertThat(told.join().status()).isEqualTo(201);
        assertThat(told.join().isReplay()).isTrue();
        assertThat(told.join().text()).isEqualTo("the order");
      }
      assertThat(upstream.requests()).isEqualTo(2);
    }
  }
}
