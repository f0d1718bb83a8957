package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static dev.idempotency.gateway.testing.RawClient.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Keys that come from a query, a body or one of several places, and what they must look like. */
class KeySourcesTest {

  private final AtomicInteger runs = new AtomicInteger();
  private ScriptedUpstream upstream;

  @BeforeEach
  void start() {
    upstream =
        ScriptedUpstream.start(
            (request, wire) -> wire.respond(201, "run " + runs.incrementAndGet()));
  }

  @AfterEach
  void stop() {
    upstream.close();
  }

  private TestGateway gateway(String store, String... route) {
    return TestGateway.start(upstream.url(), store, route);
  }

  private static byte[] keyless(String target, String body, String... headers) {
    return request(
        "POST", target, null, "application/json", body.getBytes(StandardCharsets.UTF_8), headers);
  }

  private static void assertReplay(RawResponse response, RawResponse first) {
    assertThat(response.status()).isEqualTo(201);
    assertThat(response.isReplay()).isTrue();
    assertThat(response.text()).isEqualTo(first.text());
  }

  private void assertRefused(RawResponse response, String problem, String... words) {
    assertThat(response.status()).isEqualTo(400);
    assertThat(response.problem()).isEqualTo(problem);
    assertThat(response.text()).contains(words);
  }

  // ---- the query

  @Test
  void keyInTheQueryIsOneHoweverItIsEncodedAndTravelsOn() {
    try (TestGateway gateway =
        gateway("memory", "idempotency: required", "key: { query: request_id }")) {
      RawResponse first = once(gateway.port(), keyless("/orders?a=1&request_id=k%2D1", "{}"));
      assertThat(upstream.last().line()).contains("/orders?a=1&request_id=k%2D1 ");
      assertReplay(once(gateway.port(), keyless("/orders?a=1&request_id=k%2D1", "{}")), first);

      RawResponse spelled = once(gateway.port(), keyless("/orders?a=1&request_id=k-1", "{}"));
      assertThat(spelled.problem()).isEqualTo("key-reused");
      RawResponse other = once(gateway.port(), keyless("/orders?a=1&request_id=k2", "{}"));
      assertThat(other.isReplay()).isFalse();
    }
  }

  @Test
  void keyInTheQueryMustBeThereOnce() {
    try (TestGateway gateway =
        gateway("memory", "idempotency: required", "key: { query: request_id }")) {
      assertRefused(
          once(gateway.port(), post("/orders?x=1", "header", "{}")),
          "key-missing",
          "The query parameter request_id is missing",
          "request_id=8e03978e");
      assertRefused(
          once(gateway.port(), keyless("/orders?request_id=a&request_id=a", "{}")),
          "key-invalid",
          "given 2 times");
      assertRefused(
          once(gateway.port(), keyless("/orders?request_id=", "{}")), "key-invalid", "empty");
      assertThat(upstream.requests()).isZero();
    }
  }

  // ---- the body

  @OnBothStores
  void keyInTheBodyIsOneOperationWhateverTheOrderOfItsMembers(String store) {
    try (TestGateway gateway =
        gateway(store, "idempotency: required", "key: { pointer: /meta/key }")) {
      String body = "{ \"amount\" : 1.0, \"meta\": {\"key\":\"k1\", \"t\": 1} }";
      RawResponse first = once(gateway.port(), keyless("/orders", body));
      assertThat(first.status()).isEqualTo(201);
      assertThat(upstream.last().text()).isEqualTo(body);
      assertThat(upstream.last().header("Idempotency-Attempt")).isEqualTo("1");

      String retry = "{\"meta\":{\"t\":1,\"key\":\"\\u006b1\"},\"amount\":1}";
      assertReplay(once(gateway.port(), keyless("/orders", retry)), first);

      String reuse = "{\"meta\":{\"t\":1,\"key\":\"k1\"},\"amount\":2}";
      assertThat(once(gateway.port(), keyless("/orders", reuse)).problem()).isEqualTo("key-reused");

      String other = "{\"meta\":{\"t\":1,\"key\":\"k2\"},\"amount\":1}";
      assertThat(once(gateway.port(), keyless("/orders", other)).isReplay()).isFalse();
      assertThat(runs).hasValue(2);
      await().until(() -> gateway.gateway().heldBytes() == 0);
    }
  }

