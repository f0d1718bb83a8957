package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static dev.idempotency.gateway.testing.RawClient.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import dev.idempotency.gateway.identity.Tokens;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What tenants who share a gateway, or a store, must never see of each other, and what each of them
 * gets whichever gateway it meets.
 */
class TenantsTest {

  private final AtomicInteger runs = new AtomicInteger();

  @TempDir private Path folder;

  private ScriptedUpstream app;
  private ScriptedUpstream auth;

  @BeforeEach
  void start() throws IOException {
    app =
        ScriptedUpstream.start(
            (request, wire) ->
                wire.respond(201, "balance of run " + runs.incrementAndGet(), "X-Account: 4711"));
    auth = ScriptedUpstream.ok();
    Files.writeString(folder.resolve("keys.json"), Tokens.set(Tokens.RSA));
  }

  @AfterEach
  void stop() {
    app.close();
    auth.close();
  }

  private TestGateway gateway(String store) {
    return TestGateway.start(
        """
        store: %s
        drain: 1s
        threads: 2
        jwt: { keys: "%s", issuer: "https://idp.test", audience: [api] }
        upstreams:
          app: { url: "%s" }
          auth: { url: "%s" }
        routes:
          - name: tokens
            path: /tokens
            upstream: app
            idempotency: required
            scope: [ "jwt:tenant", "jwt:sub" ]
          - name: names
            path: /names
            upstream: app
            idempotency: required
            scope: [ "header:X-Tenant", "header:X-User" ]
          - name: asked
            path: /asked
            upstream: app
            idempotency: required
            scope: [ credential ]
            forward-auth: { upstream: auth, path: /check }
          - name: places
            path: /places
            upstream: app
            idempotency: required
            key: { sources: [ "header:Idempotency-Key", "query:id", "pointer:/id" ] }
        """
            .formatted(store, folder.resolve("keys.json"), app.url(), auth.url()));
  }

  private static String token(String tenant, String subject, long exp) {
    return Tokens.signed(
        Tokens.RSA,
        "{\"iss\":\"https://idp.test\",\"aud\":\"api\",\"exp\":"
            + exp
            + ",\"tenant\":"
            + json(tenant)
            + ",\"sub\":"
            + json(subject)
            + '}');
  }

  private static String json(String text) {
    return '"' + new String(JsonStringEncoder.getInstance().quoteAsString(text)) + '"';
  }

  private static long soon() {
    return System.currentTimeMillis() / 1000 + 600;
  }

  private static RawResponse send(TestGateway gateway, String path, String key, String... fields) {
    return once(gateway.port(), post(path, key, "{\"a\":1}", fields));
  }

  private static RawResponse other(TestGateway gateway, String path, String key, String... fields) {
    return once(gateway.port(), post(path, key, "{\"a\":2}", fields));
  }

  private static void assertNothingShown(RawResponse response, int status) {
    assertThat(response.status()).isEqualTo(status);
    assertThat(response.text()).doesNotContain("balance");
    assertThat(response.headers("X-Account")).isEmpty();
    assertThat(response.isReplay()).isFalse();
  }

  // ---- whose key

  private static List<String[]> callersOfTokens() {
    String l = "x".repeat(2000);
    return List.of(
        new String[] {"a", "b:c", "k"},
        new String[] {"a:b", "c", "k"},
        new String[] {"a", "b", "c:k"},
        new String[] {"a", "b|c", "k"},
        new String[] {"a|b", "c", "k"},
        new String[] {"a\nb", "c", "k"},
        new String[] {"a", "b\nc", "k"},
        new String[] {"a\0b", "c", "k"},
        new String[] {"a", "b\0c", "k"},
        new String[] {"1:a", "1:b", "k"},
        new String[] {"1:a1", ":b", "k"},
        new String[] {"A", "b:c", "k"},
        new String[] {"a ", "b:c", "k"},
        new String[] {"\u00e9", "b", "k"},
        new String[] {"e\u0301", "b", "k"},
        new String[] {"b:c", "a", "k"},
        new String[] {l, l + "x", "k"},
        new String[] {l + "x", l, "k"});
  }

  @OnBothStores
  void tenantsOfTokensWhoseNamesCouldRunTogetherAreApart(String store) {
    try (TestGateway gateway = gateway(store)) {
      List<String> firsts = new ArrayList<>();
      for (String[] caller : callersOfTokens()) {
        RawResponse first = ofToken(gateway, caller);
        assertThat(first.status()).as(String.join(" / ", caller)).isEqualTo(201);
        assertThat(first.isReplay()).as(String.join(" / ", caller)).isFalse();
        firsts.add(first.text());
      }
      assertThat(firsts).doesNotHaveDuplicates();
      for (int i = firsts.size() - 1; i >= 0; i--) {
        RawResponse replay = ofToken(gateway, callersOfTokens().get(i));
        assertThat(replay.isReplay()).isTrue();
        assertThat(replay.text()).isEqualTo(firsts.get(i));
      }
    }
  }

