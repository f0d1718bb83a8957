package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedHttp2Server;
import dev.idempotency.gateway.testing.ScriptedHttp2Server.Wire;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an HTTP/1.1 client sees of an upstream that speaks HTTP/2, and what becomes of its keys. */
class Http2UpstreamsTest {

  private static final int REFUSED_STREAM = 7;
  private static final int CANCEL = 8;

  private final ScriptedHttp2Server server = ScriptedHttp2Server.ok();
  private final TestGateway gateway = EdgeYaml.of(server.url()).upstream("http2: true").start();

  @AfterEach
  void stop() {
    gateway.close();
    server.close();
  }

  private RawResponse post(String key) {
    return RawClient.once(gateway.port(), RawClient.post("/keyed/orders", key, "{}"));
  }

  private RawResponse get() {
    return RawClient.once(
        gateway.port(), RawClient.request("GET", "/plain", null, null, null, "TE: trailers"));
  }

  @Test
  void keyedRequestIsForwardedOnceAndReplayedWithItsTrailers() {
    server.script(
        (request, wire) ->
            wire.headers(request.stream(), false, ":status", "201", "location", "/orders/1")
                .data(request.stream(), false, "made")
                .headers(request.stream(), true, "grpc-status", "0"));
    RawResponse first = post("a");
    RawResponse second = post("a");

    assertThat(first.status()).isEqualTo(201);
    assertThat(second.status()).isEqualTo(201);
    assertThat(second.header("Idempotent-Replayed")).isEqualTo("true");
    assertThat(second.text()).isEqualTo(first.text()).isEqualTo("made");
    assertThat(second.header("location")).isEqualTo("/orders/1");
    assertThat(server.received()).hasSize(1);
    assertThat(server.last().field("idempotency-attempt")).isEqualTo("1");
    assertThat(server.last().field(":authority")).isEqualTo("gw.test");
  }

  @ParameterizedTest
  @ValueSource(strings = {"reset", "goaway"})
  void keyIsFreeAgainWhenTheUpstreamSaysThatItHasNotProcessedTheRequest(String how) {
    server.script(
        (request, wire) -> {
          if (how.equals("reset")) {
            wire.reset(request.stream(), REFUSED_STREAM);
          } else {
            wire.goAway(0, 0);
          }
        });
    RawResponse refused = post("a");
    assertThat(refused.status()).isEqualTo(503);
    assertThat(refused.header("Retry-After")).isEqualTo("1");
    assertThat(refused.text()).contains("#upstream-unreachable");

    server.script((request, wire) -> wire.respond(request.stream(), 201, "made"));
    assertThat(post("a").status()).isEqualTo(201);
    assertThat(server.received()).hasSize(2);
    assertThat(server.last().field("idempotency-attempt")).isEqualTo("1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"reset", "close", "half", "malformed"})
  void keyIsHeldWhenTheUpstreamMayHaveActed(String how) {
    server.script(
        (request, wire) -> {
          int stream = request.stream();
          switch (how) {
            case "reset" -> wire.reset(stream, CANCEL);
            case "close" -> wire.close();
            case "half" -> wire.headers(stream, false, ":status", "201").reset(stream, 2);
            default -> wire.headers(stream, true, ":status", "201", "content-length", "4");
          }
        });
    RawResponse lost = post("a");
    assertThat(lost.status()).isEqualTo(502);
    assertThat(lost.text()).contains("#outcome-unknown");
    assertThat(post("a").status()).isEqualTo(409);
    assertThat(server.received()).hasSize(1);
  }

  @Test
  void requestWithoutKeyThatWasNotProcessedMayBeSentAgain() {
    server.script((request, wire) -> wire.reset(request.stream(), REFUSED_STREAM));
    RawResponse refused = get();
    assertThat(refused.status()).isEqualTo(503);
    assertThat(refused.header("Retry-After")).isEqualTo("1");
    server.script((request, wire) -> wire.respond(request.stream(), 200, "ok"));
    assertThat(get().text()).isEqualTo("ok");
  }

  @Test
  void requestsAtTheSameTimeShareAConnection() throws Exception {
    server.settings(ScriptedHttp2Server.MAX_CONCURRENT_STREAMS, 3);
    List<Integer> streams = new java.util.concurrent.CopyOnWriteArrayList<>();
    CompletableFuture<Wire> wire = new CompletableFuture<>();
    server.script(
        (request, connection) -> {
          streams.add(request.stream());
          wire.complete(connection);
        });
    List<CompletableFuture<RawResponse>> answers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      answers.add(CompletableFuture.supplyAsync(this::get));
    }
    await().until(() -> streams.size() == 3);
    assertThat(server.connections()).isEqualTo(1);
    for (int stream : streams) {
      wire.join().respond(stream, 200, "ok");
    }
    for (CompletableFuture<RawResponse> answer : answers) {
      assertThat(answer.get(20, TimeUnit.SECONDS).text()).isEqualTo("ok");
    }
  }

  @Test
  void upstreamThatSpeaksHttp1GetsNoRequest() {
    try (var http1 = dev.idempotency.gateway.testing.ScriptedUpstream.ok();
        TestGateway other = EdgeYaml.of(http1.url()).upstream("http2: true").start()) {
      RawResponse answer = RawClient.once(other.port(), RawClient.post("/keyed/orders", "a", "{}"));
      assertThat(answer.status()).isEqualTo(502);
      assertThat(answer.text()).contains("#upstream-unreachable");
    }
  }

  @Test
  void bodyOfUnknownLengthPassesBothWays() {
    server.script(
        (request, wire) ->
            wire.headers(request.stream(), false, ":status", "200")
                .data(request.stream(), true, request.text()));
    try (RawClient client = RawClient.connect(gateway.port())) {
      client.send(
          "POST /plain HTTP/1.1\r\nHost: gw.test\r\nTransfer-Encoding: chunked\r\n\r\n"
              + "3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n");
      assertThat(client.read().text()).isEqualTo("onetwo");
    }
    assertThat(server.last().field("content-length")).isNull();
    assertThat(server.last().field("transfer-encoding")).isNull();
  }
}
