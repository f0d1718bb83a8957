package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.Http2RawClient;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.ByteArrayOutputStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Clients that make work and ask for nothing (RFC 9113 §10.5) lose their connection, others not.
 */
class Http2FloodTest {

  private static final int ENHANCE_YOUR_CALM = 11;

  private static ScriptedUpstream upstream;
  private static Http2Edge edge;

  @BeforeAll
  static void start() {
    upstream = ScriptedUpstream.ok();
    edge = Http2Edge.start(upstream.url(), "http2-resets: 50");
  }

  @AfterAll
  static void stop() {
    edge.close();
    upstream.close();
  }

  static Stream<Arguments> floods() {
    byte[] nothing = {};
    byte[] open =
        Http2RawClient.frame(
            Http2RawClient.HEADERS,
            Http2RawClient.END_HEADERS,
            1,
            Http2RawClient.block(
                Http2RawClient.request("POST", "/keyed/f", "idempotency-key", "f")));
    return Stream.of(
        flood("pings", nothing, frame(Http2RawClient.PING, 0, 0, 8)),
        flood("acknowledged pings", nothing, frame(Http2RawClient.PING, 1, 0, 8)),
        flood("settings", nothing, frame(Http2RawClient.SETTINGS, 0, 0, 0)),
        flood("acknowledged settings", nothing, frame(Http2RawClient.SETTINGS, 1, 0, 0)),
        flood("priorities", nothing, priority()),
        flood("unknown frames", nothing, frame(0x42, 0, 0, 0)),
        flood(
            "window updates",
            nothing,
            Http2RawClient.frame(Http2RawClient.WINDOW_UPDATE, 0, 0, Http2RawClient.number(1))),
        flood(
            "window updates of a stream",
            open,
            Http2RawClient.frame(Http2RawClient.WINDOW_UPDATE, 0, 1, Http2RawClient.number(1))),
        flood("empty data", open, frame(Http2RawClient.DATA, 0, 1, 0)),
        flood("padding", open, frame(Http2RawClient.DATA, Http2RawClient.PADDED, 1, 1)),
        flood(
            "continuations",
            frame(Http2RawClient.HEADERS, 0, 1, 0),
            frame(Http2RawClient.CONTINUATION, 0, 1, 0)),
        flood("goaways", nothing, frame(Http2RawClient.GOAWAY, 0, 0, 8)));
  }

  private static Arguments flood(String name, byte[] first, byte[] again) {
    return Arguments.of(name, first, again);
  }

  private static byte[] frame(int type, int flags, int stream, int length) {
    return Http2RawClient.frame(type, flags, stream, new byte[length]);
  }