  private static RawResponse ofToken(TestGateway gateway, String[] caller) {
    return send(
        gateway,
        "/tokens",
        '"' + caller[2] + '"',
        "Authorization: Bearer " + token(caller[0], caller[1], soon()));
  }

  @OnBothStores
  void partOfATokenThatSaysNothingIsNobody(String store) {
    try (TestGateway gateway = gateway(store)) {
      send(gateway, "/tokens", "k", "Authorization: Bearer " + token("t", "u", soon()));
      for (String[] caller : new String[][] {{"", "u"}, {"t", ""}, {"", "tu"}, {" ", "u"}}) {
        RawResponse refused =
            send(
                gateway,
                "/tokens",
                "k",
                "Authorization: Bearer " + token(caller[0], caller[1], soon()));
        assertNothingShown(refused, 401);
        assertThat(refused.problem()).isEqualTo("identity-missing");
      }
      assertThat(runs).hasValue(1);
    }
  }

  @OnBothStores
  void tenantsOfFieldsWhoseNamesCouldRunTogetherAreApart(String store) {
    String l = "x".repeat(3000);
    String[][] callers = {
      {"a", "b:c"}, {"a:b", "c"}, {"a|b", "c"}, {"a", "b|c"}, {"a\tb", "c"}, {"a", "b\tc"},
      {"a,b", "c"}, {"a", "b,c"}, {"a b", "c"}, {"\"a\"", "b:c"}, {l, l + "x"}, {l + "x", l},
      {"\u00e9", "c"}, {"\u00c3\u00a9", "c"},
    };
    try (TestGateway gateway = gateway(store)) {
      List<String> firsts = new ArrayList<>();
      for (String[] caller : callers) {
        RawResponse first = ofFields(gateway, caller);
        assertThat(first.status()).isEqualTo(201);
        assertThat(first.isReplay()).isFalse();
        firsts.add(first.text());
      }
      for (int i = 0; i < callers.length; i++) {
        RawResponse replay = ofFields(gateway, callers[i]);
        assertThat(replay.isReplay()).isTrue();
        assertThat(replay.text()).isEqualTo(firsts.get(i));
      }
    }
  }

  private static RawResponse ofFields(TestGateway gateway, String[] caller) {
    return send(gateway, "/names", "k", "X-Tenant: " + caller[0], "X-User: " + caller[1]);
  }

  // ---- who may no more

  @OnBothStores
  void callerWhoIsRevokedAbsentOrNobodyGetsNothingOfWhatIsStored(String store) {
    try (TestGateway gateway = gateway(store)) {
      String mine = "Authorization: Bearer mine";
      assertThat(send(gateway, "/asked", "k", mine).status()).isEqualTo(201);
      assertThat(send(gateway, "/asked", "k", mine).isReplay()).isTrue();

      for (int status : new int[] {401, 403}) {
        auth.script((request, wire) -> wire.respond(status, "no"));
        assertNothingShown(send(gateway, "/asked", "k", mine), status);
        assertNothingShown(other(gateway, "/asked", "k", mine), status);
        assertNothingShown(send(gateway, "/asked", "k"), status);
      }
      auth.script((request, wire) -> wire.respond(200, ""));
      assertNothingShown(send(gateway, "/asked", "k"), 401);
      assertThat(send(gateway, "/asked", "k", mine).isReplay()).isTrue();
      assertThat(runs).hasValue(1);
    }
  }

  @OnBothStores
  void tokenThatIsNotOfTheCallerGetsNothingOfWhatIsStored(String store) {
    try (TestGateway gateway = gateway(store)) {
      String right = "Authorization: Bearer " + token("t", "u", soon());
      assertThat(send(gateway, "/tokens", "k", right).status()).isEqualTo(201);

      String old = token("t", "u", 1_700_000_000);
      String forged =
          Tokens.signed(
              Tokens.OTHER,
              "{\"iss\":\"https://idp.test\",\"aud\":\"api\",\"exp\":"
                  + soon()
                  + ",\"tenant\":\"t\",\"sub\":\"u\"}");
      for (String token : List.of(old, forged, "t.u.v", "")) {
        String field = "Authorization: Bearer " + token;
        assertNothingShown(send(gateway, "/tokens", "k", field), 401);
        assertNothingShown(other(gateway, "/tokens", "k", field), 401);
      }
      assertThat(send(gateway, "/tokens", "k", right).isReplay()).isTrue();
      assertThat(runs).hasValue(1);
    }
  }