  @Test
  void bodyThatCanNotBeReadInOneWayIsRefused() {
    try (TestGateway gateway = gateway("memory", "key: { pointer: /key }")) {
      for (String body :
          List.of(
              "{\"key\":\"a\",\"key\":\"b\"}",
              "{\"key\":\"a\"",
              "{\"key\":17}",
              "{\"key\":\"\"}",
              "{\"key\":\"a\"} x")) {
        assertRefused(
            once(gateway.port(), keyless("/orders", body)),
            "key-invalid",
            "The member /key of the body is not a key");
      }
      byte[] text = "key=a".getBytes(StandardCharsets.UTF_8);
      assertRefused(
          once(gateway.port(), request("POST", "/orders", null, "text/plain", text)),
          "key-invalid",
          "Content-Type");
      assertThat(upstream.requests()).isZero();
    }
  }

  @OnBothStores
  void keyInACompressedBodyIsFound(String store) {
    try (TestGateway gateway = gateway(store, "idempotency: required", "key: { pointer: /key }")) {
      byte[] body = gzip("{\"key\":\"k-1\",\"amount\":1}");
      RawResponse first = once(gateway.port(), coded(body));
      assertThat(first.status()).isEqualTo(201);
      assertThat(upstream.last().body()).isEqualTo(body);
      byte[] retry = gzip("{ \"amount\": 1.0, \"key\": \"k-1\" }");
      assertReplay(once(gateway.port(), coded(retry)), first);
      byte[] reuse = gzip("{\"key\":\"k-1\",\"amount\":2}");
      assertThat(once(gateway.port(), coded(reuse)).problem()).isEqualTo("key-reused");

      byte[] plain = "{\"key\":\"k-1\"}".getBytes(StandardCharsets.UTF_8);
      assertRefused(
          once(gateway.port(), coded(plain)), "key-invalid", "not what its Content-Encoding says");
      byte[] large = gzip("{\"key\":\"k-1\"}" + " ".repeat(1 << 20));
      assertRefused(
          once(gateway.port(), coded(large)), "key-invalid", "larger than the 1048576 bytes");
      assertThat(runs).hasValue(1);
      await().until(() -> gateway.gateway().heldBytes() == 0);
    }
  }

  private static byte[] coded(byte[] body) {
    return request("POST", "/orders", null, "application/json", body, "Content-Encoding: gzip");
  }

