package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.Http2RawClient;
import dev.idempotency.gateway.testing.Http2RawClient.Answer;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.ScriptedHttp2Server;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.Transports;
import dev.idempotency.gateway.transport.Transport;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests and responses over HTTP/2 (RFC 9113 §8). */
class Http2RequestsTest {

  private static final long NO_ERROR = 0;
  private static final long INTERNAL_ERROR = 2;
  private static final int CANCEL = 8;
  private static final String HTTP2_LISTENER = "listen: { address: 127.0.0.1:0, http2: true }";

  private final ScriptedUpstream upstream = ScriptedUpstream.ok();

  static Stream<Transport> transports() {
    return Transports.all();
  }

  @AfterEach
  void stop() {
    upstream.close();
  }

  @ParameterizedTest
  @MethodSource("transports")
  void keyedPostIsExecutedOnceAndReplayed(Transport transport) {
    upstream.script((request, wire) -> wire.respond(201, "made", "X-Order: 7", "Set-Cookie: a=b"));
    try (Http2Edge edge = Http2Edge.start(transport, upstream.url());
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      Answer first =
          client
              .post(1, "/keyed/a", "idempotency-key", "k1", "content-length", "5")
              .data(1, false, "he")
              .data(1, true, "llo")
              .read(1);
      Answer second =
          client.post(3, "/keyed/a", "idempotency-key", "k1").data(3, true, "hello").read(3);

      assertThat(first.status()).isEqualTo(201);
      assertThat(first.text()).isEqualTo("made");
      assertThat(first.head()).containsEntry("x-order", "7").containsEntry("content-length", "4");
      assertThat(first.head()).containsEntry("set-cookie", "a=b").containsKey("date");
      assertThat(first.frames()).containsExactly("HEADERS", "DATA+END");
      assertThat(second.status()).isEqualTo(201);
      assertThat(second.body()).isEqualTo(first.body());
      assertThat(second.head())
          .containsEntry("idempotent-replayed", "true")
          .containsEntry("x-order", "7");
      assertThat(upstream.requests()).isEqualTo(1);
      assertThat(upstream.last().text()).isEqualTo("hello");
    }
  }

  @Test
  void upstreamGetsTheRequestAsHttp11WouldHaveBroughtIt() {
    try (Http2Edge edge = Http2Edge.start(upstream.url());
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      client
          .get(1, "/a?b=c", "cookie", "a=1", "te", "trailers", "cookie", "b=2", "x-own", "v")
          .read(1);

      ScriptedUpstream.Received got = upstream.last();
      assertThat(got.line()).isEqualTo("GET /a?b=c HTTP/1.1");
      assertThat(got.headers("cookie")).containsExactly("a=1; b=2");
      assertThat(got.headers("host")).containsExactly("gw.test");
      assertThat(got.header("x-own")).isEqualTo("v");
      assertThat(got.header("via")).isEqualTo("2.0 idempotency-gateway");
      assertThat(got.header("x-forwarded-proto")).isEqualTo("http");
      assertThat(got.header("x-forwarded-for")).isEqualTo("127.0.0.1");
      assertThat(got.headers("te")).isEmpty();
      assertThat(got.headerLines()).noneMatch(line -> line.startsWith(":"));
    }
  }

  @Test
  void requestWithHostAndNoAuthorityIsForThatHost() {
    try (Http2Edge edge = Http2Edge.start(upstream.url());
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      client
          .headers(1, true, ":method", "GET", ":scheme", "http", ":path", "/", "host", "h.test")
          .read(1);
      assertThat(upstream.last().headers("host")).containsExactly("h.test");
    }
  }

  @Test
  void trailersOfTheRequestEndItAndAreDropped() {
    try (Http2Edge edge = Http2Edge.start(upstream.url());
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      Answer answer =
          client
              .post(1, "/keyed/a", "idempotency-key", "k1")
              .data(1, false, "x")
              .headers(1, true, "x-sum", "1")
              .read(1);
      assertThat(answer.status()).isEqualTo(200);
      assertThat(upstream.last().text()).isEqualTo("x");
      assertThat(upstream.last().headers("x-sum")).isEmpty();
    }
  }