  // ---- which request

  @Test
  void otherRequestIsToldFromARetryOnEveryGatewayItMeets() {
    String store = OnBothStores.Stores.redis(RedisServer.shared());
    String caller = "Authorization: Bearer " + token("t", "u", soon());
    try (TestGateway first = gateway(store);
        TestGateway second = gateway(store);
        RawClient client = RawClient.connect(first.port())) {
      ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
      app.script(gate::passAndAnswer);
      client.send(post("/tokens", "k", "{\"a\":1}", caller));
      await().until(() -> app.requests() == 1);
      for (TestGateway gateway : List.of(second, first, second)) {
        assertThat(other(gateway, "/tokens", "k", caller).problem()).isEqualTo("key-reused");
        assertThat(send(gateway, "/tokens", "k", caller).problem()).isEqualTo("request-in-flight");
      }
      gate.open();
      String answer = client.read().text();

      // One that has never seen the key, asked for something else first.
      try (TestGateway cold = gateway(store)) {
        for (TestGateway gateway : List.of(cold, second, first)) {
          for (int i = 0; i < 2; i++) {
            assertThat(other(gateway, "/tokens", "k", caller).problem()).isEqualTo("key-reused");
          }
          RawResponse replay = send(gateway, "/tokens", "k", caller);
          assertThat(replay.isReplay()).isTrue();
          assertThat(replay.text()).isEqualTo(answer);
          assertThat(other(gateway, "/tokens", "k", caller).problem()).isEqualTo("key-reused");
        }
      }
      assertThat(app.requests()).isEqualTo(1);
    }
  }

  // ---- which key

  @OnBothStores
  void longestKeyAndKeysOfOddFormsAreKeysOfTheirOwn(String store) {
    String longest = "k".repeat(255);
    String[] keys = {
      longest,
      "k".repeat(254),
      "K".repeat(255),
      "\"a b\"",
      "\"a  b\"",
      "\"a,b\"",
      "\"a\\\"b\"",
      "a'b",
      "a;b",
      "a:b",
      "a|b",
      "a\\b"
    };
    try (TestGateway gateway = gateway(store)) {
      String[] names = {"X-Tenant: t", "X-User: u"};
      List<String> firsts = new ArrayList<>();
      for (String key : keys) {
        RawResponse first = send(gateway, "/names", key, names);
        assertThat(first.status()).as(key).isEqualTo(201);
        firsts.add(first.text());
      }
      assertThat(firsts).doesNotHaveDuplicates();
      assertThat(send(gateway, "/names", '"' + longest + '"', names).text())
          .isEqualTo(firsts.get(0));
      for (int i = 0; i < keys.length; i++) {
        RawResponse replay = send(gateway, "/names", keys[i], names);
        assertThat(replay.isReplay()).as(keys[i]).isTrue();
        assertThat(replay.text()).isEqualTo(firsts.get(i));
      }
      for (String bad : List.of(longest + "k", "", "\"\"", "a b", "a,b", "caf\u00e9", "\"k")) {
        assertThat(send(gateway, "/names", bad, names).problem()).as(bad).isEqualTo("key-invalid");
      }
      assertThat(runs).hasValue(keys.length);
    }
  }

  @OnBothStores
  void firstOfTwoPlacesThatDisagreeCountsAndTheOtherKeyStaysFree(String store) {
    try (TestGateway gateway = gateway(store)) {
      RawResponse first = once(gateway.port(), post("/places?id=q", "h", "{\"id\":\"b\"}"));
      assertThat(first.status()).isEqualTo(201);
      assertThat(once(gateway.port(), post("/places?id=q", "h", "{\"id\":\"b\"}")).text())
          .isEqualTo(first.text());
      // The places that did not count are part of the request all the same.
      assertThat(once(gateway.port(), post("/places?id=r", "h", "{\"id\":\"b\"}")).problem())
          .isEqualTo("key-reused");
      assertThat(once(gateway.port(), post("/places?id=q", "h", "{\"id\":\"c\"}")).problem())
          .isEqualTo("key-reused");
      for (String free : List.of("/places?id=q", "/places")) {
        byte[] body = "{\"id\":\"b\"}".getBytes(StandardCharsets.UTF_8);
        RawResponse own =
            once(gateway.port(), request("POST", free, null, "application/json", body));
        assertThat(own.status()).isEqualTo(201);
        assertThat(own.isReplay()).isFalse();
      }
      assertThat(runs).hasValue(3);
    }
  }
}
