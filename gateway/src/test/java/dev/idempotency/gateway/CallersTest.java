package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static dev.idempotency.gateway.testing.RawClient.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.gateway.identity.Tokens;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whose keys they are, and who may use them, from the file to the wire. */
class CallersTest {

  private static final AtomicInteger RUNS = new AtomicInteger();
  private static final AtomicInteger KEYS = new AtomicInteger();

  @TempDir static Path folder;

  private static ScriptedUpstream app;
  private static ScriptedUpstream service;
  private static TestGateway gateway;

  @BeforeAll
  static void start() throws IOException {
    app =
        ScriptedUpstream.start(
            (request, wire) -> wire.respond(201, "run " + RUNS.incrementAndGet()));
    service = ScriptedUpstream.ok();
    Path keys = folder.resolve("keys.json");
    Files.writeString(keys, Tokens.set(Tokens.RSA));
    gateway =
        TestGateway.start(
            """
            store: memory
            drain: 1s
            threads: 2
            jwt: { keys: "%s", issuer: "https://idp.test", audience: [api], algorithms: [RS256] }
            upstreams:
              app: { url: "%s" }
              auth: { url: "%s" }
            routes:
              - name: asked
                path: /asked/**
                upstream: app
                forward-auth: { upstream: auth, path: /check, timeout: 10s, copy: [X-User-Id] }
                scope: [ "auth:X-User-Id" ]
              - name: remembered
                path: /remembered/**
                upstream: app
                forward-auth: { upstream: auth, path: /check, cache: 1h }
                scope: [ credential ]
              - name: underscored
                path: /underscored/**
                upstream: app
                forward-auth: { upstream: auth, path: /check, copy: [X_User_Id] }
                scope: [ credential ]
              - name: open
                path: /open/**
                upstream: app
                forward-auth: { upstream: auth, path: /check, on-failure: allow }
                scope: [ credential ]
              - name: slow
                path: /slow/**
                upstream: app
                forward-auth: { upstream: auth, path: /check, timeout: 50ms }
                scope: [ credential ]
              - { name: tokens, path: /tokens/**, upstream: app, scope: [ "jwt:sub" ] }
              - name: limited
                path: /limited/**
                upstream: app
                scope: [ credential ]
                quota: { new-keys: 2, within: 1h }
              - name: few
                path: /few/**
                upstream: app
                scope: [ credential ]
                quota: { unfinished: 1 }
            """
                .formatted(keys, app.url(), service.url()));
  }

  @AfterAll
  static void stop() {
    gateway.close();
    app.close();
    service.close();
  }

  @BeforeEach
  void sayYes() {
    service.script((request, wire) -> wire.respond(200, "", "X-User-Id: u1"));
    app.script((request, wire) -> wire.respond(201, "run " + RUNS.incrementAndGet()));
  }

  private static RawResponse send(String path, String key, String... fields) {
    return once(gateway.port(), post(path, key, "{}", fields));
  }

  private static String key() {
    return "key-" + KEYS.incrementAndGet();
  }

  private static String bearer(String more) {
    String claims = Tokens.claims(System.currentTimeMillis(), more);
    return "Authorization: Bearer " + Tokens.signed(Tokens.RSA, claims);
  }

  // ---- an authorisation service

  @Test
  void callerThatTheServiceNamesOwnsItsKeys() {
    String key = key();
    RawResponse first = send("/asked", key, "Authorization: Bearer 1", "X-User-Id: forged");
    assertThat(first.status()).isEqualTo(201);
    assertThat(app.last().headers("X-User-Id")).containsExactly("u1");
    assertThat(service.last().line()).isEqualTo("GET /check HTTP/1.1");
    assertThat(service.last().header("X-Forwarded-Method")).isEqualTo("POST");
    assertThat(service.last().header("X-Forwarded-Uri")).isEqualTo("/asked");
    assertThat(service.last().header("Authorization")).isEqualTo("Bearer 1");
    assertThat(service.last().header("Content-Length")).isNull();
    RawResponse renewed = send("/asked", key, "Authorization: Bearer 2");
    assertThat(renewed.isReplay()).isTrue();
    assertThat(renewed.text()).isEqualTo(first.text());
    service.script((request, wire) -> wire.respond(200, "", "X-User-Id: u2"));
    RawResponse other = send("/asked", key, "Authorization: Bearer 1", "X-User-Id: u1");
    assertThat(other.status()).isEqualTo(201);
    assertThat(other.isReplay()).isFalse();
  }