  @Test
  void responseWithTrailersEndsWithThem() {
    upstream.script(
        (request, wire) ->
            wire.send(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: X-Hop\r\nX-Hop: 1\r\n"
                    + "\r\n2\r\nok\r\n0\r\nX-Sum: 9\r\n\r\n"));
    try (Http2Edge edge = Http2Edge.start(upstream.url());
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      Answer answer = client.get(1, "/a").read(1);
      assertThat(answer.text()).isEqualTo("ok");
      assertThat(answer.trailers()).containsExactly(java.util.Map.entry("x-sum", "9"));
      assertThat(answer.frames()).containsExactly("HEADERS", "DATA", "HEADERS+END");
      assertThat(answer.head()).doesNotContainKeys("transfer-encoding", "connection", "x-hop");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 204 No\r\n\r\n",
        "HTTP/1.1 304 No\r\n\r\n"
      })
  void responseWithoutContentIsOneBlock(String response) {
    upstream.script((request, wire) -> wire.send(response));
    try (Http2Edge edge = Http2Edge.start(upstream.url());
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      assertThat(client.get(1, "/a").read(1).frames()).containsExactly("HEADERS+END");
    }
  }

  @Test
  void responseToHeadIsOneBlockWithTheLength() {
    upstream.script((request, wire) -> wire.send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"));
    try (Http2Edge edge = Http2Edge.start(upstream.url());
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      Answer answer = client.headers(1, true, Http2RawClient.request("HEAD", "/a")).read(1);
      assertThat(answer.frames()).containsExactly("HEADERS+END");
      assertThat(answer.header("content-length")).isEqualTo("7");
    }
  }

  /** Its end comes later than its head, which has been passed on by then where it does not wait. */
  @ParameterizedTest
  @ValueSource(strings = {"HEAD 200", "GET 204", "GET 304"})
  void responseWithoutContentIsOneBlockThoughItsEndComesLater(String exchange) {
    String method = exchange.substring(0, exchange.indexOf(' '));
    String status = exchange.substring(exchange.indexOf(' ') + 1);
    CompletableFuture<Void> headSent = new CompletableFuture<>();
    CompletableFuture<Void> later = new CompletableFuture<>();
    try (ScriptedHttp2Server server =
            ScriptedHttp2Server.start(
                (request, wire) -> {
                  wire.headers(request.stream(), false, ":status", status);
                  headSent.complete(null);
                  later.join();
                  wire.data(request.stream(), true, "");
                });
        TestGateway gateway =
            EdgeYaml.of(server.url()).upstream("http2: true").top(HTTP2_LISTENER).start();
        Http2RawClient client = Http2RawClient.connect(gateway.port())) {
      client.headers(1, true, Http2RawClient.request(method, "/a"));
      headSent.orTimeout(30, TimeUnit.SECONDS).join();
      // The gateway has one event loop, which has looked at the head when it has answered these.
      for (int i = 1; i <= 20; i++) {
        int pings = i;
        client.ping().readUntil(() -> client.pings() == pings);
      }
      later.complete(null);
      assertThat(client.read(1).frames()).containsExactly("HEADERS+END");
    }
  }

  @Test
  void clientThatExpectsItIsToldToContinue() {
    try (Http2Edge edge = Http2Edge.start(upstream.url());
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      client.post(1, "/keyed/a", "idempotency-key", "k1", "expect", "100-continue");
      client.readUntil(() -> !client.answer(1).blocks().isEmpty());
      assertThat(client.answer(1).blocks().get(0)).containsEntry(":status", "100");
      assertThat(client.data(1, true, "x").read(1).status()).isEqualTo(200);
    }
  }

  @Test
  void interimResponsesArePassedOn() {
    upstream.script(
        (request, wire) ->
            wire.send("HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n").respond(200, "ok"));
    try (Http2Edge edge = Http2Edge.start(upstream.url());
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      Answer answer = client.get(1, "/a").read(1);
      assertThat(answer.blocks().get(0))
          .containsEntry(":status", "103")
          .containsEntry("link", "</a>");
      assertThat(answer.status()).isEqualTo(200);
    }
  }

  @Test
  void hundredStreamsAreAnsweredSideBySide() {
    CountDownLatch all = new CountDownLatch(100);
    upstream.script(
        (request, wire) -> {
          all.countDown();
          all.await(30, TimeUnit.SECONDS);
          wire.respond(200, request.line());
        });
    try (Http2Edge edge = Http2Edge.start(upstream.url());
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      for (int i = 0; i < 100; i++) {
        client.get(2 * i + 1, "/n" + i);
      }
      for (int i = 0; i < 100; i++) {
        assertThat(client.read(2 * i + 1).text()).isEqualTo("GET /n" + i + " HTTP/1.1");
      }
    }
  }

  @Test
  void responseThatBreaksOffIsReset() {
    CountDownLatch begun = new CountDownLatch(1);
    upstream.script(
        (request, wire) -> {
          wire.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
          begun.await(30, TimeUnit.SECONDS);
          wire.close();
        });
    try (Http2Edge edge = Http2Edge.start(upstream.url());
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      client.get(1, "/a").readUntil(() -> client.answer(1).text().equals("half"));
      begun.countDown();
      assertThat(client.read(1).error()).isEqualTo(INTERNAL_ERROR);
      assertThat(client.answer(1).isEnded()).isFalse();
      upstream.script((request, wire) -> wire.respond(200, "ok"));
      assertThat(client.get(3, "/a").read(3).text()).isEqualTo("ok");
    }
  }

  @Test
  void responseBeforeTheEndOfItsRequestAsksForNoMoreOfIt() {
    try (Http2Edge edge = Http2Edge.start(upstream.url());
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      client.post(1, "/keyed/a", "content-length", "100000").data(1, false, new byte[16_000]);
      Answer answer = client.read(1);
      client.readUntil(() -> answer.error() >= 0);
      assertThat(answer.status()).isEqualTo(400);
      assertThat(answer.text()).contains("key-missing");
      assertThat(answer.error()).isEqualTo(NO_ERROR);

      // What was on its way meanwhile is no fault, and its window is given back.
      for (int i = 0; i < 100; i++) {
        client.data(1, false, new byte[16_000]);
      }
      assertThat(client.get(3, "/a").read(3).text()).isEqualTo("ok");
      assertThat(client.goAways()).isEmpty();
    }
  }

  @Test
  void keyedRequestThatIsResetIsFinishedAndReplayedElsewhere() {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    upstream.script(gate::passAndAnswer);
    try (Http2Edge edge = Http2Edge.start(upstream.url());
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      client.post(1, "/keyed/a", "idempotency-key", "k1").data(1, true, "x");
      await().until(() -> upstream.requests() == 1);
      client.reset(1, CANCEL);
      assertThat(client.headers(3, true, Http2RawClient.request("GET", "x")).read(3).status())
          .as("the reset was heard before this")
          .isEqualTo(400);
      gate.open();
      await().until(() -> edge.underWay() == 0);

      try (Http2RawClient other = Http2RawClient.connect(edge.port())) {
        Answer replay =
            other.post(1, "/keyed/a", "idempotency-key", "k1").data(1, true, "x").read(1);
        assertThat(replay.text()).isEqualTo("ok");
        assertThat(replay.header("idempotent-replayed")).isEqualTo("true");
      }
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  @Test
  void keyedRequestsOfAConnectionThatIsCutAreFinished() {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    upstream.script(gate::passAndAnswer);
    try (Http2Edge edge = Http2Edge.start(upstream.url())) {
      Http2RawClient client = Http2RawClient.connect(edge.port());
      client.post(1, "/keyed/a", "idempotency-key", "k1").data(1, true, "x");
      await().until(() -> upstream.requests() == 1);
      client.cut();
      await().until(() -> edge.server().connections() == 0);
      assertThat(edge.underWay()).isEqualTo(1);
      gate.open();
      await().until(() -> edge.underWay() == 0);

      try (Http2RawClient other = Http2RawClient.connect(edge.port())) {
        Answer replay =
            other.post(1, "/keyed/a", "idempotency-key", "k1").data(1, true, "x").read(1);
        assertThat(replay.header("idempotent-replayed")).isEqualTo("true");
      }
    }
  }

  @Test
  void requestWithoutAKeyThatIsResetIsGivenUp() {
    CompletableFuture<String> end = new CompletableFuture<>();
    upstream.script(
        (request, wire) -> {
          try {
            end.complete(wire.in().read() < 0 ? "closed" : "more came");
          } catch (IOException e) {
            end.complete("closed");
          }
        });
    // No time-out of the gateway's ends it within the test.
    try (TestGateway gateway =
            EdgeYaml.of(upstream.url())
                .upstream("response-timeout: 10m")
                .top(HTTP2_LISTENER)
                .start();
        Http2RawClient client = Http2RawClient.connect(gateway.port())) {
      client.get(1, "/a");
      await().until(() -> upstream.requests() == 1);
      client.reset(1, CANCEL);
      assertThat(end.orTimeout(30, TimeUnit.SECONDS).join())
          .as("the upstream's exchange")
          .isEqualTo("closed");
    }
  }

  @Test
  void resetsDoNotBuyMoreWorkThanStreamsAreAllowed() {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    upstream.script(gate::passAndAnswer);
    try (Http2Edge edge = Http2Edge.start(upstream.url(), "http2-streams: 4");
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      for (int i = 0; i < 10; i++) {
        int stream = 2 * i + 1;
        client.post(stream, "/keyed/a", "idempotency-key", "k" + i).data(stream, true, "x");
        int expected = Math.min(i + 1, 4);
        await().until(() -> upstream.requests() == expected);
        client.reset(stream, CANCEL);
      }
      Answer refused = client.get(101, "/a").read(101);
      assertThat(refused.error()).as("REFUSED_STREAM").isEqualTo(7);
      assertThat(upstream.requests()).isEqualTo(4);

      gate.open();
      await().until(() -> edge.underWay() == 0);
      assertThat(client.get(103, "/a").read(103).text()).isEqualTo("ok");
    }
  }

  @Test
  void streamsBeyondTheLimitAreRefusedAndTheOthersGoOn() {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    upstream.script(gate::passAndAnswer);
    try (Http2Edge edge = Http2Edge.start(upstream.url(), "http2-streams: 3");
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      for (int stream = 1; stream <= 11; stream += 2) {
        client.post(stream, "/keyed/a", "idempotency-key", "k" + stream).data(stream, true, "x");
      }
      for (int stream = 7; stream <= 11; stream += 2) {
        assertThat(client.read(stream).error()).isEqualTo(7);
      }
      gate.open();
      for (int stream = 1; stream <= 5; stream += 2) {
        assertThat(client.read(stream).text()).isEqualTo("ok");
      }
      assertThat(client.serverSettings()).containsEntry(3, 3).containsEntry(6, 16 << 10);
    }
  }

  @Test
  void gatewayThatIsToldToSpeaksHttp2() {
    String yaml = "listen: { address: 127.0.0.1:0, http2: true }\n";
    TestGateway gateway = TestGateway.start(yaml + TestGateway.yaml(upstream.url(), "memory"));
    try (Http2RawClient client = Http2RawClient.connect(gateway.port())) {
      assertThat(client.get(1, "/a").read(1).text()).isEqualTo("ok");
      gateway.close();
      client.readToEnd();
      assertThat(client.goAways()).isNotEmpty().containsOnly(0);
    }
  }

  @Test
  void listenerThatIsNotToldToRefusesHttp2() {
    try (TestGateway gateway = TestGateway.start(upstream.url(), "memory");
        RawClient client = RawClient.connect(gateway.port())) {
      assertThat(client.send(Http2RawClient.PREFACE).read().status()).isEqualTo(505);
    }
  }

  @Test
  void http11IsSpokenOnTheSameListener() {
    try (Http2Edge edge = Http2Edge.start(upstream.url())) {
      byte[] get = RawClient.request("GET", "/a", null, null, null);
      assertThat(RawClient.once(edge.port(), get).status()).isEqualTo(200);
      try (RawClient client = RawClient.connect(edge.port())) {
        client.send("PRI");
        client.send("VATE /a HTTP/1.1\r\nHost: gw.test\r\n\r\n");
        assertThat(client.read().status()).isEqualTo(200);
      }
    }
  }

  @Test
  void upgradeToHttp2IsNotTaken() {
    try (Http2Edge edge = Http2Edge.start(upstream.url())) {
      byte[] get =
          RawClient.request(
              "GET", "/a", null, null, null, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c");
      assertThat(RawClient.once(edge.port(), get).status()).isEqualTo(200);
      assertThat(upstream.last().headers("upgrade")).isEmpty();
    }
  }
}
