package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static dev.idempotency.gateway.testing.RawClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.transport.Transport;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the upstream's responses may look like, and what becomes of those that are none. */
@SuppressWarnings("StringConcatToTextBlock") // whose lines would not end with CR LF
@ParameterizedClass
@MethodSource("dev.idempotency.gateway.testing.Transports#all")
class UpstreamResponsesTest {

  private static final byte[] GET = request("GET", "/a", null, null, null);

  private final Transport transport;
  private final ScriptedUpstream upstream = ScriptedUpstream.ok();
  private TestGateway gateway;

  UpstreamResponsesTest(Transport transport) {
    this.transport = transport;
  }

  @BeforeEach
  void start() {
    gateway = EdgeYaml.of(upstream.url()).start(transport);
  }

  @AfterEach
  void stop() {
    gateway.close();
    upstream.close();
  }

  private void answers(String response) {
    upstream.script((request, wire) -> wire.send(response));
  }

  private void answersAndCloses(String response) {
    upstream.script((request, wire) -> wire.send(response).close());
  }

  private RawResponse get() {
    return RawClient.once(gateway.port(), GET);
  }

  private RawResponse post1() {
    return RawClient.once(gateway.port(), post("/keyed/a", "k1", "{}"));
  }

  @Test
  void headKeepsTheLengthAndHasNoBody() {
    answers("HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n");
    try (RawClient client = RawClient.connect(gateway.port())) {
      byte[] head = request("HEAD", "/a", null, null, null);
      for (int i = 0; i < 3; i++) {
        RawResponse response = client.send(head).readAny(true);
        assertThat(response.header("Content-Length")).isEqualTo("1234");
      }
      answers("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      assertThat(client.send(GET).read().text()).isEqualTo("ok");
      assertThat(upstream.connections()).isEqualTo(1);
    }
  }

  @Test
  void headOfAChunkedResponseHasNoBody() {
    answers("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    try (RawClient client = RawClient.connect(gateway.port())) {
      byte[] head = request("HEAD", "/a", null, null, null);
      assertThat(client.send(head).readAny(true).status()).isEqualTo(200);
      answers("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      assertThat(client.send(GET).read().text()).isEqualTo("ok");
    }
  }

  /** The codec takes the coding out of a response without content before anybody sees it. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
      })
  void headWhoseFramingContradictsItselfIsNoResponse(String response) {
    answers(response);
    try (RawClient client = RawClient.connect(gateway.port())) {
      byte[] head = request("HEAD", "/a", null, null, null);
      assertThat(client.send(head).readAny(true).status()).isEqualTo(502);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "204 No Content\r\n\r\n",
        "204 No Content\r\nContent-Length: 0\r\n\r\n",
        "304 Not Modified\r\nETag: \"1\"\r\n\r\n",
        "304 Not Modified\r\nContent-Length: 700\r\n\r\n"
      })
  void statusWithoutContentLeavesBothConnectionsUsable(String response) {
    answers("HTTP/1.1 " + response);
    try (RawClient client = RawClient.connect(gateway.port())) {
      for (int i = 0; i < 3; i++) {
        RawResponse got = client.send(GET).read();
        assertThat(got.status()).isEqualTo(Integer.parseInt(response.substring(0, 3)));
        assertThat(got.header("Transfer-Encoding")).isNull();
        assertThat(got.header("Connection")).isNull();
        if (got.status() == 204) {
          assertThat(got.header("Content-Length")).isNull();
        }
      }
      answers("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      assertThat(client.send(GET).read().text()).isEqualTo("ok");
      assertThat(upstream.connections()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/a", "/keyed/a"})
  void interimResponsesArePassedOnAndContinueIsSwallowed(String target) {
    answers(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
            + "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    try (RawClient client = RawClient.connect(gateway.port())) {
      client.send(post(target, "k1", "{}"));
      RawResponse hints = client.readAny(false);
      assertThat(hints.status()).isEqualTo(103);
      assertThat(hints.header("Link")).isEqualTo("</x>");
      assertThat(hints.header("Content-Length")).isNull();
      assertThat(client.readAny(false).status()).isEqualTo(102);
      assertThat(client.readAny(false).text()).isEqualTo("ok");
    }
  }

  @Test
  void interimResponseIsNotShownToAnOldClient() {
    answers(
        "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
            + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    try (RawClient client = RawClient.connect(gateway.port())) {
      RawResponse got = client.send("GET /a HTTP/1.0\r\nHost: gw.test\r\n\r\n").readAny(false);
      assertThat(got.text()).isEqualTo("ok");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1\r\n\r\n",
        "HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 1000 High\r\nContent-Length: 0\r\n\r\n",
        "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/3.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "ICY 200 OK\r\nContent-Length: 0\r\n\r\n",
        "<html>\r\n\r\n",
        "SSH-2.0-OpenSSH_9.6\r\n",
        "HTTP/1.1 200 OK\r\nX: a\u0000b\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk",
        "HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nokk",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\n"
            + "Transfer-Encoding: chunked\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n"
            + "0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked, gzip\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\n Folded: onto nothing\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
        "HTTP/1.1 200 OK\r\nX: 1\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nX: 1\rContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nX: \u0001\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nX: \u007f\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\n: no name\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nServer: before\r\nno-too \r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nX-One: before\r\nno-c \t\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 0 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 99 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 -200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 +200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTtP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.10 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1  200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1\t200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1\r 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200\r OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200\tOK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 O\rK\r\nContent-Length: 2\r\n\r\nok",
        "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        " HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "\u0000HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 103 Hints\r\n\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
      })
  void whatIsNoResponseIsAnUnknownOutcome(String bytes) {
    answers(bytes);
    RawResponse response = post1();
    assertThat(response.status()).isEqualTo(502);
    assertThat(response.problem()).isEqualTo("outcome-unknown");
    assertThat(get().status()).isEqualTo(502);
    answers("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    assertThat(get().text()).isEqualTo("ok");
  }

  @ParameterizedTest
  @ValueSource(strings = {"line", "field", "fields"})
  void oversizeHeadIsAnUnknownOutcome(String what) {
    answers(
        switch (what) {
          case "line" -> "HTTP/1.1 200 " + "x".repeat(100_000);
          case "field" -> "HTTP/1.1 200 OK\r\nX: " + "x".repeat(100_000);
          default -> "HTTP/1.1 200 OK\r\n" + "X: yyyyyyyyyyyyyyyyyyyyyyyyyy\r\n".repeat(4_000);
        });
    assertThat(post1().problem()).isEqualTo("outcome-unknown");
    assertThat(get().status()).isEqualTo(502);
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 101})
  void interimResponsesAreBounded(int many) {
    String interim = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
    answers(interim.repeat(many) + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    assertThat(get().status()).isEqualTo(many > 100 ? 502 : 200);
    assertThat(post1().status()).isEqualTo(many > 100 ? 502 : 200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"204 No Content", "304 Not Modified"})
  void contentWhereThereIsNoneReachesNobody(String status) {
    answers("HTTP/1.1 " + status + "\r\nContent-Length: 6\r\n\r\npoison");
    try (RawClient client = RawClient.connect(gateway.port())) {
      assertThat(client.send(GET).read().text()).isEmpty();
      answers("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      assertThat(client.send(GET).read().text()).isEqualTo("ok");
    }
    assertThat(upstream.connections()).isEqualTo(2);
  }

  @Test
  void blankBeforeAColonIsRemoved() {
    answers("HTTP/1.1 200 OK\r\nContent-Length \t: 2\r\nX-Note : y\r\n\r\nok");
    RawResponse response = get();
    assertThat(response.text()).isEqualTo("ok");
    assertThat(response.header("X-Note")).isEqualTo("y");
  }

  @Test
  void foldedFieldIsJoined() {
    answers("HTTP/1.1 200 OK\r\nX-Note: one\r\n\t two\r\nContent-Length: 2\r\n\r\nok");
    RawResponse response = get();
    assertThat(response.status()).isIn(200, 502);
    if (response.status() == 200) {
      assertThat(response.header("X-Note")).isEqualTo("one two");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "zz\r\n",
        "-1\r\n",
        "+1\r\nx\r\n0\r\n\r\n",
        "0x1\r\nx\r\n0\r\n\r\n",
        "ffffffffffffffff\r\nx",
        "80000000\r\nx",
        "1\nx\r\n0\r\n\r\n",
        "1\r\nxy0\r\n\r\n",
        "\r\n",
        "0\r\nno colon\r\n\r\n",
        "0\r\nX-One: before\r\nno-c \r\n\r\n",
        "0\r\nX: \u0000\r\n\r\n"
      })
  void brokenChunksCutTheResponseOff(String chunks) {
    answers("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n" + chunks);
    assertThat(post1().problem()).isEqualTo("outcome-unknown");
    RawResponse passed = get();
    assertThat(passed.status() == 502 || !passed.complete()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n1",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n",
        "HTTP/1.1 200 OK\r\nContent-Len",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 1",
        ""
      })
  void responseThatEndsEarlyIsNeitherCompletedNorShownAsWhole(String bytes) {
    answersAndCloses(bytes);
    assertThat(post1().problem()).isEqualTo("outcome-unknown");
    assertThat(post1().status()).isEqualTo(409);
    RawResponse passed = get();
    assertThat(passed.status() == 502 || !passed.complete()).isTrue();
  }

  @Test
  void responseDelimitedByTheCloseIsWhole() {
    for (String version : List.of("1.0", "1.1")) {
      answersAndCloses(
          "HTTP/" + version + " 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil close");
      RawResponse response = get();
      assertThat(response.text()).isEqualTo("until close");
      assertThat(response.header("Transfer-Encoding")).isEqualTo("chunked");
    }
    RawResponse first = post1();
    RawResponse second = post1();
    assertThat(first.text()).isEqualTo("until close");
    assertThat(second.isReplay()).isTrue();
    assertThat(second.text()).isEqualTo("until close");
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET", "POST"})
  void responseDelimitedByAResetIsNotWhole(String method) {
    upstream.script(
        (request, wire) -> {
          wire.send("HTTP/1.0 200 OK\r\n\r\nhalf");
          wire.reset();
        });
    RawResponse response = method.equals("POST") ? post1() : get();
    assertThat(response.status() == 502 || !response.complete()).isTrue();
  }

  /** The write's failure takes the socket's error away, and the next read says "end". */
  @Test
  void responseDelimitedByAResetThatAWriteMetIsNotWhole() {
    upstream.withoutReadingBodies();
    upstream.script(
        (request, wire) -> {
          wire.send("HTTP/1.0 200 OK\r\n\r\nhalf");
          wire.reset();
        });
    byte[] upload = request("POST", "/a", null, "a/b", new byte[8 << 20]);
    for (int i = 0; i < 10; i++) {
      RawResponse response = RawClient.onceIgnoringWriteFailure(gateway.port(), upload);
      assertThat(response.status() == 502 || !response.complete()).as("%s", response).isTrue();
    }
  }

  @Test
  void oldKeepAliveUpstreamIsUsedAgain() {
    answers("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok");
    assertThat(get().text()).isEqualTo("ok");
    assertThat(get().text()).isEqualTo("ok");
    assertThat(upstream.connections()).isEqualTo(1);
  }

  @Test
  void closingResponseIsTheLastOnItsConnection() {
    answers("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
    assertThat(get().text()).isEqualTo("ok");
    assertThat(get().text()).isEqualTo("ok");
    assertThat(upstream.connections()).isEqualTo(2);
  }

  @Test
  void trailersOfAResponseArePassedOnAndReplayed() {
    answers(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
            + "2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n");
    for (RawResponse response : List.of(get(), post1(), post1())) {
      assertThat(response.text()).isEqualTo("ok");
      assertThat(response.header("X-Sum")).isEqualTo("7");
    }
    assertThat(upstream.connections()).isEqualTo(1);
  }

  @Test
  void unusualStatusAndBytesOfAFieldPassUnchanged() {
    answers("HTTP/1.1 799 X\r\nX-Raw: \u00e9\u00ff\r\nContent-Length: 2\r\n\r\nok");
    RawResponse response = get();
    assertThat(response.status()).isEqualTo(799);
    assertThat(response.header("X-Raw")).isEqualTo("\u00e9\u00ff");
  }

  @Test
  void resetContentHasNoBody() {
    answers("HTTP/1.1 205 Reset\r\nContent-Length: 0\r\n\r\n");
    assertThat(get().status()).isEqualTo(205);
    assertThat(post1().status()).isEqualTo(205);
    assertThat(post1().isReplay()).isTrue();
  }
}
