package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static dev.idempotency.gateway.testing.RawClient.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests without a key that count as retries of equal ones. */
class DerivedKeysTest {

  private static final String A = "Authorization: Bearer a";
  private static final String B = "Authorization: Bearer b";

  private final AtomicInteger runs = new AtomicInteger();
  private ScriptedUpstream upstream;

  @BeforeEach
  void start() {
    upstream =
        ScriptedUpstream.start(
            (request, wire) -> {
              String answer = "run " + runs.incrementAndGet();
              wire.send(
                  "HTTP/1.1 201 Created\r\nIdempotency-Key-Derived: forged\r\nContent-Length: "
                      + answer.length()
                      + "\r\n\r\n"
                      + answer);
            });
  }

  @AfterEach
  void stop() {
    upstream.close();
  }

  private TestGateway gateway(String store, String derive, String... more) {
    String[] route = new String[more.length + 2];
    route[0] = "scope: [credential]";
    route[1] = "key: { header: Idempotency-Key, derive: " + derive + " }";
    System.arraycopy(more, 0, route, 2, more.length);
    return TestGateway.start(upstream.url(), store, route);
  }

  private static byte[] keyless(String body, String... headers) {
    return request(
        "POST",
        "/orders",
        null,
        "application/json",
        body.getBytes(StandardCharsets.UTF_8),
        headers);
  }

  @OnBothStores
  void equalRequestsOfOneCallerAreOneOperation(String store) {
    try (TestGateway gateway = gateway(store, "10m")) {
      RawResponse first = once(gateway.port(), keyless("{\"a\":1,\"b\":2.0}", A));
      assertThat(first.status()).isEqualTo(201);
      assertThat(first.headers("Idempotency-Key-Derived")).containsExactly("true");
      assertThat(upstream.last().header("Idempotency-Attempt")).isEqualTo("1");
      assertThat(upstream.last().header("Idempotency-Key")).isNull();

      String forged = "Idempotency-Key-Derived: false";
      RawResponse retry = once(gateway.port(), keyless("{\"b\":2,\"a\":1}", A, forged));
      assertThat(retry.isReplay()).isTrue();
      assertThat(retry.text()).isEqualTo(first.text());
      assertThat(retry.headers("Idempotency-Key-Derived")).containsExactly("true");

      RawResponse other = once(gateway.port(), keyless("{\"b\":2,\"a\":1}", B, forged));
      assertThat(other.isReplay()).isFalse();
      assertThat(upstream.last().header("Idempotency-Key-Derived")).isNull();
      assertThat(once(gateway.port(), keyless("{\"b\":3,\"a\":1}", A)).isReplay()).isFalse();
      assertThat(runs).hasValue(3);
      await().until(() -> gateway.gateway().heldBytes() == 0);
    }
  }

  @OnBothStores
  void equalRequestAfterTheWindowIsANewOperation(String store) {
    // A lease as short as it may be, since a record lives for it at least.
    try (TestGateway gateway = gateway(store, "1s", "lease: 200ms", "retention: 1h")) {
      once(gateway.port(), keyless("{}", A));
      RawResponse next =
          await()
              .atMost(Duration.ofSeconds(30))
              .until(() -> once(gateway.port(), keyless("{}", A)), r -> !r.isReplay());
      assertThat(next.status()).isEqualTo(201);
      assertThat(next.text()).isEqualTo("run 2");
    }
  }

  @Test
  void requestWithAKeyIsNoRetryOfOneWithout() {
    try (TestGateway gateway = gateway("memory", "10m", "idempotency: required")) {
      RawResponse without = once(gateway.port(), keyless("{}", A));
      RawResponse with = once(gateway.port(), post("/orders", "k", "{}", A));
      assertThat(with.text()).isNotEqualTo(without.text());
      assertThat(with.header("Idempotency-Key-Derived")).isNull();
      assertThat(once(gateway.port(), post("/orders", "k", "{}", A)).text()).isEqualTo(with.text());
      assertThat(once(gateway.port(), keyless("{}", A)).text()).isEqualTo(without.text());
    }
  }

  @Test
  void callerWhoDoesNotSayWhoItIsIsRefused() {
    try (TestGateway gateway = gateway("memory", "10m")) {
      assertThat(once(gateway.port(), keyless("{}")).problem()).isEqualTo("identity-missing");
      assertThat(once(gateway.port(), keyless("{}", "Authorization: ")).problem())
          .isEqualTo("identity-missing");
      assertThat(upstream.requests()).isZero();
    }
  }

  @Test
  void derivedKeysAreCounted() {
    try (TestGateway gateway = gateway("memory", "10m")) {
      once(gateway.port(), keyless("{}", A));
      once(gateway.port(), keyless("{}", A));
      once(gateway.port(), post("/orders", "k", "{}", A));
      byte[] metrics = RawClient.request("GET", "/metrics", null, null, null);
      await()
          .until(
              () ->
                  once(gateway.adminPort(), metrics)
                      .text()
                      .contains("gateway_derived_keys_total{route=\"default\"} 2.0"));
    }
  }
}
