package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that could be read in two ways reach nobody. */
@SuppressWarnings("StringConcatToTextBlock") // whose lines would not end with CR LF
class RequestsThatAreRefusedTest {

  private static final String HIDDEN = "GET /hidden HTTP/1.1\r\nHost: gw.test\r\n\r\n";

  private static ScriptedUpstream upstream;
  private static TestGateway gateway;
  private int before;

  @BeforeAll
  static void start() {
    upstream = ScriptedUpstream.start((request, wire) -> wire.respond(200, request.line()));
    gateway = EdgeYaml.of(upstream.url()).limits("header-count: 50").start();
  }

  @AfterAll
  static void stop() {
    gateway.close();
    upstream.close();
  }

  @BeforeEach
  void count() {
    before = upstream.requests();
  }

  private void assertRefused(String bytes, Integer... statuses) {
    try (RawClient client = RawClient.connect(gateway.port())) {
      client.send(bytes);
      RawResponse response = client.read();
      assertThat(response.status()).as("%s", response).isIn((Object[]) statuses);
      assertThat(response.header("Content-Type")).isEqualTo("application/problem+json");
      assertThat(response.header("Connection")).isEqualTo("close");
      assertThat(client.isClosedByPeer()).isTrue();
    }
    assertThat(upstream.requests()).isEqualTo(before);
  }

