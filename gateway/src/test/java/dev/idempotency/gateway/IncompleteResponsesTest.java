package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A response that is not whole is never taken for one (RFC 9112 §8). */
class IncompleteResponsesTest {

  private static final AtomicInteger KEYS = new AtomicInteger();
  private static ScriptedUpstream upstream;
  private static TestGateway buffering;
  private static TestGateway streaming;

  @BeforeAll
  static void start() {
    upstream = ScriptedUpstream.ok();
    buffering = TestGateway.start(upstream.url(), "memory");
    streaming = TestGateway.start(upstream.url(), "memory", "response: { mode: stream }");
  }

  @AfterAll
  static void stop() {
    streaming.close();
    buffering.close();
    upstream.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "short length       | Content-Length: 100\\r\\n\\r\\nonly a part of it",
        "nothing of length  | Content-Length: 100\\r\\n\\r\\n",
        "no last chunk      | Transfer-Encoding: chunked\\r\\n\\r\\na\\r\\n0123456789\\r\\n",
        "cut chunk          | Transfer-Encoding: chunked\\r\\n\\r\\na\\r\\n0123",
        "cut chunk size     | Transfer-Encoding: chunked\\r\\n\\r\\na\\r\\n0123456789\\r\\n1",
        "cut last chunk     | Transfer-Encoding: chunked\\r\\n\\r\\na\\r\\n0123456789\\r\\n0\\r\\n",
        "cut trailer        | Transfer-Encoding: chunked\\r\\n\\r\\na\\r\\n0123456789\\r\\n0\\r\\nX-Sum: 1",
        "chunk size no hex  | Transfer-Encoding: chunked\\r\\n\\r\\nzz\\r\\n0123456789\\r\\n0\\r\\n\\r\\n",
        "cut head           | Content-Length: 5\\r\\nX-A: b",
        "cut status line    | ",
      })
  void responseThatEndsTooEarlyLeavesTheOutcomeUnknown(String name, String rest) {
    String text = rest == null ? "HTTP/1." : "HTTP/1.1 200 OK\r\n" + unescaped(rest);
    upstream.script((request, wire) -> wire.send(text).close());
    isNeverStored(buffering, true);
    isNeverStored(streaming, false);
  }

  @Test
  void resetAfterTheHeadLeavesTheOutcomeUnknown() {
    upstream.script(
        (request, wire) -> wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n").reset());
    isNeverStored(buffering, true);
  }

  @Test
  void endOfTheConnectionCompletesAResponseWithoutLength() {
    upstream.script((request, wire) -> wire.send("HTTP/1.1 200 OK\r\n\r\nall of it").close());
    for (TestGateway gateway : new TestGateway[] {buffering, streaming}) {
      byte[] request = post("/o", key(), "{}");
      RawResponse first = once(gateway.port(), request);
      assertThat(first.complete()).isTrue();
      assertThat(first.text()).isEqualTo("all of it");
      RawResponse replay = once(gateway.port(), request);
      assertThat(replay.isReplay()).isTrue();
      assertThat(replay.text()).isEqualTo("all of it");
    }
  }

  @Test
  void resetCutsAResponseWithoutLength() {
    ScriptedUpstream.Gate seen = new ScriptedUpstream.Gate();
    upstream.script(
        (request, wire) -> {
          wire.send("HTTP/1.1 200 OK\r\n\r\na part of it");
          seen.pass();
          wire.reset();
        });
    byte[] request = post("/o", key(), "{}");
    int before = upstream.requests();
    try (RawClient client = RawClient.connect(streaming.port())) {
      client.send(request).readUntil("a part of it");
      seen.open();
      assertThat(client.readToEnd()).doesNotContain("0\r\n\r\n");
    }
    RawResponse retry = once(streaming.port(), request);
    assertThat(retry.problem()).isEqualTo("outcome-unknown");
    assertThat(upstream.requests() - before).isEqualTo(1);
  }

  /** What the client sees is visibly broken, and the upstream is not asked again. */
  private static void isNeverStored(TestGateway gateway, boolean nothingSent) {
    byte[] request = post("/o", key(), "{}");
    int before = upstream.requests();
    RawResponse first = once(gateway.port(), request);
    if (nothingSent || first.status() != 200) {
      assertThat(first.status()).isEqualTo(502);
      assertThat(first.problem()).isEqualTo("outcome-unknown");
    } else {
      assertThat(first.complete()).isFalse();
    }
    RawResponse retry = once(gateway.port(), request);
    assertThat(retry.status()).isEqualTo(409);
    assertThat(retry.problem()).isEqualTo("outcome-unknown");
    assertThat(upstream.requests() - before).isEqualTo(1);
  }

  private static String unescaped(String text) {
    return text.replace("\\r", "\r").replace("\\n", "\n");
  }

  private static String key() {
    return "k" + KEYS.incrementAndGet();
  }
}