  @Test
  void callerWhoseRightsWereTakenGetsNoStoredByte() {
    String key = key();
    RawResponse first = send("/asked", key);
    for (int status : new int[] {401, 403}) {
      service.script(
          (request, wire) ->
              wire.respond(status, "no more", "WWW-Authenticate: Bearer error=\"x\""));
      RawResponse refused = send("/asked", key);
      assertThat(refused.status()).isEqualTo(status);
      assertThat(refused.text()).isEqualTo("no more").doesNotContain(first.text());
      assertThat(refused.header("WWW-Authenticate")).isEqualTo("Bearer error=\"x\"");
      assertThat(refused.isReplay()).isFalse();
    }
  }

  @Test
  void strangerWhoSendsAKeyFirstTakesNothingFromItsOwner() {
    String key = key();
    service.script((request, wire) -> wire.respond(401, ""));
    assertThat(send("/asked", key).status()).isEqualTo(401);
    sayYes();
    RawResponse own = send("/asked", key);
    assertThat(own.status()).isEqualTo(201);
    assertThat(own.isReplay()).isFalse();
  }

  @Test
  void bodyIsNotAskedForBeforeTheServiceHasAnswered() {
    service.script((request, wire) -> wire.respond(403, "no"));
    int before = app.requests();
    try (RawClient client = RawClient.connect(gateway.port())) {
      client.send(
          "POST /asked HTTP/1.1\r\nHost: gw.test\r\nIdempotency-Key: "
              + key()
              + "\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
      assertThat(client.read().status()).isEqualTo(403);
    }
    sayYes();
    try (RawClient client = RawClient.connect(gateway.port())) {
      client.send(
          "POST /asked HTTP/1.1\r\nHost: gw.test\r\nIdempotency-Key: "
              + key()
              + "\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
      assertThat(client.readUntil("\r\n\r\n")).startsWith("HTTP/1.1 100 ");
      client.send("{}");
      assertThat(client.read().status()).isEqualTo(201);
    }
    assertThat(app.requests()).isEqualTo(before + 1);
  }

  @Test
  void requestWithoutAKeyOrContentIsAskedAboutToo() {
    RawResponse passed =
        once(gateway.port(), request("POST", "/asked", null, null, null, "X-User-Id: forged"));
    assertThat(passed.status()).isEqualTo(201);
    assertThat(app.last().headers("X-User-Id")).containsExactly("u1");
    RawResponse keyed =
        once(gateway.port(), request("POST", "/asked", key(), null, null, "X-User-Id: forged"));
    assertThat(keyed.status()).isEqualTo(201);
    assertThat(app.last().headers("X-User-Id")).containsExactly("u1");
    int asked = service.requests();
    once(gateway.port(), request("GET", "/asked", null, null, null, "X-User-Id: forged"));
    assertThat(app.last().headers("X-User-Id")).isEmpty();
    assertThat(service.requests()).isEqualTo(asked);
  }

  @Test
  void fieldThatIsCopiedIsNeverTheClientsOwnInAnySpelling() {
    service.script((request, wire) -> wire.respond(200, "", "X_User_Id: u1"));
    for (String spelling : new String[] {"X_User_Id", "x-user-id", "X-User_Id"}) {
      String forged = spelling + ": forged";
      send("/underscored", key(), "Authorization: Bearer 1", forged);
      assertThat(app.last().headers("X_User_Id")).as(spelling).containsExactly("u1");
      assertThat(app.last().headers("X-User-Id")).as(spelling).isEmpty();
      assertThat(app.last().headers("X-User_Id")).as(spelling).isEmpty();
      once(gateway.port(), request("GET", "/underscored", null, null, null, forged));
      assertThat(app.last().headers(spelling)).as(spelling).isEmpty();
    }
  }

  @Test
  void serviceThatIsAwayRefusesOrLetsOnAsTheRouteSays() {
    service.script((request, wire) -> wire.respond(500, "broken"));
    RawResponse refused = send("/asked", key());
    assertThat(refused.status()).isEqualTo(503);
    assertThat(refused.problem()).isEqualTo("authorization-unavailable");
    assertThat(refused.header("Retry-After")).isEqualTo("1");
    service.script((request, wire) -> wire.close());
    assertThat(send("/asked", key()).problem()).isEqualTo("authorization-unavailable");
    assertThat(send("/open", key(), "Authorization: Bearer 1").status()).isEqualTo(201);
    String metrics = metrics();
    assertThat(metrics)
        .contains("gateway_authorization_total{decision=\"let_through\",route=\"open\"}")
        .contains("outcome=\"authorization_unavailable\"");
  }

  @Test
  void serviceThatIsSlowIsNotWaitedForLongerThanTheRouteSays() {
    CountDownLatch done = new CountDownLatch(1);
    service.script(
        (request, wire) -> {
          done.await();
          wire.respond(200, "");
        });
    RawResponse refused = send("/slow", key(), "Authorization: Bearer 1");
    done.countDown();
    assertThat(refused.problem()).isEqualTo("authorization-unavailable");
    assertThat(refused.text()).contains("did not answer in time");
  }

  @Test
  void yesThatIsRememberedIsNotAskedForAgain() {
    try (RawClient client = RawClient.connect(gateway.port())) {
      int before = service.requests();
      for (int i = 0; i < 3; i++) {
        client.send(post("/remembered", key(), "{}", "Authorization: Bearer mem"));
        assertThat(client.read().status()).isEqualTo(201);
      }
      assertThat(service.requests()).isEqualTo(before + 1);
      service.script((request, wire) -> wire.respond(403, ""));
      client.send(post("/remembered", key(), "{}", "Authorization: Bearer other"));
      assertThat(client.read().status()).isEqualTo(403);
    }
  }

  // ---- tokens

  @Test
  void tokenThatIsRenewedKeepsItsOwnersKeys() {
    String key = key();
    RawResponse first = send("/tokens", key, bearer(",\"jti\":\"1\""));
    assertThat(first.status()).isEqualTo(201);
    RawResponse renewed = send("/tokens", key, bearer(",\"jti\":\"2\""));
    assertThat(renewed.isReplay()).isTrue();
    assertThat(renewed.text()).isEqualTo(first.text());
    String other = bearer("").replace("Bearer ", "bearer ");
    assertThat(send("/tokens", key, other).isReplay()).isTrue();
  }

  @Test
  void tokenThatIsForgedOrOldGetsNoStoredByte() {
    String key = key();
    send("/tokens", key, bearer(""));
    int before = app.requests();
    String claims = Tokens.claims(System.currentTimeMillis(), "");
    String forged = "Authorization: Bearer " + Tokens.signed(Tokens.OTHER, claims);
    String expired =
        "Authorization: Bearer " + Tokens.signed(Tokens.RSA, Tokens.claims(1_000_000_000_000L, ""));
    for (String wrong : new String[] {forged, expired, "Authorization: Bearer x.y.z"}) {
      RawResponse refused = send("/tokens", key, wrong);
      assertThat(refused.status()).isEqualTo(401);
      assertThat(refused.problem()).isEqualTo("identity-invalid");
      assertThat(refused.header("WWW-Authenticate")).contains("error=\"invalid_token\"");
      assertThat(refused.text()).doesNotContain("run");
    }
    RawResponse none = send("/tokens", key);
    assertThat(none.problem()).isEqualTo("identity-missing");
    assertThat(none.header("WWW-Authenticate")).startsWith("Bearer realm=");
    assertThat(app.requests()).isEqualTo(before);
    assertThat(metrics()).contains("gateway_token_keys_age_seconds");
  }

  @Test
  void fileOfKeysThatIsOfNoUseIsSaidAtStart() throws IOException {
    Path broken = folder.resolve("broken.json");
    Files.writeString(broken, "{}");
    String yaml = TestGateway.yaml(app.url(), "memory", "scope: [ \"jwt:sub\" ]");
    assertThatThrownBy(() -> TestGateway.start("jwt: { keys: \"" + broken + "\" }\n" + yaml))
        .hasStackTraceContaining("jwt: ")
        .hasStackTraceContaining("broken.json")
        .hasStackTraceContaining("expected: a JSON Web Key Set");
  }

  // ---- quotas

  @Test
  void callerWhoBeginsTooManyIsRefusedAndItsRetriesAreNot() {
    String caller = "Authorization: Bearer busy";
    String first = key();
    RawResponse ran = send("/limited", first, caller);
    assertThat(send("/limited", first, caller).isReplay()).isTrue();
    assertThat(send("/limited", key(), caller).status()).isEqualTo(201);
    int before = app.requests();
    RawResponse refused = send("/limited", key(), caller);
    assertThat(refused.status()).isEqualTo(429);
    assertThat(refused.problem()).isEqualTo("quota-exceeded");
    assertThat(Integer.parseInt(refused.header("Retry-After"))).isBetween(1, 1800);
    assertThat(app.requests()).isEqualTo(before);
    RawResponse retried = send("/limited", first, caller);
    assertThat(retried.isReplay()).isTrue();
    assertThat(retried.text()).isEqualTo(ran.text());
    assertThat(send("/limited", key(), "Authorization: Bearer calm").status()).isEqualTo(201);
  }

  @Test
  void callerWithAnUnfinishedOperationBeginsTheNextWhenItEnds() {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    app.script(gate::passAndAnswer);
    String caller = "Authorization: Bearer one";
    int before = app.requests();
    try (RawClient client = RawClient.connect(gateway.port())) {
      client.send(post("/few", key(), "{}", caller));
      while (app.requests() == before) {
        Thread.onSpinWait();
      }
      assertThat(send("/few", key(), caller).problem()).isEqualTo("quota-exceeded");
      gate.open();
      assertThat(client.read().complete()).isTrue();
    }
    app.script((request, wire) -> wire.respond(201, "next"));
    assertThat(send("/few", key(), caller).status()).isEqualTo(201);
  }

  // ---- names that anybody can write

  @Test
  void nameFromAStrangerIsRefusedWhereProxiesWriteIt() {
    String yaml =
        "trusted-proxies: [ 10.0.0.0/8 ]\n"
            + TestGateway.yaml(app.url(), "memory", "scope: [ \"header:X-Tenant\" ]");
    try (TestGateway strict = TestGateway.start(yaml)) {
      int before = app.requests();
      RawResponse forged = once(strict.port(), post("/a", "k", "{}", "X-Tenant: acme"));
      assertThat(forged.status()).isEqualTo(401);
      assertThat(forged.problem()).isEqualTo("identity-missing");
      assertThat(forged.text()).contains("only from trusted proxies");
      assertThat(app.requests()).isEqualTo(before);
    }
    String own = yaml.replace("10.0.0.0/8", "127.0.0.1").replace("header:X-Tenant", "basic:user");
    try (TestGateway behind = TestGateway.start(own)) {
      byte[] credentials = "u:p".getBytes(StandardCharsets.UTF_8);
      String basic = "Authorization: Basic " + Base64.getEncoder().encodeToString(credentials);
      assertThat(once(behind.port(), post("/a", "k", "{}", basic)).status()).isEqualTo(201);
      RawResponse none = once(behind.port(), post("/a", "k", "{}", "Authorization: Basic !"));
      assertThat(none.problem()).isEqualTo("identity-invalid");
      assertThat(none.header("WWW-Authenticate")).startsWith("Basic realm=");
    }
  }

  private static String metrics() {
    return once(gateway.adminPort(), request("GET", "/metrics", null, null, null)).text();
  }
}
