package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.Http2RawClient;
import dev.idempotency.gateway.testing.Http2RawClient.Answer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What is wrong is never forwarded (RFC 9113 §8.1.1). A wrong request costs its own stream; wrong
 * frames end the connection.
 */
class Http2MalformedTest {

  private static final String PROTOCOL_ERROR = "reset 1";
  private static final String STREAM_CLOSED = "reset 5";
  private static final String FLOW_CONTROL = "reset 3";
  private static final String FRAME_SIZE = "reset 6";

  private static ScriptedUpstream upstream;
  private static Http2Edge edge;

  @BeforeAll
  static void start() {
    upstream = ScriptedUpstream.ok();
    edge = Http2Edge.start(upstream.url(), "header-count: 20", "header-size: 4KiB");
  }

  @AfterAll
  static void stop() {
    edge.close();
    upstream.close();
  }

  /** A request of stream 1, and what becomes of it. */
  static Stream<Arguments> requests() {
    List<Arguments> rows = new ArrayList<>();
    String[] get = {":method", "GET", ":scheme", "http", ":authority", "gw.test", ":path", "/m"};
    for (int i = 0; i < get.length; i += 2) {
      if (!get[i].equals(":authority")) {
        rows.add(row("without " + get[i], PROTOCOL_ERROR, without(get, i)));
      }
      rows.add(row(get[i] + " twice", PROTOCOL_ERROR, plus(get, get[i], get[i + 1])));
      String[] empty = get.clone();
      empty[i + 1] = "";
      rows.add(row(get[i] + " empty", PROTOCOL_ERROR, empty));
      rows.add(row(get[i] + " after a field", PROTOCOL_ERROR, last(get, i)));
    }
    rows.add(row("without any host", "400", without(get, 4)));
    rows.add(row("unknown pseudo-field", PROTOCOL_ERROR, plus(get, ":fancy", "x")));
    rows.add(row(":protocol without CONNECT", "400", first(get, ":protocol", "websocket")));
    rows.add(row(":status in a request", PROTOCOL_ERROR, plus(get, ":status", "200")));
    rows.add(row("upper case name", PROTOCOL_ERROR, plus(get, "X-Upper", "1")));
    rows.add(row("name with a blank", PROTOCOL_ERROR, plus(get, "x y", "1")));
    rows.add(row("name with a colon", PROTOCOL_ERROR, plus(get, "x:y", "1")));
    rows.add(row("empty name", PROTOCOL_ERROR, plus(get, "", "1")));
    rows.add(row("length with an underscore", "400", plus(get, "content_length", "1")));
    rows.add(row("coding with an underscore", "400", plus(get, "transfer_encoding", "chunked")));
    rows.add(row("connection", PROTOCOL_ERROR, plus(get, "connection", "close")));
    rows.add(row("keep-alive", PROTOCOL_ERROR, plus(get, "keep-alive", "1")));
    rows.add(row("proxy-connection", PROTOCOL_ERROR, plus(get, "proxy-connection", "close")));
    rows.add(row("transfer-encoding", PROTOCOL_ERROR, plus(get, "transfer-encoding", "chunked")));
    rows.add(row("upgrade", PROTOCOL_ERROR, plus(get, "upgrade", "h2c")));
    rows.add(row("te other than trailers", PROTOCOL_ERROR, plus(get, "te", "gzip")));
    rows.add(row("te with more than trailers", PROTOCOL_ERROR, plus(get, "te", "trailers, gzip")));
    rows.add(row("value with a line feed", PROTOCOL_ERROR, plus(get, "x", "a\nb: c")));
    rows.add(row("value with a return", PROTOCOL_ERROR, plus(get, "x", "a\rb")));
    rows.add(row("value with a zero", PROTOCOL_ERROR, plus(get, "x", "a\0b")));
    rows.add(row("value that begins with a blank", PROTOCOL_ERROR, plus(get, "x", " a")));
    rows.add(row("value that ends with a tab", "400", plus(get, "x", "a\t")));
    rows.add(row("host other than :authority", "400", plus(get, "host", "other.test")));
    rows.add(row("two hosts", "400", plus(get, "host", "gw.test", "host", "gw.test")));
    rows.add(row(":authority with user", "400", with(get, 5, "user@gw.test")));
    rows.add(row(":authority with a path", "400", with(get, 5, "gw.test/a")));
    rows.add(row(":scheme of another kind", "400", with(get, 3, "ftp")));
    rows.add(row(":path without a slash", "400", with(get, 7, "m")));
    rows.add(row(":path that is a URI", "400", with(get, 7, "http://other.test/m")));
    rows.add(row(":path with a blank", "400", with(get, 7, "/m x")));
    rows.add(row(":path with a fragment", "400", with(get, 7, "/m#x")));
    rows.add(row(":path with a line", "reset 1", with(get, 7, "/m HTTP/1.1\r\nX: y")));
    rows.add(row(":path that is too long", "431", with(get, 7, "/" + "m".repeat(4_200))));
    rows.add(row("too many fields", "431", plus(get, "a b c d e f g h i j k l m n o p q r s t u")));
    rows.add(row("too large fields", "431", plus(get, "x", "y".repeat(5_000))));
    rows.add(row("unknown expectation", "417", plus(get, "expect", "magic")));
    rows.add(
        row(
            "length of a body that is not there",
            PROTOCOL_ERROR,
            plus(get, "content-length", "1")));
    rows.add(row("length that is no number", PROTOCOL_ERROR, plus(get, "content-length", "x")));
    rows.add(row("length below zero", PROTOCOL_ERROR, plus(get, "content-length", "-1")));
    rows.add(
        row(
            "two lengths",
            PROTOCOL_ERROR,
            plus(get, "content-length", "0", "content-length", "1")));
    rows.add(
        row("CONNECT", "501", new String[] {":method", "CONNECT", ":authority", "gw.test:443"}));
    rows.add(row("CONNECT without authority", PROTOCOL_ERROR, new String[] {":method", "CONNECT"}));
    return rows.stream();
  }