  private static byte[] gzip(String content) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      out.write(content.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  @Test
  void bodyWithoutAKeyPassesWhereKeysAreOptional() {
    try (TestGateway gateway = gateway("memory", "key: { pointer: /key }")) {
      for (String body : List.of("{\"key\":null, \"a\" : 1}", "{}", "[]")) {
        for (int i = 0; i < 2; i++) {
          RawResponse passed = once(gateway.port(), keyless("/orders", body));
          assertThat(passed.status()).isEqualTo(201);
          assertThat(passed.isReplay()).isFalse();
          assertThat(passed.header("Idempotency-Bypassed")).isNull();
          assertThat(upstream.last().text()).isEqualTo(body);
          assertThat(upstream.last().header("Idempotency-Attempt")).isNull();
        }
      }
      assertThat(runs).hasValue(6);
      await().until(() -> gateway.gateway().heldBytes() == 0);
      await().until(() -> gateway.gateway().underWay() == 0);
    }
  }

  @Test
  void chunkedBodyWithAKeyIsFoundToo() {
    try (TestGateway gateway =
        gateway("memory", "idempotency: required", "key: { pointer: /key }")) {
      String chunked =
          "POST /orders HTTP/1.1\r\nHost: gw.test\r\nContent-Type: application/json\r\n"
              + "Transfer-Encoding: chunked\r\n\r\n"
              + "4\r\n{\"ke\r\n9\r\ny\":\"k-7\"}\r\n0\r\n\r\n";
      byte[] bytes = chunked.getBytes(StandardCharsets.ISO_8859_1);
      RawResponse first = once(gateway.port(), bytes);
      assertThat(first.status()).isEqualTo(201);
      assertReplay(once(gateway.port(), keyless("/orders", "{\"key\":\"k-7\"}")), first);
    }
  }

  @Test
  void callersHaveTheirOwnKeysInBodies() {
    try (TestGateway gateway =
        gateway("memory", "idempotency: required", "key: { pointer: /key }")) {
      String body = "{\"key\":\"k\"}";
      RawResponse a = once(gateway.port(), keyless("/orders", body, "Authorization: Bearer a"));
      RawResponse b = once(gateway.port(), keyless("/orders", body, "Authorization: Bearer b"));
      assertThat(b.text()).isNotEqualTo(a.text());
      assertReplay(once(gateway.port(), keyless("/orders", body, "Authorization: Bearer a")), a);
    }
  }

  // ---- several places

  @Test
  void firstPlaceThatHasAKeyCounts() {
    try (TestGateway gateway =
        gateway(
            "memory",
            "idempotency: required",
            "key: { sources: [\"header:Idempotency-Key\", \"query:id\", \"pointer:/k\"] }")) {
      String body = "{\"k\":\"b\"}";
      RawResponse byHeader = once(gateway.port(), post("/orders?id=q", "h", body));
      RawResponse byQuery = once(gateway.port(), keyless("/orders?id=q", body));
      RawResponse byBody = once(gateway.port(), keyless("/orders", body));
      assertThat(List.of(byHeader.text(), byQuery.text(), byBody.text()))
          .containsExactly("run 1", "run 2", "run 3");
      assertReplay(once(gateway.port(), post("/orders?id=q", "h", body)), byHeader);
      assertReplay(once(gateway.port(), keyless("/orders?id=q", body)), byQuery);
      assertReplay(once(gateway.port(), keyless("/orders", body)), byBody);

      // The same key in another place is another request under it.
      assertThat(once(gateway.port(), post("/orders", "b", body)).isReplay()).isTrue();
      assertThat(once(gateway.port(), post("/orders", "q", body)).problem())
          .isEqualTo("key-reused");
      assertRefused(
          once(gateway.port(), post("/orders?id=q", "", body)), "key-invalid", "Idempotency-Key");
      assertRefused(
          once(gateway.port(), keyless("/orders", "{}")),
          "key-missing",
          "the header Idempotency-Key, the query parameter id, the member /k of the body");
    }
  }

  // ---- forms

  @Test
  void strictRouteRefusesWhatALenientOneTakes() {
    try (TestGateway strict =
            gateway(
                "memory",
                "idempotency: required",
                "key: { header: Idempotency-Key, syntax: strict }");
        TestGateway lenient = gateway("memory", "idempotency: required")) {
      for (String bare : List.of("abc", "8e03978e-40d5-43dd-bc93-6894a57f9324", "17")) {
        assertThat(once(lenient.port(), post("/orders", bare, "{}")).status()).isEqualTo(201);
        assertRefused(
            once(strict.port(), post("/orders", bare, "{}")),
            "key-invalid",
            "a string in double quotes");
      }
      RawResponse first = once(strict.port(), post("/orders", "\"abc\"", "{}"));
      assertThat(upstream.last().header("Idempotency-Key")).isEqualTo("\"abc\"");
      assertReplay(once(strict.port(), post("/orders", "\"abc\";p=1", "{}")), first);
    }
  }

  @Test
  void routeDemandsTheFormOfItsKeys() {
    try (TestGateway gateway =
        gateway(
            "memory", "idempotency: required", "key: { header: Idempotency-Key, pattern: uuid }")) {
      String uuid = "8e03978e-40d5-43dd-bc93-6894a57f9324";
      assertThat(once(gateway.port(), post("/orders", uuid, "{}")).status()).isEqualTo(201);
      RawResponse upper =
          once(gateway.port(), post("/orders", uuid.toUpperCase(Locale.ROOT), "{}"));
      assertThat(upper.isReplay()).isFalse();
      assertRefused(
          once(gateway.port(), post("/orders", "order-1", "{}")),
          "key-invalid",
          "it is not of the form that is asked for here. A right one is a UUID");
    }
    try (TestGateway gateway =
        gateway(
            "memory", "idempotency: required", "key: { query: id, pattern: \"/ord-[0-9]+/\" }")) {
      assertThat(once(gateway.port(), keyless("/o?id=ord-17", "{}")).status()).isEqualTo(201);
      assertRefused(
          once(gateway.port(), keyless("/o?id=ord-17x", "{}")), "key-invalid", "ord-[0-9]+");
    }
  }
}
