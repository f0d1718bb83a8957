package dev.idempotency.gateway;

import static dev.idempotency.gateway.http.ProblemDetails.PAGE;
import static dev.idempotency.gateway.testing.RawClient.post;
import static dev.idempotency.gateway.testing.RawClient.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Gate;
import dev.idempotency.gateway.transport.Transport;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How a client's connection is used: pipelined, split, half-closed, kept alive or not. */
@SuppressWarnings("StringConcatToTextBlock") // whose lines would not end with CR LF
@ParameterizedClass
@MethodSource("dev.idempotency.gateway.testing.Transports#all")
class ClientConnectionsTest {

  private static final String GET = "GET /a HTTP/1.1\r\nHost: gw.test\r\n\r\n";

  private final Transport transport;
  private final ScriptedUpstream upstream =
      ScriptedUpstream.start((request, wire) -> wire.respond(200, request.line()));
  private TestGateway gateway;
  private RawClient client;

  ClientConnectionsTest(Transport transport) {
    this.transport = transport;
  }

  @BeforeEach
  void start() {
    gateway = EdgeYaml.of(upstream.url()).start(transport);
    client = RawClient.connect(gateway.port());
  }

  @AfterEach
  void stop() {
    client.close();
    gateway.close();
    upstream.close();
  }

