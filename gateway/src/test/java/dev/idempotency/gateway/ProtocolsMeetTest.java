package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.Http2RawClient;
import dev.idempotency.gateway.testing.Http2RawClient.Answer;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedHttp2Server;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Either protocol towards clients with either one towards upstreams. */
class ProtocolsMeetTest {

  private static final int LARGE = 8 << 20;
  private static final int MORE_THAN_BUFFERS = 24 << 20;
  private static final int WINDOW = 65_535;
  private static final String BOTH = "listen: { address: 127.0.0.1:0, http2: true }";

  private final ScriptedHttp2Server http2 = ScriptedHttp2Server.ok();
  private final ScriptedUpstream http1 = ScriptedUpstream.ok();
  private TestGateway gateway;

  @AfterEach
  void stop() {
    await().until(() -> gateway.gateway().heldBytes() == 0);
    gateway.close();
    http1.close();
    http2.close();
  }

  private int towardsHttp1() {
    gateway = EdgeYaml.of(http1.url()).top(BOTH).start();
    return gateway.port();
  }

  private int towardsHttp2() {
    gateway = EdgeYaml.of(http2.url()).upstream("http2: true").top(BOTH).start();
    return gateway.port();
  }

  /** Different at each place, so that nothing that is left out or repeated goes unseen. */
  private static byte[] large() {
    byte[] bytes = new byte[LARGE];
    new Random(LARGE).nextBytes(bytes);
    return bytes;
  }

  /** What a client of that protocol sees of a keyed request. */
  private record Seen(int status, String body, String location, boolean replay) {}

  private static Seen order(int port, String protocol, String key) {
    if (protocol.equals("HTTP/1.1")) {
      byte[] request =
          RawClient.post("/keyed/orders", key, "{\"a\":1, \"b\":2}", "Authorization: Bearer x");
      RawResponse response = RawClient.once(port, request);
      return new Seen(
          response.status(), response.text(), response.header("Location"), response.isReplay());
    }
    try (Http2RawClient client = Http2RawClient.connect(port)) {
      client.post(
          1,
          "/keyed/orders",
          "idempotency-key",
          key,
          "content-type",
          "application/json",
          "authorization",
          "Bearer x");
      Answer answer = client.data(1, true, "{\"b\":2,\"a\":1}").read(1);
      return new Seen(
          answer.status(),
          answer.text(),
          answer.header("location"),
          "true".equals(answer.header("idempotent-replayed")));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "HTTP/1.1, HTTP/2, HTTP/1.1",
    "HTTP/2, HTTP/1.1, HTTP/1.1",
    "HTTP/1.1, HTTP/2, HTTP/2",
    "HTTP/2, HTTP/1.1, HTTP/2"
  })
  void operationIsTheSameWhicheverProtocolItsRetryComesOver(
      String first, String retry, String upstream) {
    http1.script((request, wire) -> wire.respond(201, "made", "Location: /orders/1"));
    http2.script(
        (request, wire) ->
            wire.headers(request.stream(), false, ":status", "201", "location", "/orders/1")
                .data(request.stream(), true, "made"));
    int port = upstream.equals("HTTP/2") ? towardsHttp2() : towardsHttp1();

    assertThat(order(port, first, "k")).isEqualTo(new Seen(201, "made", "/orders/1", false));
    assertThat(order(port, retry, "k")).isEqualTo(new Seen(201, "made", "/orders/1", true));
    assertThat(http1.requests() + http2.received().size()).isEqualTo(1);
  }

  @Test
  void trailersOfAnHttp2UpstreamReachAClientOfHttp11ThatWantsThem() {
    http2.script(
        (request, wire) ->
            wire.headers(request.stream(), false, ":status", "200", "trailer", "x-sum")
                .data(request.stream(), false, "content")
                .headers(request.stream(), true, "x-sum", "7"));
    RawResponse response =
        RawClient.once(
            towardsHttp2(), RawClient.request("GET", "/a", null, null, null, "TE: trailers"));
    assertThat(response.text()).isEqualTo("content");
    assertThat(response.complete()).isTrue();
    assertThat(response.header("x-sum")).isEqualTo("7");
  }

  @ParameterizedTest
  @ValueSource(ints = {200, 204, 304})
  void answerWithoutContentOfAnHttp2UpstreamEndsWithItsHead(int status) {
    String method = status == 200 ? "HEAD" : "GET";
    http2.script(
        (request, wire) -> {
          String code = Integer.toString(status);
          if (status == 200) {
            wire.headers(request.stream(), true, ":status", code, "content-length", "12345");
          } else {
            wire.headers(request.stream(), true, ":status", code, "etag", "\"x\"");
          }
        });
    try (RawClient client = RawClient.connect(towardsHttp2())) {
      // Twice on one connection: what is taken for content of the first would spoil the second.
      for (int i = 0; i < 2; i++) {
        client.send(RawClient.request(method, "/a", null, null, null));
        RawResponse response = client.readAny(status == 200);
        assertThat(response.status()).isEqualTo(status);
        assertThat(response.header("Transfer-Encoding")).isNull();
        assertThat(response.header("Content-Length")).isEqualTo(status == 200 ? "12345" : null);
      }
    }
    assertThat(http2.last().field(":method")).isEqualTo(method);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/plain", "/keyed/a"})
  void bodiesPassWholeBetweenHttp11AndHttp2(String path) {
    byte[] body = path.equals("/plain") ? large() : Arrays.copyOf(large(), 1 << 20);
    http2.settings(ScriptedHttp2Server.INITIAL_WINDOW_SIZE, 1 << 20);
    http2.script(
        (request, wire) ->
            wire.respond(
                request.stream(), 200, Arrays.equals(request.body(), body) ? "whole" : "not"));
    byte[] request = RawClient.request("POST", path, "k", "a/b", body);
    assertThat(RawClient.once(towardsHttp2(), request).text()).isEqualTo("whole");
    assertThat(http2.last().field("content-length")).isEqualTo("" + body.length);
  }

  @Test
  void bodiesPassWholeBetweenHttp2AndHttp11() {
    byte[] body = large();
    http1.script((request, wire) -> wire.respond(200, body));
    try (Http2RawClient client = Http2RawClient.connect(towardsHttp1())) {
      Answer answer = client.get(1, "/a").read(1);
      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.body()).isEqualTo(body);
    }
  }

  @Test
  void http2UpstreamThatMakesNoRoomHoldsAClientOfHttp11Back() throws Exception {
    byte[] body = new byte[MORE_THAN_BUFFERS];
    CompletableFuture<ScriptedHttp2Server.Wire> reached = new CompletableFuture<>();
    http2.withoutWindowUpdates().atHead().script((request, wire) -> reached.complete(wire));
    try (RawClient client = RawClient.connect(towardsHttp2())) {
      CompletableFuture<Void> sent =
          CompletableFuture.runAsync(
              () -> client.send(RawClient.request("POST", "/plain", null, "a/b", body)));
      ScriptedHttp2Server.Wire wire = reached.get(20, TimeUnit.SECONDS);
      await().until(() -> http2.contentBytes() == WINDOW);
      // More than all buffers on the way hold is still with the client.
      assertThat(sent.isDone()).isFalse();

      int stream = http2.last().stream();
      wire.windowUpdate(0, MORE_THAN_BUFFERS).windowUpdate(stream, MORE_THAN_BUFFERS);
      sent.get(20, TimeUnit.SECONDS);
      await().until(() -> http2.contentBytes() == MORE_THAN_BUFFERS);
      wire.respond(stream, 200, "whole");
      assertThat(client.read().text()).isEqualTo("whole");
    }
  }
}
