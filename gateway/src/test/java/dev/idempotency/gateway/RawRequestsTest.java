package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests as raw bytes: what has one reading is taken, everything else is refused and counted. */
@SuppressWarnings("StringConcatToTextBlock") // whose lines would not end with CR LF
class RawRequestsTest {

  private static final String HIDDEN = "GET /hidden HTTP/1.1\r\nHost: gw.test\r\n\r\n";
  private static final String HOST = "Host: gw.test\r\n";

  private static ScriptedUpstream upstream;
  private static TestGateway gateway;

  /** One request and the status that it must have. */
  record Row(int status, String bytes) {
    @Override
    public String toString() {
      String text = bytes.replace("\r", "\\r").replace("\n", "\\n");
      return status + " " + (text.length() > 120 ? text.substring(0, 120) + "…" : text);
    }
  }

  @BeforeAll
  static void start() {
    upstream = ScriptedUpstream.start((request, wire) -> wire.respond(200, request.line()));
    gateway = EdgeYaml.of(upstream.url()).start();
  }

  @AfterAll
  static void stop() {
    gateway.close();
    upstream.close();
  }

  private static void line(List<Row> rows, int status, String... lines) {
    for (String line : lines) {
      rows.add(new Row(status, line + HOST + "\r\n"));
    }
  }

  private static void get(List<Row> rows, int status, String... fields) {
    for (String field : fields) {
      rows.add(new Row(status, "GET /a HTTP/1.1\r\n" + HOST + field + "\r\n"));
      rows.add(new Row(status, "GET /a HTTP/1.1\r\n" + field + HOST + "\r\n"));
    }
  }

  private static void host(List<Row> rows, int status, String... fields) {
    for (String field : fields) {
      rows.add(new Row(status, "GET /a HTTP/1.1\r\n" + field + "\r\n"));
    }
  }

  private static void post(List<Row> rows, int status, String... fields) {
    for (String field : fields) {
      rows.add(
          new Row(status, "POST /a HTTP/1.1\r\n" + HOST + field + "\r\n\r\n2\r\n{}\r\n0\r\n\r\n"));
    }
  }

  private static void chunks(List<Row> rows, int status, String... bodies) {
    for (String body : bodies) {
      String head = "POST /keyed/a HTTP/1.1\r\n" + HOST + "Idempotency-Key: raw\r\n";
      rows.add(new Row(status, head + "Transfer-Encoding: chunked\r\n\r\n" + body));
    }
  }

