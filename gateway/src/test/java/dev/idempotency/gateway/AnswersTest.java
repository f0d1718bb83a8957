package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static dev.idempotency.gateway.testing.RawClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the gateway says in its own name, as the file tells it to. */
class AnswersTest {

  private static final String APP = "https://app.example";
  private static final String OTHER = "https://other.example";
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

  private final ScriptedUpstream upstream = ScriptedUpstream.ok();
  private TestGateway gateway;

  @AfterEach
  void stop() {
    gateway.close();
    upstream.close();
  }

  private void start(String... route) {
    start("memory", route);
  }

  private void start(String store, String[] route) {
    gateway = TestGateway.start(upstream.url(), store, route);
  }

  private RawResponse send(String key, String... headerLines) {
    return once(gateway.port(), post("/o", key, "{}", headerLines));
  }

  // ---- when and where

  @OnBothStores
  void replaySaysWhenAndWhereItWasMadeAndWhenItEnds(String store) {
    String date = "Sun, 06 Nov 1994 08:49:37 GMT";
    upstream.script((request, wire) -> wire.respond(201, "made", "Date: " + date));
    start(store, new String[] {"response: { expires: true }", "retention: 2h"});
    RawResponse first = send("k", "traceparent: 00-" + TRACE + "-00f067aa0ba902b7-01");
    RawResponse replay = send("k", "traceparent: 00-" + "1".repeat(32) + "-00f067aa0ba902b7-01");

    assertThat(replay.isReplay()).isTrue();
    assertThat(first.headers("Date")).containsExactly(date);
    assertThat(replay.headers("Date")).containsExactly(date);
    assertThat(first.headers("Idempotency-Original-Trace")).isEmpty();
    assertThat(replay.headers("Idempotency-Original-Trace")).containsExactly(TRACE);
    assertThat(first.headers("Idempotency-Expires")).hasSize(1);
    assertThat(replay.headers("Idempotency-Expires"))
        .isEqualTo(first.headers("Idempotency-Expires"));
  }

