package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static dev.idempotency.gateway.testing.RawClient.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An upstream of several addresses, from the configuration to the record. */
class SeveralAddressesTest {

  private final ScriptedUpstream one = ScriptedUpstream.ok();
  private final ScriptedUpstream two = ScriptedUpstream.ok();

  @AfterEach
  void stop() {
    one.close();
    two.close();
  }

  private TestGateway start(String... options) {
    StringBuilder yaml = new StringBuilder("store: memory\ndrain: 1s\nthreads: 1\nupstreams:\n");
    yaml.append("  app: { urls: [ \"%s\", \"%s\" ]".formatted(one.url(), two.url()));
    for (String option : options) {
      yaml.append(", ").append(option);
    }
    yaml.append(" }\nroutes:\n");
    yaml.append("  - { name: keyed, path: /keyed/**, upstream: app, idempotency: required }\n");
    yaml.append("  - { name: plain, path: /**, upstream: app, idempotency: off }\n");
    return TestGateway.start(yaml.toString());
  }

  private static String metrics(TestGateway gateway) {
    return RawClient.once(gateway.adminPort(), request("GET", "/metrics", null, null, null)).text();
  }

  @Test
  void keyedPostToADeadAddressGoesToTheNextAndItsRecordIsCompleted() {
    one.refuse();
    try (TestGateway gateway = start()) {
      for (int i = 0; i < 4; i++) {
        byte[] request = post("/keyed/a", "k" + i, "{}");
        assertThat(RawClient.once(gateway.port(), request).status()).isEqualTo(200);
        RawResponse retry = RawClient.once(gateway.port(), request);
        assertThat(retry.status()).isEqualTo(200);
        assertThat(retry.isReplay()).isTrue();
      }
      assertThat(two.requests()).isEqualTo(4);
      assertThat(metrics(gateway))
          .contains("gateway_upstream_connect_failures_total{upstream=\"app\"} 2.0");
    }
  }

  @Test
  void keyedPostThatWasSentIsNotSentToTheNextAddress() {
    one.script((request, wire) -> wire.reset());
    two.script((request, wire) -> wire.reset());
    try (TestGateway gateway = start()) {
      byte[] request = post("/keyed/a", "k1", "{}");
      assertThat(RawClient.once(gateway.port(), request).problem()).isEqualTo("outcome-unknown");
      assertThat(RawClient.once(gateway.port(), request).status()).isEqualTo(409);
      assertThat(one.requests() + two.requests()).isEqualTo(1);
    }
  }

  @Test
  void keyIsFreeAgainWhenNoAddressCanBeReached() {
    one.refuse();
    two.refuse();
    try (TestGateway gateway = start()) {
      byte[] request = post("/keyed/a", "k1", "{}");
      for (int i = 0; i < 2; i++) {
        RawResponse response = RawClient.once(gateway.port(), request);
        assertThat(response.status()).isEqualTo(502);
        assertThat(response.problem()).isEqualTo("upstream-unreachable");
      }
    }
  }

  @Test
  void addressThatFailsItsHealthChecksGetsNoRequests() {
    one.script(
        (request, wire) -> wire.respond(request.line().startsWith("GET /up ") ? 503 : 200, "1"));
    two.script((request, wire) -> wire.respond(200, "2"));
    String check = "{ path: /up, interval: 1s, timeout: 1s, healthy: 2, unhealthy: 2 }";
    try (TestGateway gateway = start("health-check: " + check)) {
      String shown = "gateway_upstream_addresses{state=\"unhealthy\",upstream=\"app\"} 1.0";
      await().until(() -> metrics(gateway).contains(shown));
      for (int i = 0; i < 6; i++) {
        byte[] get = request("GET", "/a", null, null, null);
        assertThat(RawClient.once(gateway.port(), get).text()).isEqualTo("2");
      }
    }
  }
}