  static Stream<Row> refused() {
    List<Row> rows = new ArrayList<>();
    line(
        rows,
        400,
        "GET  /a HTTP/1.1\r\n",
        "GET /a  HTTP/1.1\r\n",
        "GET\t/a HTTP/1.1\r\n",
        "GET /a\tHTTP/1.1\r\n",
        "GET /a HTTP/1.1 \r\n",
        " GET /a HTTP/1.1\r\n",
        "\tGET /a HTTP/1.1\r\n",
        "GET /a HTTP/1.1\n",
        "GET /a HTTP/1.1\r\r\n",
        "GET /a\rHTTP/1.1\r\n",
        "GET /a HTTP /1.1\r\n",
        "GET /a http/1.1\r\n",
        "GET /a Http/1.1\r\n",
        "GET /a HTTP/1.10\r\n",
        "GET /a HTTP/01.1\r\n",
        "GET /a HTTP/1,1\r\n",
        "GET /a HTTP/1.1/\r\n",
        "GET /a HTTPS/1.1\r\n",
        "GET /a ICY/1.1\r\n",
        "GET /a\r\n",
        "GET\r\n",
        "GET /a b HTTP/1.1\r\n",
        "G(T /a HTTP/1.1\r\n",
        "GET: /a HTTP/1.1\r\n",
        "G\0T /a HTTP/1.1\r\n",
        "X".repeat(33) + " /a HTTP/1.1\r\n",
        "GET /a\0 HTTP/1.1\r\n",
        "GET /a\13 HTTP/1.1\r\n",
        "GET /\177 HTTP/1.1\r\n",
        "GET /\200 HTTP/1.1\r\n",
        "GET /a?b#c HTTP/1.1\r\n",
        "GET /a?\351 HTTP/1.1\r\n",
        "GET \\a HTTP/1.1\r\n",
        "GET gw.test:80 HTTP/1.1\r\n",
        "GET //gw.test/a HTTP/1.1\r\n",
        "GET http://gw.test:81/a HTTP/1.1\r\n",
        "GET https://gw.test/a HTTP/1.1\r\n",
        "GET http://:80/a HTTP/1.1\r\n",
        "GET http://u:p@gw.test/a HTTP/1.1\r\n",
        "GET http://gw.test\\@other.test/a HTTP/1.1\r\n",
        "GET ws://gw.test/a HTTP/1.1\r\n",
        "GET file:///etc HTTP/1.1\r\n",
        "PUT * HTTP/1.1\r\n",
        "OPTIONS *a HTTP/1.1\r\n",
        "GET /a/%2e%2e/b HTTP/1.1\r\n",
        "GET /a%0d%0ab HTTP/1.1\r\n",
        "\r\n\r\nGET /a HTTP/1.1\r\n",
        "\nGET /a HTTP/1.1\r\n",
        "\rGET /a HTTP/1.1\r\n",
        "\0GET /a HTTP/1.1\r\n",
        "\357\273\277GET /a HTTP/1.1\r\n",
        "{\"a\":1}\r\n",
        "*1\r\n$4\r\nPING\r\n");
    line(
        rows,
        505,
        "GET /a HTTP/1.2\r\n",
        "GET /a HTTP/1.9\r\n",
        "GET /a HTTP/2.0\r\n",
        "GET /a HTTP/0.9\r\n",
        "PRI * HTTP/2.0\r\n");
    line(rows, 501, "CONNECT gw.test:443 HTTP/1.1\r\n", "CONNECT /a HTTP/1.1\r\n");
    line(rows, 405, "TRACE /a HTTP/1.1\r\n");
    line(rows, 414, "GET /" + "a".repeat(8_200) + " HTTP/1.1\r\n");
    get(
        rows,
        400,
        "X : a\r\n",
        "X\t: a\r\n",
        ": a\r\n",
        "X\r\n",
        "X Y: a\r\n",
        "X\0: a\r\n",
        "X\351: a\r\n",
        "\"X\": a\r\n",
        "X/Y: a\r\n",
        "(X): a\r\n",
        "X: a\0b\r\n",
        "X: \1\r\n",
        "X: a\177\r\n",
        "X: a\13b\r\n",
        "X:\14a\r\n",
        "X: a\rb\r\n",
        "X: a\r\r\n",
        "X: a\n",
        "X: a\nY: b\r\n",
        "X: a\r\n b\r\n",
        "X: a\r\n\tb\r\n",
        "X: a\r\n \r\n",
        "X:\r\n a\r\n",
        " X: a\r\n",
        "\tX: a\r\n",
        " \r\n",
        "Content_Length: 2\r\n",
        "transfer_encoding: chunked\r\n",
        "Host: gw.test\r\n",
        "hOST: other.test\r\n",
        "Connection: Host\r\n",
        "Connection: close, content-length\r\n",
        "Connection: Idempotency_Key\r\n",
        "Connection: x_forwarded_for\r\n",
        "Connection: close\r\nConnection: Cookie\r\n");
    get(rows, 431, "X: " + "a".repeat(16_400) + "\r\n", "X: y\r\n".repeat(101));
    get(rows, 417, "Expect: 200-ok\r\n", "Expect: 100-continue, x\r\n", "Expect: \r\n");
    host(
        rows,
        400,
        "",
        "Host:\r\n",
        "Host: \t\r\n",
        "Host : gw.test\r\n",
        "Host: gw.test gw.test\r\n",
        "Host: gw.test;x\r\n",
        "Host: gw.test?x\r\n",
        "Host: gw.test#x\r\n",
        "Host: gw.test\\x\r\n",
        "Host: http://gw.test\r\n",
        "Host: gw.test:80:80\r\n",
        "Host: gw.test:99999\r\n",
        "Host: gw.test:8o\r\n",
        "Host: gw%00.test\r\n",
        "Host: gw.t\351st\r\n",
        "Host: ..\r\n",
        "Host: :80\r\n",
        "Host: ::1\r\n",
        "Host: [::1\r\n",
        "Host: []\r\n",
        "Host: [::1%25eth0]\r\n",
        "Host: [::1%lo]\r\n",
        "Host: [1::2::3]\r\n",
        "Host: [::g]\r\n",
        "Host: [::1]x\r\n",
        "Host: [127.0.0.1]\r\n",
        "Host: [::ffff:127.0.0.256]\r\n",
        "Host: gw.test\r\nHost: gw.test\r\n");
    post(
        rows,
        501,
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: chunked;",
        "Transfer-Encoding: chunked,",
        "Transfer-Encoding: 'chunked'",
        "Transfer-Encoding: chunked chunked",
        "Transfer-Encoding: chunke",
        "Transfer-Encoding: chunkedd",
        "Transfer-Encoding: \240chunked",
        "Transfer-Encoding: ",
        "Transfer-Encoding: chunked\r\ntransfer-encoding: chunked",
        "Transfer-Encoding:\r\nTransfer-Encoding: chunked");
    post(
        rows,
        400,
        "Transfer-Encoding: chunked\r\nContent-Length: 12",
        "Content-Length: 0\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: gzip\r\nContent-Length: 12",
        "Transfer-Encoding:\r\n chunked",
        "Transfer-Encoding: \0chunked",
        "Content-Length: 12, 12",
        "Content-Length: 12,",
        "Content-Length: ,12",
        "Content-Length: 12\r\nContent-Length: 12",
        "Content-Length: 12\r\nContent-Length:",
        "Content-Length: +12",
        "Content-Length: -0",
        "Content-Length: 0x0c",
        "Content-Length: 12.0",
        "Content-Length: 1 2",
        "Content-Length: 12;",
        "Content-Length: 1_2",
        "Content-Length: \"12\"",
        "Content-Length: 9223372036854775808",
        "Content-Length: 18446744073709551628",
        "Content-Length: \r\n 12");
    rows.add(
        new Row(
            400,
            "POST /a HTTP/1.0\r\n"
                + HOST
                + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"));
    rows.add(
        new Row(
            400,
            "POST /a HTTP/1.0\r\n" + HOST + "Content-Length: 2\r\nContent-Length: 5\r\n\r\n{}abc"));
    rows.add(new Row(400, "GET /a HTTP/1.0\r\nHost:\r\n\r\n"));
    chunks(
        rows,
        400,
        "\r\n{}\r\n0\r\n\r\n",
        " 2\r\n{}\r\n0\r\n\r\n",
        "2 \r\n{}\r\n0\r\n\r\n",
        "2\t\r\n{}\r\n0\r\n\r\n",
        "2 ;a\r\n{}\r\n0\r\n\r\n",
        "2; a\r\n{}\r\n0\r\n\r\n",
        "2;a =b\r\n{}\r\n0\r\n\r\n",
        "2;a= b\r\n{}\r\n0\r\n\r\n",
        "2;\r\n{}\r\n0\r\n\r\n",
        "2;a=\r\n{}\r\n0\r\n\r\n",
        "2;a=\"b\r\n{}\r\n0\r\n\r\n",
        "2;a=\"b\\\r\n{}\r\n0\r\n\r\n",
        "2;a=\"\0\"\r\n{}\r\n0\r\n\r\n",
        "2;a\n{}\r\n0\r\n\r\n",
        "2;a\rb\r\n{}\r\n0\r\n\r\n",
        "2;" + "a".repeat(300) + "\r\n{}\r\n0\r\n\r\n",
        "1;aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\nx\r\n".repeat(400),
        "000000000000000000000001\r\nx\r\n0\r\n\r\n",
        "8000000000000002\r\n{}\r\n0\r\n\r\n",
        "+2\r\n{}\r\n0\r\n\r\n",
        "2h\r\n{}\r\n0\r\n\r\n",
        "0x2\r\n{}\r\n0\r\n\r\n",
        "2\n{}\r\n0\r\n\r\n",
        "2\r{}\r\n0\r\n\r\n",
        "2\r\n{}\n0\r\n\r\n",
        "2\r\n{}\r0\r\n\r\n",
        "2\r\n{}\r\r\n0\r\n\r\n",
        "2\r\n{} \r\n0\r\n\r\n",
        "2\r\n{}0\r\n\r\n",
        "3\r\n{}\r\n0\r\n\r\n",
        "2\r\n{}\r\n0\n\r\n",
        "2\r\n{}\r\n0\r\n\n",
        "2\r\n{}\r\n0\r\nX\r\n\r\n",
        "2\r\n{}\r\n0\r\nX : a\r\n\r\n",
        "2\r\n{}\r\n0\r\nX: a\r\n b\r\n\r\n",
        "2\r\n{}\r\n0\r\n X: a\r\n\r\n",
        "2\r\n{}\r\n0\r\nX: \0\r\n\r\n",
        "2\r\n{}\r\n0\r\nX: a\n\r\n",
        "2\r\n{}\r\n0\r\nX: a\rb\r\n\r\n");
    chunks(
        rows,
        431,
        "2\r\n{}\r\n0\r\nX: " + "a".repeat(17_000) + "\r\n\r\n",
        "2\r\n{}\r\n0\r\n" + "X: y\r\n".repeat(101) + "\r\n");
    return rows.stream();
  }

  @ParameterizedTest
  @MethodSource("refused")
  void requestWithMoreThanOneReadingIsRefusedAndNothingMoreIsRead(Row row) {
    int before = upstream.requests();
    for (boolean piecemeal : new boolean[] {false, true}) {
      if (piecemeal && row.bytes().length() > 2_000) {
        continue;
      }
      try (RawClient client = RawClient.connect(gateway.port())) {
        send(client, row.bytes() + HIDDEN, piecemeal);
        RawResponse response = client.read();
        assertThat(response.status()).as("%s", response).isEqualTo(row.status());
        assertThat(response.header("Connection")).isEqualTo("close");
        assertThat(response.header("Content-Type")).isEqualTo("application/problem+json");
        assertThat(client.isClosedByPeer()).isTrue();
      }
    }
    assertThat(upstream.requests()).isEqualTo(before);
  }

  private static void send(RawClient client, String bytes, boolean piecemeal) {
    try {
      for (int at = 0; at < bytes.length(); at += piecemeal ? 1 : bytes.length()) {
        client.send(piecemeal ? bytes.substring(at, at + 1) : bytes);
      }
    } catch (UncheckedIOException e) {
      // Refused already.
    }
  }

  static Stream<Row> taken() {
    List<Row> rows = new ArrayList<>();
    line(
        rows,
        200,
        "GET / HTTP/1.1\r\n",
        "\r\nGET /a HTTP/1.1\r\n",
        "get /a HTTP/1.1\r\n",
        "M-SEARCH /a HTTP/1.1\r\n",
        "X".repeat(32) + " /a HTTP/1.1\r\n",
        "GET /a?b=%2f&c=/../d//e;f HTTP/1.1\r\n",
        "GET /" + "a".repeat(8_000) + " HTTP/1.1\r\n",
        "GET http://gw.test/a HTTP/1.1\r\n",
        "GET HTTP://GW.TEST:80/a HTTP/1.1\r\n",
        "OPTIONS /a HTTP/1.1\r\n");
    line(rows, 204, "OPTIONS * HTTP/1.1\r\n", "OPTIONS http://gw.test HTTP/1.1\r\n");
    get(
        rows,
        200,
        "X:\r\n",
        "X:a\r\n",
        "X: \t a \t \r\n",
        "X: a\tb \351\377\r\n",
        "!#$%&'*+-.^_`|~1a: x\r\n",
        "X: " + "a".repeat(16_000) + "\r\n",
        "X: y\r\n".repeat(99),
        "Connection: keep-alive, X-Custom\r\n",
        "Content-Length: 0\r\n",
        "Content-Length: 000\r\n");
    host(
        rows,
        200,
        "Host: gw.test:\r\n",
        "HOST:gw.test:8080\r\n",
        "Host: [::1]\r\n",
        "Host: [::1]:8080\r\n",
        "Host: [::ffff:127.0.0.1]\r\n",
        "Host: 127.0.0.1:1\r\n");
    post(
        rows,
        200,
        "Content-Length: 12\r\nX: y",
        "Content-Length: 0012",
        "Transfer-Encoding: CHUNKED");
    rows.add(new Row(200, "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    chunks(
        rows,
        200,
        "0\r\n\r\n",
        "000\r\n\r\n",
        "2\r\n{}\r\n0\r\n\r\n",
        "00002;a;b=c;d=\"e \\\" f\"\r\n{}\r\n0;x\r\n\r\n",
        "1\r\n{\r\n1\r\n}\r\n0\r\nX: a\r\nContent-Length: 9\r\nHost: x\r\n\r\n");
    return rows.stream();
  }

  @ParameterizedTest
  @MethodSource("taken")
  void requestWithOneReadingIsTakenAndTheConnectionGoesOn(Row row) {
    boolean piecemeal = row.bytes().length() < 2_000;
    for (int i = 0; i < (piecemeal ? 2 : 1); i++) {
      try (RawClient client = RawClient.connect(gateway.port())) {
        String bytes = row.bytes().replace(": raw\r\n", ": " + System.nanoTime() + "\r\n");
        send(client, bytes + "GET /next HTTP/1.1\r\nHost: gw.test\r\n\r\n", i == 1);
        RawResponse response = client.read();
        assertThat(response.status()).as("%s", response).isEqualTo(row.status());
        assertThat(client.read().text()).isEqualTo("GET /next HTTP/1.1");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"\n\r\n", "{}", "\0", "\r\n \r\n"})
  void refusalOfWhatFollowsAHeadRequestHasTheBodyThatItNames(String bytes) {
    try (RawClient client = RawClient.connect(gateway.port())) {
      client.send("HEAD /a HTTP/1.1\r\n" + HOST + "\r\n" + bytes);
      assertThat(client.readAny(true).status()).isEqualTo(200);
      RawResponse refusal = client.read();
      assertThat(refusal.status()).isEqualTo(400);
      assertThat(refusal.complete()).isTrue();
      assertThat(refusal.problem()).isEqualTo("bad-request");
    }
  }

  @Test
  void refusalIsCountedAndHasAnOutcome() {
    String refusals = "outcome=\"bad_request\",route=\"\",status_class=\"4xx\"";
    String server = "outcome=\"bad_request\",route=\"\",status_class=\"5xx\"";
    double before = metric(refusals);
    double serverBefore = metric(server);
    RawClient.once(gateway.port(), bytes("GET /a HTTP/1.1\r\n\r\n"));
    RawClient.once(gateway.port(), bytes("G\0T /a HTTP/1.1\r\n\r\n"));
    RawClient.once(gateway.port(), bytes("GET /a/../b HTTP/1.1\r\nHost: a\r\n\r\n"));
    RawClient.once(gateway.port(), bytes("GET /a HTTP/2.0\r\nHost: a\r\n\r\n"));
    await()
        .untilAsserted(
            () -> {
              assertThat(metric(refusals)).isEqualTo(before + 3);
              assertThat(metric(server)).isEqualTo(serverBefore + 1);
            });
  }

  private static byte[] bytes(String text) {
    return text.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
  }

  private static double metric(String labels) {
    byte[] question = RawClient.request("GET", "/metrics", null, null, null);
    return RawClient.once(gateway.adminPort(), question)
        .text()
        .lines()
        .filter(line -> line.startsWith("gateway_requests_total{") && line.contains(labels))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
        .sum();
  }
}