  @Test
  void replayOfAnAnswerWithoutADateHasTheDateOfTheFirst() {
    upstream.script(
        (request, wire) -> wire.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"));
    start();
    RawResponse first = send("k");

    assertThat(first.headers("Date")).hasSize(1);
    assertThat(send("k").headers("Date")).isEqualTo(first.headers("Date"));
  }

  // ---- pages of other origins

  @Test
  void pageMayReadErrorsAndReplaysThatItsRouteLetsItRead() {
    upstream.script(
        (request, wire) ->
            wire.respond(201, "made", "Access-Control-Allow-Origin: " + APP, "Vary: Origin"));
    start(
        "idempotency: required",
        "cors: { origins: [\"" + APP + "\", \"" + OTHER + "\"], credentials: true }");
    RawResponse error = send(null, "Origin: " + APP);
    assertThat(error.status()).isEqualTo(400);
    assertThat(error.headers("Access-Control-Allow-Origin")).containsExactly(APP);
    assertThat(error.headers("Access-Control-Allow-Credentials")).containsExactly("true");

    RawResponse first = send("k", "Origin: " + APP);
    assertThat(first.header("Access-Control-Expose-Headers")).contains("Idempotent-Replayed");
    RawResponse replay = send("k", "Origin: " + OTHER);
    assertThat(replay.headers("Access-Control-Allow-Origin")).containsExactly(OTHER);
    assertThat(replay.headers("Vary")).containsExactly("Origin");
    RawResponse stranger = send("k", "Origin: https://evil.example");
    assertThat(stranger.isReplay()).isTrue();
    assertThat(stranger.headerLines()).noneMatch(line -> line.startsWith("Access-Control-"));
  }

  @Test
  void pageMayReadTheGatewaysFieldsOfWhatIsPassedThrough() {
    upstream.script((request, wire) -> wire.respond(200, "all", "Access-Control-Allow-Origin: *"));
    start("cors: { origins: [\"*\"] }");
    RawResponse passed = once(gateway.port(), request("GET", "/o", null, null, null));

    assertThat(passed.header("Access-Control-Expose-Headers")).contains("Idempotency-Bypassed");
  }

  // ---- style

  @Test
  void errorIsInTheStyleOfTheRoute() throws IOException {
    start("errors: stripe");
    send("k");
    RawResponse reused = once(gateway.port(), post("/o", "k", "[]"));

    assertThat(reused.status()).isEqualTo(400);
    assertThat(reused.headers("Content-Type")).containsExactly("application/json");
    assertThat(reused.headers("Stripe-Should-Retry")).containsExactly("false");
    JsonNode error = new ObjectMapper().readTree(reused.body()).path("error");
    assertThat(error.path("type").asText()).isEqualTo("idempotency_error");
  }

  // ---- discovery

  private static final byte[] QUESTION =
      request("GET", "/.well-known/idempotency", null, null, null);

  private static final String ROUTES =
      """
      store: memory
      drain: 1s
      upstreams: { app: { url: "%s" } }
      routes:
        - { name: shown, path: /shown/**, upstream: app, retention: 48h, in-flight: wait 5s }
        - { name: hidden, path: /hidden, upstream: app, listed: false }
        - { name: watched, path: /watched, upstream: app, observe: true }
        - { name: plain, path: /**, upstream: app, idempotency: off }
      """;

  @Test
  void listedRoutesAreToldToEverybody() throws IOException {
    gateway = TestGateway.start(ROUTES.formatted(upstream.url()));
    RawResponse response = once(gateway.port(), QUESTION);
    JsonNode policy = new ObjectMapper().readTree(response.body());

    assertThat(response.headers("Content-Type")).containsExactly("application/json");
    assertThat(response.headers("Access-Control-Allow-Origin")).containsExactly("*");
    assertThat(policy.path("routes")).hasSize(1);
    JsonNode route = policy.path("routes").path(0);
    assertThat(route.path("name").asText()).isEqualTo("shown");
    assertThat(route.path("path").asText()).isEqualTo("/shown/**");
    assertThat(route.path("retention").path("text").asText()).isEqualTo("2 days");
    assertThat(route.path("in_flight").path("wait").asText()).isEqualTo("PT5S");
    assertThat(response.text()).doesNotContain("hidden", upstream.url());
    // Its duplicates are executed again: who reads that it has keys would rely on them.
    assertThat(response.text()).doesNotContain("watched");
  }

  @Test
  void browserIsShownAPage() {
    gateway = TestGateway.start(ROUTES.formatted(upstream.url()));
    byte[] question =
        request("GET", "/.well-known/idempotency", null, null, null, "Accept: text/html,*/*;q=0.8");
    RawResponse page = once(gateway.port(), question);

    assertThat(page.header("Content-Type")).startsWith("text/html");
    assertThat(page.text()).contains("<h3>shown</h3>", "id=\"key-reused\"");
    assertThat(page.text()).doesNotContain("hidden");
  }

  @Test
  void pageThatIsKnownIsNotSentAgain() {
    gateway = TestGateway.start(ROUTES.formatted(upstream.url()));
    String tag = once(gateway.port(), QUESTION).header("ETag");
    byte[] again =
        request("GET", "/.well-known/idempotency", null, null, null, "If-None-Match: " + tag);
    RawResponse known = once(gateway.port(), again);

    assertThat(known.status()).isEqualTo(304);
    assertThat(known.body()).isEmpty();
  }

  @Test
  void gatewayWithoutDiscoveryHasNothingThere() {
    gateway = TestGateway.start("discovery: false\n" + ROUTES.formatted(upstream.url()));
    RawResponse response = once(gateway.port(), QUESTION);

    assertThat(response.status()).isEqualTo(404);
    assertThat(response.problem()).isEqualTo("no-route");
    assertThat(upstream.requests()).isZero();
  }
}