  private static String text(byte[] bytes) {
    return new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1);
  }

  @Test
  void pipelinedRequestsAreAnsweredInTheirOrder() {
    StringBuilder requests = new StringBuilder();
    for (int i = 0; i < 50; i++) {
      requests.append("GET /").append(i).append(" HTTP/1.1\r\nHost: gw.test\r\n\r\n");
    }
    client.send(requests.toString());
    for (int i = 0; i < 50; i++) {
      assertThat(client.read().text()).isEqualTo("GET /" + i + " HTTP/1.1");
    }
    assertThat(upstream.connections()).isEqualTo(1);
  }

  @Test
  void postAndGetInOneSegmentAreBothAnswered() {
    client.send(text(post("/keyed/a", "k1", "{\"a\":1}")) + GET);
    assertThat(client.read().text()).startsWith("POST /keyed/a");
    assertThat(client.read().text()).startsWith("GET /a");
    assertThat(upstream.received().get(0).text()).isEqualTo("{\"a\":1}");
  }

  @Test
  void sameKeyTwiceInOneSegmentIsExecutedOnceAndReplayed() {
    String request = text(post("/keyed/a", "k1", "{}"));
    client.send(request + request);
    assertThat(client.read().isReplay()).isFalse();
    RawResponse second = client.read();
    assertThat(second.status()).isEqualTo(200);
    assertThat(second.isReplay()).isTrue();
    assertThat(upstream.requests()).isEqualTo(1);
  }

  @Test
  void garbageAfterARequestIsRefusedAfterItsAnswer() {
    client.send(text(post("/keyed/a", "k1", "{}")) + "nonsense\r\n\r\n" + GET);
    assertThat(client.read().status()).isEqualTo(200);
    RawResponse refusal = client.read();
    assertThat(refusal.status()).isEqualTo(400);
    assertThat(refusal.header("Connection")).isEqualTo("close");
    assertThat(client.isClosedByPeer()).isTrue();
    assertThat(upstream.requests()).isEqualTo(1);
  }

  @Test
  void splitAnywhereARequestIsTheSame() {
    byte[] bytes = post("/keyed/a", "k1", "{\"a\":1}");
    byte[] chunked =
        ("POST /keyed/a HTTP/1.1\r\nHost: gw.test\r\nIdempotency-Key: k1\r\n"
                + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "3\r\n{\"a\r\n4;x=y\r\n\":1}\r\n0\r\nX-T: 1\r\n\r\n")
            .getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
    for (byte[] request : List.of(bytes, chunked)) {
      for (int at = 1; at < request.length; at++) {
        client.send(Arrays.copyOfRange(request, 0, at));
        client.send(Arrays.copyOfRange(request, at, request.length));
        assertThat(client.read().status()).as("split at %d", at).isEqualTo(200);
      }
    }
    assertThat(upstream.requests()).isEqualTo(1);
    assertThat(upstream.last().text()).isEqualTo("{\"a\":1}");
    assertThat(upstream.last().header("Content-Length")).isEqualTo("7");
  }

  @Test
  void byteByByteARequestIsTheSame() {
    for (byte b : post("/keyed/a", "k1", "{\"a\":1}")) {
      client.send(new byte[] {b});
    }
    assertThat(client.read().status()).isEqualTo(200);
    assertThat(upstream.last().text()).isEqualTo("{\"a\":1}");
  }

  @Test
  void oneEmptyLineBetweenRequestsIsIgnored() {
    client.send("\r\n" + text(post("/a", null, "{}")) + "\r\n" + GET);
    assertThat(client.read().status()).isEqualTo(200);
    assertThat(client.read().status()).isEqualTo(200);
  }

  @Test
  void oldClientGetsALengthAndAClose() {
    client.send("POST /keyed/a HTTP/1.0\r\nIdempotency-Key: k1\r\nContent-Length: 2\r\n\r\n{}");
    RawResponse response = client.read();
    assertThat(response.header("Content-Length")).isNotNull();
    assertThat(client.isClosedByPeer()).isTrue();
    assertThat(upstream.last().line()).isEqualTo("POST /keyed/a HTTP/1.1");
    // A request of HTTP/1.1 must name a host, though one of HTTP/1.0 need not.
    assertThat(upstream.last().headers("Host")).containsExactly("127.0.0.1:" + upstream.port());
  }

  @Test
  void oldClientThatAsksForItKeepsItsConnection() {
    String get = "GET /a HTTP/1.0\r\nHost: gw.test\r\nConnection: keep-alive\r\n\r\n";
    for (int i = 0; i < 3; i++) {
      RawResponse response = client.send(get).read();
      assertThat(response.header("Connection")).isEqualTo("keep-alive");
      assertThat(response.header("Content-Length")).isNotNull();
    }
  }

  @Test
  void oldClientGetsAResponseOfUnknownLengthUntilTheClose() {
    upstream.script(
        (request, wire) ->
            wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"));
    client.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    RawResponse response = client.read();
    assertThat(response.text()).isEqualTo("ok");
    assertThat(response.header("Transfer-Encoding")).isNull();
    assertThat(response.header("Connection")).isEqualTo("close");
  }

  @Test
  void connectionThatIsToCloseIsClosedAfterTheAnswer() {
    client.send("GET /a HTTP/1.1\r\nHost: gw.test\r\nConnection: close\r\n\r\n" + GET);
    assertThat(client.read().header("Connection")).isEqualTo("close");
    assertThat(client.isClosedByPeer()).isTrue();
    assertThat(upstream.requests()).isEqualTo(1);
    assertThat(upstream.last().header("Connection")).isNull();
  }

  private String expecting(String target, String key, int length) {
    return "POST "
        + target
        + " HTTP/1.1\r\nHost: gw.test\r\n"
        + (key.isEmpty() ? "" : "Idempotency-Key: " + key + "\r\n")
        + "Expect: 100-continue\r\nContent-Length: "
        + length
        + "\r\n\r\n";
  }

  @ParameterizedTest
  @ValueSource(strings = {"/a", "/keyed/a"})
  void bodyThatIsWantedIsAskedFor(String target) {
    client.send(expecting(target, "k1", 2));
    assertThat(client.readAny(false).status()).isEqualTo(100);
    client.send("{}");
    assertThat(client.readAny(false).status()).isEqualTo(200);
    assertThat(upstream.last().text()).isEqualTo("{}");
    assertThat(upstream.last().header("Expect")).isNull();
    assertThat(client.send(GET).read().status()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"no key", "bad key", "too large"})
  void bodyThatIsNotWantedIsNotAskedFor(String why) {
    client.send(
        switch (why) {
          case "no key" -> expecting("/keyed/a", "", 2);
          case "bad key" -> expecting("/keyed/a", "a b", 2);
          default -> expecting("/keyed/a", "k1", 2 << 20);
        });
    RawResponse response = client.readAny(false);
    assertThat(response.status()).isEqualTo(why.equals("too large") ? 413 : 400);
    assertThat(response.header("Connection")).isEqualTo("close");
    assertThat(client.isClosedByPeer()).isTrue();
    assertThat(upstream.requests()).isZero();
  }

  @Test
  void bodyThatComesUnaskedIsTaken() {
    client.send(expecting("/keyed/a", "k1", 2) + "{}");
    assertThat(client.read().status()).isEqualTo(200);
    assertThat(upstream.last().text()).isEqualTo("{}");
  }

  @Test
  void otherExpectationCannotBeMet() {
    client.send("GET /a HTTP/1.1\r\nHost: gw.test\r\nExpect: tea\r\n\r\n");
    assertThat(client.read().status()).isEqualTo(417);
    assertThat(upstream.requests()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/a", "/keyed/a"})
  void halfCloseAfterTheRequestStillGetsTheAnswer(String target) {
    Gate gate = new Gate();
    upstream.script(
        (request, wire) -> {
          gate.pass();
          wire.respond(200, "late");
        });
    client.send(post(target, "k1", "{}")).halfClose();
    await().until(() -> upstream.requests() == 1);
    gate.open();
    assertThat(client.read().text()).isEqualTo("late");
    assertThat(client.isClosedByPeer()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/a", "/keyed/a"})
  void halfCloseBeforeALargeAnswerStillGetsAllOfIt(String target) {
    byte[] large = new byte[16 << 20];
    Arrays.fill(large, (byte) 'x');
    upstream.script((request, wire) -> wire.respond(200, large));
    client.send(post(target, "k1", "{}")).halfClose();
    await().until(() -> upstream.requests() == 1);
    RawResponse response = client.read();
    assertThat(response.complete()).isTrue();
    assertThat(response.body()).isEqualTo(large);
  }

  @Test
  void halfCloseAfterPipelinedRequestsAnswersThemAll() {
    client.send(GET + text(post("/keyed/a", "k1", "{}")) + GET).halfClose();
    for (int i = 0; i < 3; i++) {
      assertThat(client.read().status()).isEqualTo(200);
    }
    assertThat(client.isClosedByPeer()).isTrue();
  }

  @Test
  void halfCloseWithinTheBodyForwardsNothingAndLeavesTheKeyFree() {
    byte[] request = post("/keyed/a", "k1", "{\"a\":1}");
    client.send(Arrays.copyOf(request, request.length - 3)).halfClose();
    assertThat(client.isClosedByPeer()).isTrue();
    assertThat(upstream.requests()).isZero();
    RawResponse whole = RawClient.once(gateway.port(), request);
    assertThat(whole.status()).isEqualTo(200);
    assertThat(whole.isReplay()).isFalse();
  }

  @Test
  void clientThatResetsWhileTheOperationRunsFindsItsAnswerLater() {
    Gate gate = new Gate();
    upstream.script(
        (request, wire) -> {
          gate.pass();
          wire.respond(200, "late");
        });
    client.send(post("/keyed/a", "k1", "{}"));
    await().until(() -> upstream.requests() == 1);
    client.reset();
    gate.open();
    await()
        .untilAsserted(
            () -> {
              RawResponse retry = RawClient.once(gateway.port(), post("/keyed/a", "k1", "{}"));
              assertThat(retry.isReplay()).isTrue();
              assertThat(retry.text()).isEqualTo("late");
            });
    assertThat(upstream.requests()).isEqualTo(1);
  }

  @Test
  void answerCanBeReadWhileTheRefusedBodyIsStillBeingSent() {
    byte[] large = post("/keyed/a", "k1", "x".repeat(5 << 20));
    client.send(large);
    RawResponse response = client.read();
    assertThat(response.status()).isEqualTo(413);
    assertThat(response.problem()).isEqualTo("body-too-large");
    assertThat(client.isClosedByPeer()).isTrue();
    assertThat(upstream.requests()).isZero();
  }

  @Test
  void refusedBodyIsNeverReadAsARequest() {
    String hidden = "GET /hidden HTTP/1.1\r\nHost: gw.test\r\n\r\n";
    client.send(
        "POST /keyed/a HTTP/1.1\r\nHost: gw.test\r\nContent-Length: " + (2 << 20) + "\r\n\r\n");
    client.send(hidden.repeat(100));
    assertThat(client.read().status()).isEqualTo(400);
    assertThat(client.isClosedByPeer()).isTrue();
    assertThat(upstream.requests()).isZero();
  }

  @Test
  void chunkedBodyOverTheLimitIsRefusedInItsMiddle() {
    client.send(
        "POST /keyed/a HTTP/1.1\r\nHost: gw.test\r\nIdempotency-Key: k1\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n");
    String chunk = "10000\r\n" + "x".repeat(0x10000) + "\r\n";
    client.send(chunk.repeat(20) + "0\r\n\r\n" + GET);
    assertThat(client.read().status()).isEqualTo(413);
    assertThat(client.isClosedByPeer()).isTrue();
    assertThat(upstream.requests()).isZero();
  }

  @Test
  void keptAliveConnectionGoesOnAfterARefusalOfAWholeRequest() {
    client.send(post("/keyed/a", null, ""));
    assertThat(client.read().status()).isEqualTo(400);
    assertThat(client.send(GET).read().status()).isEqualTo(200);
  }

  @Test
  void slowBodyIsPassedOnAsItComes() {
    Gate gate = new Gate();
    upstream.withoutReadingBodies();
    upstream.script(
        (request, wire) -> {
          assertThat(wire.in().read()).isEqualTo('a');
          gate.open();
          wire.in().readNBytes(1);
          wire.respond(200, "ok");
        });
    client.send("POST /a HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 2\r\n\r\n");
    client.send("a");
    try {
      gate.pass();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    client.send("b");
    assertThat(client.read().text()).isEqualTo("ok");
  }

  @Test
  void heldBackBodyGoesOnWithoutTheClientsNextByte() {
    Gate gate = new Gate();
    int length = 6 << 20;
    upstream.withoutReadingBodies();
    upstream.script(
        (request, wire) -> {
          gate.pass();
          wire.in().readNBytes(length - 1);
          wire.respond(200, "all");
        });
    client.send("POST /a HTTP/1.1\r\nHost: gw.test\r\nContent-Length: " + length + "\r\n\r\n");
    Thread writer = new Thread(() -> client.send(new byte[length - 1]));
    writer.start();
    await().until(() -> upstream.requests() == 1);
    gate.open();
    assertThat(client.read().text()).isEqualTo("all");
  }

  @Test
  void headOfThePageOfProblemsNamesThePagesLength() {
    RawResponse page = client.send(request("GET", PAGE, null, null, null)).read();
    client.send(request("HEAD", PAGE, null, null, null));
    RawResponse head = client.readAny(true);
    assertThat(page.body()).isNotEmpty();
    assertThat(head.header("Content-Length")).isEqualTo(Integer.toString(page.body().length));
    assertThat(client.send(GET).read().status()).as("no body came").isEqualTo(200);
  }

  @Test
  void headRequestThatIsRefusedHasNoBody() {
    client.send(request("HEAD", "/__unused", null, null, null));
    assertThat(client.readAny(true).status()).isEqualTo(200);
    client.send("HEAD /a HTTP/1.1\r\nHost: a b\r\n\r\n");
    RawResponse refusal = client.readAny(true);
    assertThat(refusal.status()).isEqualTo(400);
    assertThat(client.isClosedByPeer()).isTrue();
  }
}