  private static String chunked(String coding) {
    return "POST /keyed/a HTTP/1.1\r\nHost: gw.test\r\nIdempotency-Key: k1\r\n"
        + coding
        + "\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: gzip,chunked",
        "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked,",
        "Transfer-Encoding: ,chunked",
        "Transfer-Encoding: \"chunked\"",
        "Transfer-Encoding: chunked;q=1",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: ",
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding:\u000bchunked",
        "Transfer-Encoding: chunked\u000b",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding:\r\n chunked, x"
      })
  void codingOtherThanOneChunked(String coding) {
    assertRefused(chunked(coding) + HIDDEN, 400, 501);
    assertRefused(chunked(coding + "\r\nContent-Length: 12") + HIDDEN, 400, 501);
    assertRefused(chunked("Content-Length: 12\r\n" + coding) + HIDDEN, 400, 501);
  }

  @Test
  void codingWithALength() {
    assertRefused(chunked("Transfer-Encoding: chunked\r\nContent-Length: 12") + HIDDEN, 400);
    assertRefused(chunked("Content-Length: 12\r\nTransfer-Encoding: chunked") + HIDDEN, 400);
  }

  @Test
  void codingInAnOldRequest() {
    assertRefused(chunked("Transfer-Encoding: chunked").replace("/1.1\r", "/1.0\r"), 400);
  }

  @ParameterizedTest
  @ValueSource(strings = {"chunked", "CHUNKED", "\t Chunked \t"})
  void oneChunkedIsUnderstood(String coding) {
    String request = chunked("Transfer-Encoding: " + coding).replace(": k1", ": " + coding.trim());
    RawResponse response = RawClient.once(gateway.port(), ascii(request));
    assertThat(response.status()).isEqualTo(200);
    assertThat(upstream.last().text()).isEqualTo("{}");
    assertThat(upstream.last().headers("Content-Length")).containsExactly("2");
    assertThat(upstream.last().headers("Transfer-Encoding")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Length: 2\r\nContent-Length: 3",
        "Content-Length: 2, 3",
        "Content-Length: -2",
        "Content-Length: +2",
        "Content-Length: 0x2",
        "Content-Length: 2 2",
        "Content-Length: ",
        "Content-Length: two",
        "Content-Length: 99999999999999999999",
        "Content-Length : 2",
        "Content-Length: 2\r\nContent-Length:\r\n5",
        "Content-Length:\u000b2"
      })
  void lengthThatIsNone(String length) {
    assertRefused(
        "POST /keyed/a HTTP/1.1\r\nHost: gw.test\r\nIdempotency-Key: k1\r\n"
            + length
            + "\r\n\r\n{}"
            + HIDDEN,
        400);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"X: a\u0000b", "X: a\rb", "X y: a", "X\u00e9: a", ": a", "no colon", "X: a\nY: b"})
  void fieldThatIsNone(String field) {
    assertRefused("POST /keyed/a HTTP/1.1\r\nHost: gw.test\r\n" + field + "\r\n\r\n", 400);
  }

  @Test
  void foldedKey() {
    String folded = "Idempotency-Key: a\r\n b\r\nContent-Length: 0\r\n\r\n";
    RawResponse response =
        RawClient.once(
            gateway.port(), ascii("POST /keyed/a HTTP/1.1\r\nHost: gw.test\r\n" + folded));
    assertThat(response.problem()).isEqualTo("bad-request");
    assertThat(upstream.requests()).isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Host: gw.test\r\nHost: other.test",
        "Host: gw.test\r\nHost: gw.test",
        "X: no host",
        "Host: gw.test, other.test",
        "Host: gw.test/x",
        "Host: user@gw.test",
        "Host: gw test",
        "Host: gw.test:port",
        "Host: 2001:db8::1",
        "Host: [2001:db8::1",
        "Host: gw.test\r\n folded"
      })
  void hostThatIsNone(String host) {
    assertRefused("GET /a HTTP/1.1\r\n" + host + "\r\n\r\n", 400);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /a#fragment HTTP/1.1",
        "GET /a b HTTP/1.1",
        "GET /\u00c3\u00a9 HTTP/1.1",
        "GET /a\\b HTTP/1.1",
        "GET /a\tb HTTP/1.1",
        "GET /a\u0000b HTTP/1.1",
        "GET HTTP/1.1",
        "GET  HTTP/1.1",
        "GET * HTTP/1.1",
        "GET a HTTP/1.1",
        "GET ftp://gw.test/a HTTP/1.1",
        "GET http:///a HTTP/1.1",
        "GET http://user@gw.test/a HTTP/1.1",
        "GET http://other.test/a HTTP/1.1",
        "G\u00e9T /a HTTP/1.1",
        "GET /a",
        "GET /a HTTP/1.1x",
        "GET /a HTTP/11",
        "GET /a HTTP/1.",
        "\u0001\u0002\u0003\u0004"
      })
  void requestLineThatIsNone(String line) {
    assertRefused(line + "\r\nHost: gw.test\r\n\r\n", 400);
  }

  @ParameterizedTest
  @CsvSource({"HTTP/1.2,505", "HTTP/2.0,505", "HTTP/3.0,505", "HTTP/0.9,505"})
  void versionThatIsNotSupported(String version, int status) {
    assertRefused("GET /a " + version + "\r\nHost: gw.test\r\n\r\n", status);
  }

  @Test
  void prefaceOfHttp2() {
    assertRefused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\u0000\u0000\u0000\u0004", 505);
  }

  @Test
  void handshakeOfTls() {
    assertRefused("\u0016\u0003\u0001\u0002\u0000\u0001\u0000\r\n\r\n", 400);
  }

  @Test
  void connect() {
    assertRefused("CONNECT gw.test:443 HTTP/1.1\r\nHost: gw.test:443\r\n\r\n" + HIDDEN, 501);
  }

  @Test
  void bareLineFeeds() {
    assertRefused("GET /a HTTP/1.1\nHost: gw.test\n\n", 400);
    assertRefused("GET /a HTTP/1.1\r\nHost: gw.test\n\r\n", 400);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "zz\r\n{}\r\n0\r\n\r\n",
        "-2\r\n{}\r\n0\r\n\r\n",
        "0x2\r\n{}\r\n0\r\n\r\n",
        "2\r\n{}xx0\r\n\r\n",
        "2\n{}\n0\n\n",
        "fffffffffffffffff\r\n{}\r\n",
        "2;\u0000\r\n{}\r\n0\r\n\r\n",
        "2\r\n{}\r\n0\r\nno colon\r\n\r\n",
        "2\r\n{}\r\n0\r\nX: a\u0000\r\n\r\n"
      })
  void chunksThatAreNone(String body) {
    assertRefused(
        "POST /keyed/a HTTP/1.1\r\nHost: gw.test\r\nIdempotency-Key: k1\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n"
            + body
            + HIDDEN,
        400);
  }

  @Test
  void tooLongLine() {
    assertRefused("GET /" + "a".repeat(9000) + " HTTP/1.1\r\nHost: gw.test\r\n\r\n", 414);
    // The line has not even ended.
    assertRefused("GET /" + "a".repeat(20_000), 414);
  }

  @Test
  void tooLargeHead() {
    String host = "GET /a HTTP/1.1\r\nHost: gw.test\r\n";
    assertRefused(host + "X: " + "a".repeat(17_000) + "\r\n\r\n", 431);
    assertRefused(host + "X: " + "a".repeat(100_000), 431);
    assertRefused(host + "X: y\r\n".repeat(50) + "\r\n", 431);
    assertRefused(host + "X: y\r\n".repeat(20_000), 431);
  }

  @Test
  void upgradeIsNotTakenAndTheNextRequestIsJudgedByItself() {
    try (RawClient client = RawClient.connect(gateway.port())) {
      client.send(
          "GET /ws HTTP/1.1\r\nHost: gw.test\r\nConnection: Upgrade, HTTP2-Settings\r\n"
              + "Upgrade: websocket\r\nHTTP2-Settings: AAMAAABk\r\n\r\n"
              + "POST /keyed/a HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 0\r\n\r\n");
      assertThat(client.read().status()).isEqualTo(200);
      assertThat(upstream.last().header("Upgrade")).isNull();
      assertThat(upstream.last().header("Connection")).isNull();
      assertThat(upstream.last().header("HTTP2-Settings")).isNull();
      assertThat(client.read().problem()).isEqualTo("key-missing");
    }
  }

  @Test
  void encodedLineEndIsRefusedInThePathAndStaysEncodedInTheQuery() {
    assertRefused("GET /a%0d%0aX:%201%0d%0a%0d%0aGET%20/b HTTP/1.1\r\nHost: gw.test\r\n\r\n", 400);
    String target = "/a?x=%0d%0aX:%201%0d%0a%0d%0aGET%20/hidden%23%00";
    RawResponse response =
        RawClient.once(gateway.port(), RawClient.request("GET", target, null, null, null));
    assertThat(response.text()).isEqualTo("GET " + target + " HTTP/1.1");
    assertThat(upstream.requests()).isEqualTo(before + 1);
  }

  @Test
  void absoluteFormIsReadAsItsPathAndHost() {
    RawResponse response =
        RawClient.once(
            gateway.port(), ascii("GET http://gw.test?x=1 HTTP/1.1\r\nHost: GW.test\r\n\r\n"));
    assertThat(response.text()).isEqualTo("GET /?x=1 HTTP/1.1");
    assertThat(upstream.last().headers("Host")).containsExactly("gw.test");
  }

  @Test
  void bytesOfAFieldPassUnchanged() {
    RawClient.once(
        gateway.port(), ascii("GET /a HTTP/1.1\r\nHost: gw.test\r\nX-Raw: \u00e9\u00ff\r\n\r\n"));
    assertThat(upstream.last().header("X-Raw")).isEqualTo("\u00e9\u00ff");
  }

  @Test
  void trailersOfARequestAreDropped() {
    RawResponse response =
        RawClient.once(
            gateway.port(),
            ascii(
                chunked("Transfer-Encoding: chunked")
                    .replace("k1", "trailers")
                    .replace("\r\n0\r\n", "\r\n0\r\nHost: evil\r\nIdempotency-Key: other\r\n")));
    assertThat(response.status()).isEqualTo(200);
    assertThat(upstream.last().headers("Host")).containsExactly("gw.test");
    assertThat(upstream.last().headers("Idempotency-Key")).containsExactly("trailers");
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }
}
