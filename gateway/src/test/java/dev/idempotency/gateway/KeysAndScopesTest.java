package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static dev.idempotency.gateway.testing.RawClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which requests are one operation: the key, whose it is, and where it counts. */
class KeysAndScopesTest {

  private static final byte[] BODY = "{}".getBytes(StandardCharsets.UTF_8);
  private static final AtomicInteger KEYS = new AtomicInteger();
  private static ScriptedUpstream upstream;
  private static TestGateway gateway;

  @BeforeAll
  static void start() {
    upstream =
        ScriptedUpstream.start(
            (request, wire) -> wire.respond(201, "run " + KEYS.incrementAndGet()));
    String routes =
        """
        routes:
          - { name: orders, path: /orders/**, upstream: app, idempotency: required }
          - { name: refunds, path: /refunds/**, upstream: app, idempotency: required }
          - { name: listed, path: /listed/**, upstream: app, methods: [PUT, DELETE] }
          - { name: off, path: /off/**, upstream: app, idempotency: off }
          - { name: paypal, path: /paypal/**, upstream: app, key: { header: PayPal-Request-Id } }
          - name: tenants
            path: /tenants/**
            upstream: app
            scope: [ "header:X-Tenant", "header:X-User" ]
          - { name: optional, path: /**, upstream: app }
        """;
    String yaml = TestGateway.yaml(upstream.url(), "memory");
    gateway = TestGateway.start(yaml.substring(0, yaml.indexOf("routes:")) + routes);
  }

  @AfterAll
  static void stop() {
    gateway.close();
    upstream.close();
  }

  // ---- the key

  static Stream<Arguments> sameKeys() {
    return Stream.of(
        Arguments.of("bare-1", "\"bare-1\""),
        Arguments.of("a\\b", "\"a\\\\b\""),
        Arguments.of("\"with \\\"quotes\\\"\"", "  \"with \\\"quotes\\\"\"\t"),
        Arguments.of("a'b;c=d", "\"a'b;c=d\""),
        Arguments.of("k".repeat(255), "\"" + "k".repeat(255) + "\""));
  }

  @ParameterizedTest
  @MethodSource("sameKeys")
  void quotedAndBareFormAreTheSameKey(String one, String other) {
    RawResponse first = once(gateway.port(), post("/orders", one, "{}"));
    assertThat(first.status()).isEqualTo(201);
    assertThat(upstream.last().header("Idempotency-Key")).isEqualTo(one.strip());
    RawResponse second = once(gateway.port(), post("/orders", other, "{}"));
    assertThat(second.isReplay()).isTrue();
    assertThat(second.text()).isEqualTo(first.text());
  }

  static Stream<String> malformed() {
    return Stream.of(
        "",
        " ",
        "\"\"",
        "\"  \"",
        "k".repeat(256),
        "\"" + "k".repeat(256) + "\"",
        "a b",
        "a\tb",
        "a,b",
        "a\"b",
        "\"open",
        "\"a\" b",
        "\"a\";p=1",
        "\"bad\\escape\"",
        "\"dangling\\",
        "caf\u00e9",
        "\"caf\u00e9\"");
  }

  @ParameterizedTest
  @MethodSource("malformed")
  void malformedKeyIsRefusedEverywhere(String key) {
    int before = upstream.requests();
    for (String path : List.of("/orders", "/anywhere")) {
      RawResponse refused = once(gateway.port(), post(path, key, "{}"));
      assertThat(refused.status()).isEqualTo(400);
      assertThat(refused.problem()).isEqualTo("key-invalid");
      assertThat(refused.text()).contains("Idempotency-Key").contains("1 to 255");
      assertThat(refused.header("Retry-After")).isNull();
    }
    assertThat(upstream.requests()).isEqualTo(before);
  }

