package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static dev.idempotency.gateway.testing.RawClient.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Wire;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Responses that once went wrong somewhere, as files, each sent in one piece, byte by byte, and cut
 * between head and body.
 */
class ResponseFilesTest {

  /** How the upstream goes on after the file. */
  private enum Then {
    KEEPS_THE_CONNECTION,
    CLOSES,
    RESETS
  }

  /** How the file is written to the socket. */
  private enum Way {
    WHOLE,
    BYTE_BY_BYTE,
    HEAD_THEN_BODY
  }

  /**
   * @param body what the client gets; null: the response is not whole
   * @param surplus whether more is in the file than the response
   */
  private record Answer(String file, Then then, int status, String body, boolean surplus) {}

  private static final List<Answer> ANSWERS =
      List.of(
          whole("A15-headers", 201, "{\"i\":42}"),
          whole("A16-binary", 200, allBytesFourTimes()),
          whole("A17-204", 204, ""),
          whole("A17-204-cl0", 204, ""),
          whole("A17-202-chunked-empty", 202, ""),
          cut("A19-short-cl", Then.CLOSES),
          cut("A19-no-last-chunk", Then.CLOSES),
          cut("A19-cut-size", Then.CLOSES),
          whole("B06-fold", 200, "ok"),
          whole("B12-nominate", 200, "ok"),
          surplus("B18-two-responses"),
          surplus("B18-partial-head"),
          surplus("B18-long-body"),
          new Answer("B19-close-delimited", Then.CLOSES, 200, "until close", false),
          cut("B19-close-delimited", Then.RESETS),
          whole("B26-trailers", 200, "ok"));

  private static final AtomicInteger NUMBER = new AtomicInteger();

  private static ScriptedUpstream upstream;
  private static TestGateway gateway;

  private static Answer whole(String file, int status, String body) {
    return new Answer(file, Then.KEEPS_THE_CONNECTION, status, body, false);
  }

  private static Answer cut(String file, Then then) {
    return new Answer(file, then, 502, null, false);
  }

  private static Answer surplus(String file) {
    return new Answer(file, Then.KEEPS_THE_CONNECTION, 200, "abc", true);
  }