  private static byte[] priority() {
    byte[] payload = new byte[5];
    payload[3] = 3;
    return Http2RawClient.frame(Http2RawClient.PRIORITY, 0, 1, payload);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("floods")
  void floodEndsItsConnectionAndOthersGoOn(String name, byte[] first, byte[] again) {
    try (Http2RawClient flooding = Http2RawClient.connect(edge.port());
        Http2RawClient other = Http2RawClient.connect(edge.port())) {
      assertThat(other.get(1, "/a").read(1).text()).isEqualTo("ok");
      flooding.readUntil(() -> !flooding.serverSettings().isEmpty());
      flooding.send(first).flood(100, repeated(again, 50));
      assertThat(other.get(3, "/a").read(3).text()).isEqualTo("ok");
      flooding.readToEnd();
      assertThat(flooding.goAways()).containsExactly(ENHANCE_YOUR_CALM);
      assertThat(other.get(5, "/a").read(5).text()).isEqualTo("ok");
    }
  }

  private static byte[] repeated(byte[] frame, int times) {
    ByteArrayOutputStream many = new ByteArrayOutputStream();
    for (int i = 0; i < times; i++) {
      many.writeBytes(frame);
    }
    return many.toByteArray();
  }

  @Test
  void fieldBlockThatGrowsBeyondItsLimitEndsTheConnection() {
    try (Http2RawClient client = Http2RawClient.connect(edge.port())) {
      client
          .send(frame(Http2RawClient.HEADERS, 0, 1, 0))
          .flood(10, frame(Http2RawClient.CONTINUATION, 0, 1, 16_384))
          .readToEnd();
      assertThat(client.goAways()).containsExactly(1);
    }
  }

  @Test
  void rapidResetsEndTheConnection() {
    int before = upstream.requests();
    try (Http2RawClient client = Http2RawClient.connect(edge.port())) {
      ByteArrayOutputStream burst = new ByteArrayOutputStream();
      byte[] block = Http2RawClient.block(Http2RawClient.request("GET", "/a"));
      for (int i = 0; i < 500; i++) {
        burst.writeBytes(Http2RawClient.frame(Http2RawClient.HEADERS, 5, 2 * i + 1, block));
        burst.writeBytes(
            Http2RawClient.frame(
                Http2RawClient.RST_STREAM, 0, 2 * i + 1, Http2RawClient.number(8)));
      }
      client.flood(1, burst.toByteArray()).readToEnd();
      assertThat(client.goAways()).containsExactly(ENHANCE_YOUR_CALM);
      assertThat(client.lastStream()).isEqualTo(101);
      assertThat(upstream.requests() - before).isLessThanOrEqualTo(51);
    }
  }

  @Test
  void resetsThatTheClientProvokesEndTheConnection() {
    try (Http2RawClient client = Http2RawClient.connect(edge.port())) {
      ByteArrayOutputStream burst = new ByteArrayOutputStream();
      byte[] block = Http2RawClient.block(Http2RawClient.request("GET", "/a"));
      for (int i = 0; i < 500; i++) {
        burst.writeBytes(Http2RawClient.frame(Http2RawClient.HEADERS, 5, 2 * i + 1, block));
        burst.writeBytes(
            Http2RawClient.frame(
                Http2RawClient.WINDOW_UPDATE, 0, 2 * i + 1, Http2RawClient.number(0)));
      }
      client.flood(1, burst.toByteArray()).readToEnd();
      assertThat(client.goAways()).containsExactly(ENHANCE_YOUR_CALM);
    }
  }

  @Test
  void resetsAsOrdinaryClientsSendThemAreHeard() {
    try (Http2RawClient client = Http2RawClient.connect(edge.port())) {
      for (int i = 0; i < 40; i++) {
        client.get(2 * i + 1, "/a").reset(2 * i + 1, 8);
      }
      assertThat(client.get(101, "/a").read(101).text()).isEqualTo("ok");
      assertThat(client.goAways()).isEmpty();
    }
  }

  @Test
  void fieldsThatUnpackToManyTimesTheirSizeAreRefused() {
    try (Http2RawClient client = Http2RawClient.connect(edge.port())) {
      ByteArrayOutputStream block = new ByteArrayOutputStream();
      block.writeBytes(Http2RawClient.block(Http2RawClient.request("GET", "/a")));
      // One large field that enters the table, then one byte for each time that it is meant.
      byte[] value = Http2RawClient.block("x", "y".repeat(3_900));
      block.write(0x40);
      block.write(value, 1, value.length - 1);
      for (int i = 0; i < 10_000; i++) {
        block.write(0x80 | 62);
      }
      client.send(Http2RawClient.frame(Http2RawClient.HEADERS, 5, 1, block.toByteArray()));
      assertThat(client.read(1).status()).isEqualTo(431);
      assertThat(client.get(3, "/a").read(3).text()).isEqualTo("ok");
    }
  }

  @Test
  void manySmallRequestsAreNoFlood() {
    try (Http2RawClient client = Http2RawClient.connect(edge.port())) {
      for (int i = 0; i < 2_000; i++) {
        int stream = 2 * i + 1;
        assertThat(client.get(stream, "/a").windowUpdate(stream, 1).read(stream).status())
            .isEqualTo(200);
      }
      assertThat(client.goAways()).isEmpty();
    }
  }
}