  @Test
  void keySentTwiceIsRefusedEvenIfItIsTheSame() {
    int before = upstream.requests();
    RawResponse refused =
        once(gateway.port(), post("/orders", "twice", "{}", "idempotency-key: twice"));
    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.problem()).isEqualTo("key-invalid");
    assertThat(upstream.requests()).isEqualTo(before);
  }

  @Test
  void missingKeyIsRefusedWithHelpWhereItIsRequired() {
    int before = upstream.requests();
    byte[] keyless = request("POST", "/orders", null, "application/json", BODY);
    RawResponse refused = once(gateway.port(), keyless);
    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.problem()).isEqualTo("key-missing");
    assertThat(refused.text()).contains("Idempotency-Key: \\\"").contains("UUID");
    assertThat(upstream.requests()).isEqualTo(before);
  }

  @Test
  void missingKeyPassesThroughWhereItIsOptional() {
    byte[] keyless = request("POST", "/anywhere", null, "application/json", BODY);
    once(gateway.port(), keyless);
    assertThat(upstream.last().header("Idempotency-Attempt")).isNull();
    RawResponse second = once(gateway.port(), keyless);
    assertThat(second.isReplay()).isFalse();
    assertThat(second.status()).isEqualTo(201);
  }

  @Test
  void routeNamesTheHeaderOfItsKey() {
    byte[] keyed =
        request("POST", "/paypal", null, "application/json", BODY, "paypal-request-id: p1");
    once(gateway.port(), keyed);
    assertThat(once(gateway.port(), keyed).isReplay()).isTrue();
    byte[] other = post("/paypal", "p1", "{}");
    once(gateway.port(), other);
    assertThat(once(gateway.port(), other).isReplay()).isFalse();
  }

  // ---- methods and routes

  @ParameterizedTest
  @ValueSource(strings = {"GET", "OPTIONS"})
  void safeMethodsAreNeverKeyed(String method) {
    for (String path : List.of("/orders", "/listed", "/anywhere")) {
      byte[] safe = request(method, path, "safe", null, null);
      assertThat(once(gateway.port(), safe).isReplay()).isFalse();
      assertThat(upstream.last().header("Idempotency-Attempt")).isNull();
      RawResponse second = once(gateway.port(), safe);
      assertThat(second.isReplay()).isFalse();
      assertThat(second.status()).isEqualTo(201);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"PUT", "DELETE"})
  void otherMethodsAreKeyedWhereTheyAreListed(String method) {
    byte[] listed = request(method, "/listed/1", "m-" + method, "application/json", BODY);
    once(gateway.port(), listed);
    assertThat(once(gateway.port(), listed).isReplay()).isTrue();
    byte[] unlisted = request(method, "/orders/1", "m-" + method, "application/json", BODY);
    once(gateway.port(), unlisted);
    assertThat(once(gateway.port(), unlisted).isReplay()).isFalse();
  }

  @Test
  void patchIsKeyedByDefault() {
    byte[] patch = request("PATCH", "/orders/1", "patch", "application/json", BODY);
    once(gateway.port(), patch);
    assertThat(once(gateway.port(), patch).isReplay()).isTrue();
  }

  @Test
  void routeThatIsOffDoesNotLookAtKeys() {
    byte[] off = post("/off", "a b", "{}");
    assertThat(once(gateway.port(), off).status()).isEqualTo(201);
    assertThat(once(gateway.port(), off).isReplay()).isFalse();
    assertThat(upstream.last().header("Idempotency-Key")).isEqualTo("a b");
  }

  @Test
  void equalKeysOnTwoRoutesAreTwoOperations() {
    RawResponse order = once(gateway.port(), post("/orders", "both", "{}"));
    RawResponse refund = once(gateway.port(), post("/refunds", "both", "{}"));
    assertThat(refund.status()).isEqualTo(201);
    assertThat(refund.text()).isNotEqualTo(order.text());
  }

  // ---- whose key it is

  @Test
  void equalKeysOfTwoCallersAreTwoOperations() {
    byte[] a = post("/orders", "shared", "{}", "Authorization: Bearer a");
    byte[] b = post("/orders", "shared", "{}", "Authorization: Bearer b");
    byte[] nobody = post("/orders", "shared", "{}");
    byte[] blank = post("/orders", "shared", "{}", "Authorization:");
    List<String> firsts =
        Stream.of(a, b, nobody, blank).map(r -> once(gateway.port(), r).text()).toList();
    assertThat(firsts).doesNotHaveDuplicates();
    for (int i = 3; i >= 0; i--) {
      RawResponse replay = once(gateway.port(), List.of(a, b, nobody, blank).get(i));
      assertThat(replay.isReplay()).isTrue();
      assertThat(replay.text()).isEqualTo(firsts.get(i));
    }
  }

  @Test
  void partsOfTheIdentityDoNotRunTogether() {
    String[][] callers = {
      {"acme", "eu:1", "k"},
      {"acme:eu", "1", "k"},
      {"acme", "eu", "1:k"},
      {"acme:eu:1", "x", "k"},
      {"acme", "eu,1", "k"},
      {"acme,eu", "1", "k"},
      {"a", "cmeeu:1", "k"},
      {"eu:1", "acme", "k"},
      {"ACME", "eu:1", "k"},
    };
    Stream<RawResponse> responses =
        Stream.of(callers)
            .map(
                c ->
                    once(
                        gateway.port(),
                        post("/tenants", c[2], "{}", "X-Tenant: " + c[0], "X-User: " + c[1])));
    assertThat(responses).allMatch(r -> r.status() == 201 && !r.isReplay());
  }

  @ParameterizedTest
  @ValueSource(strings = {"X-Tenant: acme", "X-User: u", "X-Other: x"})
  void missingPartOfANamedScopeIsRefused(String only) {
    int before = upstream.requests();
    RawResponse refused = once(gateway.port(), post("/tenants", "k1", "{}", only));
    assertThat(refused.status()).isEqualTo(401);
    assertThat(refused.problem()).isEqualTo("identity-missing");
    assertThat(upstream.requests()).isEqualTo(before);
  }

  @Test
  void blankPartOfANamedScopeIsRefused() {
    RawResponse refused =
        once(gateway.port(), post("/tenants", "k2", "{}", "X-Tenant: acme", "X-User: "));
    assertThat(refused.status()).isEqualTo(401);
  }

  @Test
  void partOfTheScopeThatIsSentTwiceIsRefused() {
    int before = upstream.requests();
    RawResponse named =
        once(
            gateway.port(),
            post("/tenants", "k3", "{}", "X-Tenant: a", "X-Tenant: a", "X-User: u"));
    assertThat(named.status()).isEqualTo(400);
    RawResponse byDefault =
        once(
            gateway.port(),
            post("/orders", "k3", "{}", "Authorization: Bearer a", "Authorization: Bearer b"));
    assertThat(byDefault.status()).isEqualTo(400);
    assertThat(upstream.requests()).isEqualTo(before);
  }

  @Test
  void refusedCallerTakesNothingFromTheRightOne() {
    once(gateway.port(), post("/tenants", "k4", "{}", "X-Tenant: acme"));
    RawResponse right =
        once(gateway.port(), post("/tenants", "k4", "{\"a\":1}", "X-Tenant: acme", "X-User: u"));
    assertThat(right.status()).isEqualTo(201);
    assertThat(right.isReplay()).isFalse();
  }

  // ---- what the upstream is told

  @Test
  void upstreamGetsTheRequestAsItCameAndTheGatewaysFieldsOnce() {
    String body = "{ \"b\" : 1.0,\r\n\t\"a\":\"\\u00e9\" }";
    once(
        gateway.port(),
        post(
            "/orders/%7e%c3%a9?q=%20%7e",
            "fields",
            body,
            "Idempotency-Attempt: 7",
            "Idempotency_Attempt: 8",
            "Idempotency-Probe: 1",
            "Forwarded: for=1.2.3.4",
            "X-Forwarded-For: 1.2.3.4",
            "X-Forwarded-Proto: https",
            "X-Forwarded-Host: evil.test",
            "X-Forwarded-Port: 1",
            "X_Forwarded_For: 1.2.3.4",
            "Via: 1.0 before",
            "Connection: keep-alive, X-Hop",
            "X-Hop: secret",
            "Keep-Alive: timeout=5",
            "TE: trailers",
            "Proxy-Authorization: Basic x",
            "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "X-Mine: 1",
            "X-Mine: 2"));
    ScriptedUpstream.Received received = upstream.last();
    assertThat(received.line()).isEqualTo("POST /orders/~%C3%A9?q=%20%7e HTTP/1.1");
    assertThat(received.text()).isEqualTo(body);
    assertThat(received.headers("Content-Length")).containsExactly("" + body.length());
    assertThat(received.headers("Host")).containsExactly("gw.test");
    assertThat(received.headers("Idempotency-Key")).containsExactly("fields");
    assertThat(received.headers("Idempotency-Attempt")).containsExactly("1");
    assertThat(received.headers("X-Forwarded-For")).containsExactly("127.0.0.1");
    assertThat(received.headers("X-Forwarded-Proto")).containsExactly("http");
    assertThat(received.headers("X-Forwarded-Host")).containsExactly("gw.test");
    assertThat(received.headers("Forwarded"))
        .containsExactly("for=127.0.0.1;proto=http;host=\"gw.test\"");
    assertThat(received.headers("Via")).containsExactly("1.0 before, 1.1 idempotency-gateway");
    assertThat(received.headers("X-Mine")).containsExactly("1", "2");
    assertThat(received.headers("traceparent")).hasSize(1);
    for (String gone :
        List.of(
            "Idempotency_Attempt",
            "Idempotency-Probe",
            "X-Forwarded-Port",
            "X_Forwarded_For",
            "X-Hop",
            "Keep-Alive",
            "TE",
            "Proxy-Authorization",
            "Connection",
            "Transfer-Encoding")) {
      assertThat(received.headers(gone)).as(gone).isEmpty();
    }
  }
}
