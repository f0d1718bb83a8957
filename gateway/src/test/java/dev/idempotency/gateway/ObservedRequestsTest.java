package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static dev.idempotency.gateway.testing.RawClient.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.FaultProxy;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Received;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A route with {@code observe: true}: clients notice nothing of the gateway. */
class ObservedRequestsTest {

  private final ScriptedUpstream upstream =
      ScriptedUpstream.start(
          (request, wire) -> wire.respond(201, "answer to " + request.header("X-Number")));
  private TestGateway gateway;

  @AfterEach
  void stop() {
    if (gateway != null) {
      gateway.close();
    }
    upstream.close();
  }

  private void start(String store, String... route) {
    String[] lines = new String[route.length + 1];
    lines[0] = "observe: true";
    System.arraycopy(route, 0, lines, 1, route.length);
    gateway = TestGateway.start(upstream.url(), store, lines);
  }

  private String passes(byte[] question, String number, String body) {
    RawResponse response = once(gateway.port(), question);
    assertThat(response.text()).isEqualTo("answer to " + number);
    assertThat(response.headerLines()).noneMatch(line -> line.startsWith("Idempot"));
    Received last = upstream.last();
    assertThat(last.text()).isEqualTo(body);
    String attempt = last.header("Idempotency-Attempt");
    return attempt == null ? "" : attempt;
  }

  /** The number of requests that would have ended so. */
  private double observed(String wouldBe) {
    byte[] question = request("GET", "/metrics", null, null, null);
    String series = "gateway_observed_total{route=\"default\",would_be=\"" + wouldBe + "\"} ";
    return once(gateway.adminPort(), question)
        .text()
        .lines()
        .filter(line -> line.startsWith(series))
        .mapToDouble(line -> Double.parseDouble(line.substring(series.length())))
        .sum();
  }

  private void wouldBe(String result) {
    await().until(() -> observed(result) == 1);
  }

  @OnBothStores
  void duplicateReachesTheUpstreamAndIsCounted(String store) {
    start(store);
    assertThat(passes(post("/o", "k", "{}", "X-Number: 1"), "1", "{}")).isEqualTo("1");
    assertThat(passes(post("/o", "k", "{}", "X-Number: 2"), "2", "{}")).isEmpty();
    assertThat(passes(post("/o", "k", "[]", "X-Number: 3"), "3", "[]")).isEmpty();

    assertThat(upstream.requests()).isEqualTo(3);
    wouldBe("replayed");
    wouldBe("key_reused");
  }

  @Test
  void requestWithoutAKeyOrAnIdentityReachesTheUpstream() {
    start("memory", "idempotency: required", "scope: [\"header:X-Tenant\"]");
    passes(post("/o", null, "{}", "X-Number: 1", "X-Tenant: t"), "1", "{}");
    passes(post("/o", "k", "{}", "X-Number: 2"), "2", "{}");

    wouldBe("key_missing");
    wouldBe("identity_missing");
  }

  @Test
  void requestThatIsBadHttpIsRefused() {
    start("memory");
    byte[] question = post("/o", "k", "{}", "Connection: Idempotency-Key");
    assertThat(once(gateway.port(), question).status()).isEqualTo(400);
    assertThat(upstream.requests()).isZero();
  }

  @Test
  void storeThatIsAwayKeepsNobodyOut() {
    try (RedisServer redis = RedisServer.start();
        FaultProxy proxy = FaultProxy.to(redis)) {
      String url = "redis://127.0.0.1:" + proxy.port();
      start("{ url: \"" + url + "\", timeout: 500ms }");
      await().until(gateway::isReady);
      proxy.blackHole();
      passes(post("/o", "k", "{}", "X-Number: 1"), "1", "{}");

      wouldBe("store_unavailable");
    }
  }

  @Test
  void bodyOverTheLimitReachesTheUpstreamWhole() {
    start("memory", "request: { limit: 64KiB }");
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    String body = text(new Random(seed), 3 << 20);
    passes(post("/o", "k", body, "X-Number: 1"), "1", body);

    wouldBe("too_large");
  }

  @Test
  void chunkedBodyThatGrowsOverTheLimitReachesTheUpstreamWhole() {
    start("memory", "request: { limit: 64KiB }");
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    StringBuilder body = new StringBuilder();
    try (RawClient client = RawClient.connect(gateway.port())) {
      client.send(
          "POST /o HTTP/1.1\r\nHost: gw.test\r\nIdempotency-Key: k\r\nX-Number: 1\r\n"
              + "Transfer-Encoding: chunked\r\n\r\n");
      while (body.length() < 3 << 20) {
        String piece = text(random, 1 + random.nextInt(100_000));
        body.append(piece);
        client.send(Integer.toHexString(piece.length()) + "\r\n" + piece + "\r\n");
      }
      client.send("0\r\n\r\n");
      assertThat(client.read().text()).isEqualTo("answer to 1");
      assertThat(upstream.last().text()).isEqualTo(body.toString());
      // The connection goes on.
      client.send(post("/o", "k2", "{}", "X-Number: 2"));
      assertThat(client.read().text()).isEqualTo("answer to 2");
    }
    wouldBe("too_large");
    assertThat(gateway.gateway().heldBytes()).isZero();
  }

  @Test
  void bodyForWhichNoMemoryIsLeftReachesTheUpstreamWhole() {
    gateway =
        TestGateway.start(
            String.join(
                "\n",
                "store: memory",
                "drain: 1s",
                "threads: 1",
                "limits: { body-budget: 1MiB }",
                "upstreams: { app: { url: \"" + upstream.url() + "\" } }",
                "routes:",
                "  - { name: default, path: /**, upstream: app, observe: true,"
                    + " request: { limit: 1MiB } }",
                ""));
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    String body = text(new Random(seed), 1 << 20);
    passes(post("/o", "k", body, "X-Number: 1"), "1", body);

    wouldBe("overloaded");
    assertThat(gateway.gateway().heldBytes()).isZero();
  }

  private static String text(Random random, int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) ('a' + random.nextInt(26));
    }
    return new String(bytes, StandardCharsets.US_ASCII);
  }

  @Test
  void uploadThatIsRepeatedStreamsToTheUpstream() {
    start("memory", "fingerprint: { body: raw }", "request: { limit: 8MiB, mode: stream }");
    for (String number : List.of("1", "2")) {
      passes(
          post("/o", "k", "x".repeat(100_000), "X-Number: " + number), number, "x".repeat(100_000));
    }
    wouldBe("replayed");
  }
}
