package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A replay is the first response, but for what belonged to the first exchange alone. */
class ReplayFidelityTest {

  private static final AtomicInteger KEYS = new AtomicInteger();
  private static ScriptedUpstream upstream;
  private static TestGateway memory;
  private static TestGateway redis;
  private static TestGateway streaming;

  @BeforeAll
  static void start() {
    upstream = ScriptedUpstream.ok();
    memory = TestGateway.start(upstream.url(), "memory");
    String store = OnBothStores.Stores.redis(RedisServer.shared());
    redis = TestGateway.start(upstream.url(), store);
    streaming = TestGateway.start(upstream.url(), "memory", "response: { mode: stream }");
  }

  @AfterAll
  static void stop() {
    streaming.close();
    redis.close();
    memory.close();
    upstream.close();
  }

  private static List<TestGateway> gateways() {
    return List.of(memory, redis, streaming);
  }

  // ---- bodies

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "204 | \\r\\n                                           | none | ''",
        "204 | Content-Length: 0\\r\\n\\r\\n                    | none | ''",
        "201 | Content-Length: 0\\r\\n\\r\\n                    | 0    | ''",
        "202 | Transfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n | 0    | ''",
        "205 | Content-Length: 0\\r\\n\\r\\n                    | 0    | ''",
        "200 | Content-Length: 4\\r\\n\\r\\nnull                | 4    | null",
      })
  void bodylessSuccessIsReplayedAsWhatItWasAndTheConnectionGoesOn(
      int status, String rest, String length, String body) {
    String text = "HTTP/1.1 " + status + " X\r\n" + unescaped(rest);
    upstream.script((request, wire) -> wire.send(text));
    for (TestGateway gateway : gateways()) {
      byte[] request = post("/o", key(), "{}");
      int before = upstream.requests();
      try (RawClient client = RawClient.connect(gateway.port())) {
        assertThat(client.send(request).read().status()).isEqualTo(status);
        for (int i = 0; i < 2; i++) {
          RawResponse replay = client.send(request).read();
          assertThat(replay.isReplay()).isTrue();
          assertThat(replay.status()).isEqualTo(status);
          assertThat(replay.text()).isEqualTo(body);
          assertThat(replay.headers("Content-Length"))
              .isEqualTo(length.equals("none") ? List.of() : List.of(length));
          assertThat(replay.header("Transfer-Encoding")).isNull();
        }
      }
      assertThat(upstream.requests() - before).isEqualTo(1);
    }
  }

  @Test
  void everyByteIsReplayed() throws IOException {
    byte[] all = new byte[1024];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) i;
    }
    ByteArrayOutputStream zipped = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(zipped)) {
      gzip.write(all);
    }
    isReplayed(all, "Content-Type: application/octet-stream");
    isReplayed(zipped.toByteArray(), "Content-Type: text/plain", "Content-Encoding: gzip");
    isReplayed(
        "caf\u00e9 \u00fc\u00df".getBytes(StandardCharsets.ISO_8859_1),
        "Content-Type: text/plain; charset=iso-8859-1");
    isReplayed(new byte[0], "Content-Type: text/plain");
  }

  private static void isReplayed(byte[] body, String... fields) {
    upstream.script((request, wire) -> wire.respond(200, body, fields));
    for (TestGateway gateway : gateways()) {
      byte[] request = post("/o", key(), "{}");
      assertThat(once(gateway.port(), request).body()).isEqualTo(body);
      RawResponse replay = once(gateway.port(), request);
      assertThat(replay.isReplay()).isTrue();
      assertThat(replay.body()).isEqualTo(body);
      for (String field : fields) {
        assertThat(replay.headerLines()).contains(field);
      }
    }
  }

  // ---- fields

  @Test
  void fieldsOfTheRepresentationAreReplayedAndThoseOfTheExchangeAreNot() {
    String[] kept = {
      "Content-Type: application/json",
      "Content-Language: de",
      "Content-Location: /orders/7",
      "Location: /orders/7",
      "ETag: \"v1\"",
      "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT",
      "Link: </orders/8>; rel=\"next\"",
      "Cache-Control: no-store",
      "Vary: Accept",
      "Retry-After: 120",
      "X-Order-Id: 7",
      "X-Twice: a",
      "X-Twice: b",
      "Date: Sun, 06 Nov 1994 08:49:37 GMT",
    };
    String[] firstOnly = {
      "Set-Cookie: session=1; HttpOnly",
      "Set-Cookie: other=2",
      "WWW-Authenticate: Basic realm=\"x\"",
      "Authentication-Info: nextnonce=\"1\"",
      "RateLimit-Remaining: 3",
      "RateLimit-Reset: 3",
      "RateLimit: \"default\";r=50",
      "X-RateLimit-Remaining: 3",
      "X-RateLimit-Resource: core",
      "X-Rate-Limit-Limit: 3",
      "X-Request-Id: r1",
      "X-Correlation-Id: c1",
      "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "tracestate: a=b",
      "X-B3-TraceId: 1",
      "Server-Timing: db;dur=53",
      "Age: 3",
    };
    String[] never = {
      "Connection: keep-alive, X-Hop, x-other-hop",
      "X-Hop: secret",
      "X-Other-Hop: secret",
      "Keep-Alive: timeout=5",
      "Proxy-Authenticate: Basic",
      "Proxy-Connection: keep-alive",
      "Upgrade: h2c",
      "TE: trailers",
      "Idempotent-Replayed: yes",
      "Idempotency-Bypassed: true",
      "Idempotency-Outcome: completed",
    };
    upstream.script((request, wire) -> wire.respond(201, "made", concat(kept, firstOnly, never)));
    for (TestGateway gateway : gateways()) {
      byte[] request = post("/o", key(), "{}");
      RawResponse first = once(gateway.port(), request);
      assertThat(first.headerLines()).contains(kept).contains(firstOnly).doesNotContain(never);
      assertThat(first.isReplay()).isFalse();

      RawResponse replay = once(gateway.port(), request);
      assertThat(replay.headerLines())
          .containsOnlyOnce(kept)
          .doesNotContain(firstOnly)
          .doesNotContain(never)
          .hasSize(kept.length + 2);
      assertThat(replay.headers("Date")).hasSize(1);
      assertThat(replay.headers("Content-Length")).containsExactly("4");
      assertThat(replay.headers("Idempotent-Replayed")).containsExactly("true");
    }
  }

  @Test
  void responseWithoutDateGetsOne() {
    upstream.script((request, wire) -> wire.respond(201, "made"));
    byte[] request = post("/o", key(), "{}");
    assertThat(once(memory.port(), request).headers("Date")).hasSize(1);
    assertThat(once(memory.port(), request).headers("Date")).hasSize(1);
  }

  @Test
  void cookiesAreReplayedWhereTheRouteKeepsThem() {
    upstream.script(
        (request, wire) -> wire.respond(201, "made", "Set-Cookie: a=1", "WWW-Authenticate: Basic"));
    try (TestGateway gateway =
        TestGateway.start(upstream.url(), "memory", "response: { keep: [ Set-Cookie ] }")) {
      byte[] request = post("/o", key(), "{}");
      once(gateway.port(), request);
      RawResponse replay = once(gateway.port(), request);
      assertThat(replay.headers("Set-Cookie")).containsExactly("a=1");
      assertThat(replay.header("WWW-Authenticate")).isNull();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "https://a.test, https://a.test, true",
    "https://a.test, https://b.test, false",
    "https://a.test, ,               false",
    "*,              https://b.test, true"
  })
  void permissionForOneOriginIsNotShownToAnother(String allowed, String origin, boolean isShown) {
    upstream.script(
        (request, wire) ->
            wire.respond(
                201,
                "made",
                "Access-Control-Allow-Origin: " + allowed,
                "Access-Control-Allow-Credentials: true",
                "Vary: Origin"));
    String key = key();
    once(memory.port(), post("/o", key, "{}", "Origin: https://a.test"));
    RawResponse replay =
        once(
            memory.port(),
            origin == null ? post("/o", key, "{}") : post("/o", key, "{}", "Origin: " + origin));
    assertThat(replay.isReplay()).isTrue();
    assertThat(replay.header("Access-Control-Allow-Origin")).isEqualTo(isShown ? allowed : null);
    assertThat(replay.header("Access-Control-Allow-Credentials"))
        .isEqualTo(isShown ? "true" : null);
    assertThat(replay.header("Vary")).isEqualTo("Origin");
  }

  // ---- interim responses and trailers

  @Test
  void interimResponsesArePassedOnAndNotReplayed() {
    upstream.script(
        (request, wire) ->
            wire.send("HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n")
                .send("HTTP/1.1 102 Processing\r\n\r\n")
                .respond(201, "made"));
    for (TestGateway gateway : gateways()) {
      byte[] request = post("/o", key(), "{}");
      try (RawClient client = RawClient.connect(gateway.port())) {
        client.send(request);
        RawResponse hints = client.readAny(false);
        assertThat(hints.status()).isEqualTo(103);
        assertThat(hints.header("Link")).isEqualTo("</a.css>; rel=preload");
        assertThat(client.readAny(false).status()).isEqualTo(102);
        assertThat(client.readAny(false).status()).isEqualTo(201);
        RawResponse replay = client.send(request).readAny(false);
        assertThat(replay.status()).isEqualTo(201);
        assertThat(replay.isReplay()).isTrue();
      }
    }
  }

  @Test
  void trailersAreShownLiveAndOnReplay() {
    upstream.script(
        (request, wire) ->
            wire.send(
                String.join(
                    "\r\n",
                    "HTTP/1.1 200 OK",
                    "Transfer-Encoding: chunked",
                    "Trailer: X-Sum",
                    "Connection: X-Hop",
                    "",
                    "2",
                    "hi",
                    "0",
                    "X-Sum: 42",
                    "X-Hop: 1",
                    "Idempotent-Replayed: true",
                    "Idempotency-Outcome: released",
                    "Connection: close",
                    "",
                    "")));
    for (TestGateway gateway : gateways()) {
      byte[] request = post("/o", key(), "{}");
      int before = upstream.requests();
      try (RawClient client = RawClient.connect(gateway.port())) {
        RawResponse first = client.send(request).read();
        assertThat(first.text()).isEqualTo("hi");
        assertThat(first.headers("X-Sum")).containsExactly("42");
        assertThat(first.header("X-Hop")).isNull();
        assertThat(first.isReplay()).isFalse();
        assertThat(first.header("Idempotency-Outcome")).isNull();
        RawResponse replay = client.send(request).read();
        assertThat(replay.isReplay()).isTrue();
        assertThat(replay.headers("Idempotent-Replayed")).hasSize(1);
        assertThat(replay.text()).isEqualTo("hi");
        assertThat(replay.headers("X-Sum")).containsExactly("42");
        assertThat(replay.header("X-Hop")).isNull();
        assertThat(replay.header("Connection")).isNull();
      }
      assertThat(upstream.requests() - before).isEqualTo(1);
      RawResponse passed =
          once(
              gateway.port(),
              RawClient.request("GET", "/o", null, null, null, "Connection: close"));
      assertThat(passed.headers("X-Sum")).containsExactly("42");
      assertThat(passed.header("X-Hop")).isNull();
    }
  }

  // ---- size

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void responseOfTheLimitIsKeptAndALargerOneIsNot(boolean streams) {
    int limit = 64 * 1024;
    try (TestGateway gateway =
        TestGateway.start(
            upstream.url(),
            "memory",
            "response: { limit: 64KiB, mode: " + (streams ? "stream" : "buffer") + " }")) {
      String exactly = "x".repeat(limit);
      upstream.script((request, wire) -> wire.respond(200, exactly));
      byte[] fitting = post("/o", key(), "{}");
      assertThat(once(gateway.port(), fitting).text()).isEqualTo(exactly);
      RawResponse replay = once(gateway.port(), fitting);
      assertThat(replay.isReplay()).isTrue();
      assertThat(replay.text()).isEqualTo(exactly);

      upstream.script((request, wire) -> wire.respond(200, exactly + "y"));
      isNotKept(gateway, exactly + "y");

      upstream.script(
          (request, wire) -> {
            wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            for (int i = 0; i < 3; i++) {
              wire.send("10000\r\n" + exactly + "\r\n");
            }
            wire.send("0\r\n\r\n");
          });
      isNotKept(gateway, exactly.repeat(3));
    }
  }

  private static void isNotKept(TestGateway gateway, String body) {
    byte[] request = post("/o", key(), "{}");
    int before = upstream.requests();
    RawResponse first = once(gateway.port(), request);
    assertThat(first.complete()).isTrue();
    assertThat(first.text().length()).isEqualTo(body.length());
    assertThat(first.text()).isEqualTo(body);
    RawResponse retry = once(gateway.port(), request);
    assertThat(retry.status()).isEqualTo(409);
    assertThat(retry.problem()).isEqualTo("response-not-kept");
    assertThat(retry.text()).contains("status 200");
    assertThat(retry.header("Retry-After")).isNull();
    assertThat(upstream.requests() - before).isEqualTo(1);
  }

  @Test
  void streamedBytesArriveBeforeTheEndAndAreReplayed() {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    upstream.script(
        (request, wire) -> {
          wire.send(
              String.join(
                  "\r\n",
                  "HTTP/1.1 200 OK",
                  "Content-Type: text/event-stream",
                  "Transfer-Encoding: chunked",
                  "",
                  "a",
                  "data: one\n",
                  ""));
          gate.pass();
          wire.send("a\r\ndata: two\n\r\n0\r\n\r\n");
        });
    byte[] request = post("/o", key(), "{}");
    try (RawClient client = RawClient.connect(streaming.port())) {
      client.send(request).readUntil("data: one");
      assertThat(once(streaming.port(), request).problem()).isEqualTo("request-in-flight");
      gate.open();
      client.readUntil("0\r\n\r\n");
      RawResponse replay = client.send(request).read();
      assertThat(replay.isReplay()).isTrue();
      assertThat(replay.text()).isEqualTo("data: one\ndata: two\n");
      assertThat(replay.header("Content-Type")).isEqualTo("text/event-stream");
      assertThat(replay.header("Transfer-Encoding")).isNull();
      assertThat(replay.headers("Content-Length")).containsExactly("20");
    }
  }

  private static String[] concat(String[]... lists) {
    return java.util.Arrays.stream(lists).flatMap(java.util.Arrays::stream).toArray(String[]::new);
  }

  private static String unescaped(String text) {
    return text.strip().replace("\\r", "\r").replace("\\n", "\n");
  }

  private static String key() {
    return "k" + KEYS.incrementAndGet();
  }
}