  private static String allBytesFourTimes() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 1024; i++) {
      text.append((char) (i % 256));
    }
    return text.toString();
  }

  static Stream<Arguments> all() {
    return ANSWERS.stream()
        .flatMap(answer -> Arrays.stream(Way.values()).map(way -> Arguments.of(answer, way)));
  }

  @BeforeAll
  static void start() {
    upstream = ScriptedUpstream.ok();
    gateway = EdgeYaml.of(upstream.url()).start();
  }

  @AfterAll
  static void stop() {
    gateway.close();
    upstream.close();
  }

  private static byte[] bytes(String file) throws IOException {
    String name = "/cases/" + file + ".resp";
    try (InputStream in = ResponseFilesTest.class.getResourceAsStream(name)) {
      assertThat(in).as(name).isNotNull();
      return in.readAllBytes();
    }
  }

  private static void answers(Answer answer, Way way) throws IOException {
    byte[] bytes = bytes(answer.file);
    upstream.script(
        (request, wire) -> {
          send(bytes, way, wire);
          if (answer.then == Then.CLOSES) {
            wire.close();
          } else if (answer.then == Then.RESETS) {
            wire.reset();
          }
        });
  }

  private static void send(byte[] bytes, Way way, Wire wire) throws IOException {
    int[] cuts =
        switch (way) {
          case WHOLE -> new int[] {bytes.length};
          case BYTE_BY_BYTE -> java.util.stream.IntStream.rangeClosed(1, bytes.length).toArray();
          case HEAD_THEN_BODY -> {
            String text = new String(bytes, StandardCharsets.ISO_8859_1);
            yield new int[] {text.indexOf("\r\n\r\n") + 4, bytes.length};
          }
        };
    int from = 0;
    for (int cut : cuts) {
      wire.send(Arrays.copyOfRange(bytes, from, cut));
      from = cut;
    }
  }

  @ParameterizedTest
  @MethodSource("all")
  void keyedPostIsAnsweredAsTheFileSaysAndARetryTheSame(Answer answer, Way way) throws Exception {
    answers(answer, way);
    String key = "k" + NUMBER.incrementAndGet();
    byte[] request = post("/keyed/a", key, "{}");
    int before = upstream.requests();
    RawResponse first = RawClient.once(gateway.port(), request);
    if (answer.body == null) {
      assertThat(first.status()).isEqualTo(502);
      assertThat(first.problem()).isEqualTo("outcome-unknown");
    } else {
      assertWhole(answer, first);
      assertThat(first.isReplay()).isFalse();
    }
    RawResponse retry = RawClient.once(gateway.port(), request);
    if (answer.body == null) {
      assertThat(retry.status()).isEqualTo(409);
      assertThat(retry.problem()).isEqualTo("outcome-unknown");
    } else {
      assertWhole(answer, retry);
      assertThat(retry.isReplay()).isTrue();
      assertThat(retry.header("Set-Cookie")).isNull();
      assertThat(retry.header("WWW-Authenticate")).isNull();
      assertThat(retry.headers("Date")).hasSize(1);
    }
    assertThat(upstream.requests()).isEqualTo(before + 1);
    assertNextIsClean(answer, post("/keyed/a", key, "{}", "Authorization: another tenant"));
  }

  @ParameterizedTest
  @MethodSource("all")
  void plainGetIsAnsweredAsTheFileSays(Answer answer, Way way) throws Exception {
    answers(answer, way);
    byte[] request = request("GET", "/a", null, null, null);
    RawResponse first = RawClient.once(gateway.port(), request);
    if (answer.body == null) {
      assertThat(first.status() == 502 || !first.complete()).as("%s", first).isTrue();
    } else {
      assertWhole(answer, first);
    }
    assertNextIsClean(answer, request);
  }

  private static void assertWhole(Answer answer, RawResponse response) {
    assertThat(response.status()).isEqualTo(answer.status);
    assertThat(response.text()).isEqualTo(answer.body);
    assertThat(response.complete()).isTrue();
    assertThat(response.header("Keep-Alive")).isNull();
    switch (answer.file) {
      case "A15-headers" -> {
        assertThat(response.header("X-Hop")).isNull();
        assertThat(response.header("Location")).isEqualTo("/orders/42");
        assertThat(response.header("ETag")).isEqualTo("\"v1\"");
        assertThat(response.header("Idempotent-Replayed")).isNotEqualTo("maybe");
      }
      case "A17-204", "A17-204-cl0" -> {
        assertThat(response.header("Content-Length")).isNull();
        assertThat(response.header("Transfer-Encoding")).isNull();
      }
      case "B06-fold" -> assertThat(response.header("X-Note")).isEqualTo("one two");
      case "B12-nominate" -> {
        assertThat(response.header("X-Internal")).isNull();
        assertThat(response.header("Content-Type")).isEqualTo("text/plain");
      }
      case "B26-trailers" -> assertThat(response.header("X-Sum")).isEqualTo("9");
      default -> {}
    }
    String connection = response.header("Connection");
    if (connection != null) {
      assertThat(connection.toLowerCase(Locale.ROOT)).isIn("close", "keep-alive");
    }
  }

  /** Whoever comes next gets an answer of their own. */
  private static void assertNextIsClean(Answer answer, byte[] request) {
    upstream.script((received, wire) -> wire.respond(203, "clean"));
    if (answer.surplus) {
      // Byte by byte, the surplus may still be on its way.
      await().until(() -> upstream.openConnections() == 0);
    }
    RawResponse next = RawClient.once(gateway.port(), request);
    assertThat(next.status()).isEqualTo(203);
    assertThat(next.text()).isEqualTo("clean");
    assertThat(next.isReplay()).isFalse();
  }
}