  private static Arguments row(String name, String expected, String[] fields) {
    return Arguments.of(name, expected, fields);
  }

  private static String[] without(String[] fields, int at) {
    List<String> list = new ArrayList<>(List.of(fields));
    list.remove(at);
    list.remove(at);
    return list.toArray(String[]::new);
  }

  private static String[] with(String[] fields, int at, String value) {
    String[] changed = fields.clone();
    changed[at] = value;
    return changed;
  }

  private static String[] first(String[] fields, String name, String value) {
    List<String> list = new ArrayList<>(List.of(name, value));
    list.addAll(List.of(fields));
    return list.toArray(String[]::new);
  }

  private static String[] last(String[] fields, int at) {
    return plus(plus(without(fields, at), "x", "y"), fields[at], fields[at + 1]);
  }

  /** One word stands for as many fields as it has words. */
  private static String[] plus(String[] fields, String... more) {
    List<String> list = new ArrayList<>(List.of(fields));
    if (more.length == 1) {
      for (String name : more[0].split(" ")) {
        list.add("x-" + name);
        list.add("1");
      }
    } else {
      list.addAll(List.of(more));
    }
    return list.toArray(String[]::new);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("requests")
  void malformedRequestCostsItsStreamOnly(String name, String expected, String[] fields) {
    int before = upstream.requests();
    try (Http2RawClient client = Http2RawClient.connect(edge.port())) {
      assertThat(told(client.headers(1, true, fields).read(1))).isEqualTo(expected);
      assertThat(upstream.requests()).isEqualTo(before);
      assertThat(client.get(3, "/fine").read(3).text()).isEqualTo("ok");
      assertThat(client.goAways()).isEmpty();
    }
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("requests")
  void bodyOfAMalformedRequestIsNoFurtherFault(String name, String expected, String[] fields) {
    int before = upstream.requests();
    try (Http2RawClient client = Http2RawClient.connect(edge.port())) {
      client.headers(1, false, fields).data(1, false, "a").data(1, true, "b");
      if (!name.startsWith("length of a body")) {
        assertThat(told(client.read(1))).isEqualTo(expected);
        assertThat(upstream.requests()).isEqualTo(before);
      }
      assertThat(client.get(3, "/fine").read(3).text()).isEqualTo("ok");
      assertThat(client.goAways()).isEmpty();
    }
  }

  private static String told(Answer answer) {
    return answer.isEnded() ? Integer.toString(answer.status()) : "reset " + answer.error();
  }

  /** What a client does on a stream of a keyed request that is not whole. */
  interface Act {
    void on(Http2RawClient client);
  }

  static Stream<Arguments> continuations() {
    return Stream.of(
        act("less data than announced", PROTOCOL_ERROR, c -> c.data(1, true, "1234")),
        act("more data than announced", PROTOCOL_ERROR, c -> c.data(1, true, "123456")),
        act("trailers before all data", PROTOCOL_ERROR, c -> c.headers(1, true, "x", "y")),
        act("trailers that do not end", PROTOCOL_ERROR, c -> c.headers(1, false, "x", "y")),
        act("pseudo-field in trailers", PROTOCOL_ERROR, c -> c.headers(1, true, ":path", "/x")),
        act(
            "field of a connection in trailers",
            PROTOCOL_ERROR,
            c -> c.headers(1, true, "upgrade", "x")),
        act("window update of nothing", PROTOCOL_ERROR, c -> c.windowUpdate(1, 0)),
        act("window beyond all bounds", FLOW_CONTROL, c -> c.windowUpdate(1, Integer.MAX_VALUE)),
        act(
            "priority of the wrong size",
            FRAME_SIZE,
            c -> c.send(Http2RawClient.frame(Http2RawClient.PRIORITY, 0, 1, new byte[4]))));
  }

  private static Arguments act(String name, String expected, Act act) {
    return Arguments.of(name, expected, act);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("continuations")
  void requestThatGoesWrongOnItsWayIsNotExecuted(String name, String expected, Act act) {
    int before = upstream.requests();
    try (Http2RawClient client = Http2RawClient.connect(edge.port())) {
      client.post(1, "/keyed/m", "idempotency-key", "k", "content-length", "5");
      act.on(client);
      assertThat(told(client.read(1))).isEqualTo(expected);
      assertThat(client.get(3, "/fine").read(3).text()).isEqualTo("ok");
      assertThat(upstream.requests()).isEqualTo(before + 1);
    }
  }

  static Stream<Arguments> frames() {
    byte[] block = Http2RawClient.block(Http2RawClient.request("GET", "/m"));
    return Stream.of(
        wrong("data of stream 0", 1, frame(0, 0, 0, 1)),
        wrong("data of a stream that is not open", 1, frame(0, 0, 5, 1)),
        wrong("request of stream 0", 1, Http2RawClient.frame(1, 5, 0, block)),
        wrong("request of an even stream", 1, Http2RawClient.frame(1, 5, 2, block)),
        wrong("reset of stream 0", 1, frame(3, 0, 0, 4)),
        wrong("reset of a stream that is not open", 1, frame(3, 0, 5, 4)),
        wrong("reset of the wrong size", 6, frame(3, 0, 1, 3)),
        wrong("settings of a stream", 1, frame(4, 0, 1, 0)),
        wrong("settings of the wrong size", 6, frame(4, 0, 0, 5)),
        wrong("acknowledged settings with content", 6, frame(4, 1, 0, 6)),
        wrong("push that is neither yes nor no", 1, setting(2, 7)),
        wrong("window that is too large", 3, setting(4, -1)),
        wrong("frame size that is too small", 1, setting(5, 100)),
        wrong("ping of a stream", 1, frame(6, 0, 1, 8)),
        wrong("ping of the wrong size", 6, frame(6, 0, 0, 7)),
        wrong("goaway of a stream", 1, frame(7, 0, 1, 8)),
        wrong("window update of nothing", 1, frame(8, 0, 0, 4)),
        wrong("window update of the wrong size", 6, frame(8, 0, 0, 3)),
        wrong(
            "window beyond all bounds",
            3,
            Http2RawClient.frame(8, 0, 0, Http2RawClient.number(Integer.MAX_VALUE))),
        wrong("continuation of nothing", 1, frame(9, 4, 1, 1)),
        wrong("push by a client", 1, frame(5, 4, 1, 4)),
        wrong("frame that is too large", 6, frame(0, 0, 1, 16_385)),
        wrong(
            "padding that is longer than its frame", 1, new byte[] {0, 0, 1, 1, 13, 0, 0, 0, 1, 9}),
        wrong("broken field block", 9, Http2RawClient.frame(1, 5, 1, new byte[] {(byte) 0xff})),
        wrong(
            "field block with another frame in it",
            1,
            concat(Http2RawClient.frame(1, 1, 1, block), frame(6, 0, 0, 8))));
  }

  private static Arguments wrong(String name, int error, byte[] bytes) {
    return Arguments.of(name, error, bytes);
  }

  private static byte[] frame(int type, int flags, int stream, int length) {
    return Http2RawClient.frame(type, flags, stream, new byte[length]);
  }

  private static byte[] setting(int identifier, int value) {
    byte[] payload = new byte[6];
    payload[1] = (byte) identifier;
    System.arraycopy(Http2RawClient.number(value), 0, payload, 2, 4);
    return Http2RawClient.frame(4, 0, 0, payload);
  }

  private static byte[] concat(byte[] first, byte[] second) {
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("frames")
  void wrongFrameEndsTheConnection(String name, int error, byte[] bytes) {
    try (Http2RawClient client = Http2RawClient.connect(edge.port())) {
      client.send(bytes).readToEnd();
      assertThat(client.goAways()).containsExactly(error);
    }
    try (Http2RawClient other = Http2RawClient.connect(edge.port())) {
      assertThat(other.get(1, "/fine").read(1).text()).isEqualTo("ok");
    }
  }

  @Test
  void prefaceWithoutSettingsEndsTheConnection() {
    try (Http2RawClient client = Http2RawClient.bare(edge.port())) {
      byte[] preface = Http2RawClient.PREFACE.getBytes(StandardCharsets.US_ASCII);
      client.send(preface).send(frame(6, 0, 0, 8)).readToEnd();
      assertThat(client.goAways()).containsExactly(1);
    }
  }

  @Test
  void streamThatGoesBackIsClosed() {
    try (Http2RawClient client = Http2RawClient.connect(edge.port())) {
      client.get(5, "/fine").get(3, "/m");
      assertThat(told(client.read(3))).isEqualTo(STREAM_CLOSED);
      assertThat(client.read(5).text()).isEqualTo("ok");
    }
  }

  @Test
  void dataAfterTheEndIsAFaultOfTheStream() {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    upstream.script(gate::passAndAnswer);
    try (Http2RawClient client = Http2RawClient.connect(edge.port())) {
      client.get(1, "/m").data(1, true, "x");
      assertThat(told(client.read(1))).isEqualTo(STREAM_CLOSED);
    } finally {
      gate.open();
      upstream.script((request, wire) -> wire.respond(200, "ok"));
    }
  }
}
