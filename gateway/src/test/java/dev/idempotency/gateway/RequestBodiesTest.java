package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies of keyed requests are held, so they are bounded, one by one and all together. */
class RequestBodiesTest {

  private static final String HIDDEN =
      "POST /hidden HTTP/1.1\r\nHost: gw.test\r\nIdempotency-Key: h\r\nContent-Length: 0\r\n\r\n";

  @Test
  void bodyOfTheLimitIsForwardedAndALargerOneIsRefusedUnread() {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway =
            TestGateway.start(upstream.url(), "memory", "request: { limit: 1KiB }")) {
      byte[] fitting = post("/o", "fits", "x".repeat(1024));
      assertThat(once(gateway.port(), fitting).status()).isEqualTo(200);
      assertThat(upstream.last().body()).hasSize(1024);

      refused(gateway, post("/o", "over", "x".repeat(1025)));
      refused(gateway, post("/o", "over", HIDDEN + "x".repeat(5000)));
      refused(gateway, post("/o", "over", "x".repeat(1000) + HIDDEN.repeat(10)));
      assertThat(upstream.requests()).isEqualTo(1);
      assertThat(once(gateway.port(), post("/o", "over", "{}")).isReplay()).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 100, 1024, 1025, 4000})
  void bodyThatGrowsOverTheLimitIsRefused(int chunk) {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway =
            TestGateway.start(upstream.url(), "memory", "request: { limit: 1KiB }")) {
      String body = ("x".repeat(900) + HIDDEN).repeat(5).substring(0, 4000);
      refused(gateway, chunked(body, chunk));
      assertThat(upstream.requests()).isZero();

      assertThat(once(gateway.port(), chunked(body.substring(0, 1024), chunk)).status())
          .isEqualTo(200);
      assertThat(upstream.last().text()).isEqualTo(body.substring(0, 1024));
      assertThat(upstream.last().headers("Content-Length")).containsExactly("1024");
      assertThat(upstream.last().headers("Transfer-Encoding")).isEmpty();
    }
  }

  /** Answered 413 on a connection that then ends, whatever follows on it. */
  private static void refused(TestGateway gateway, byte[] request) {
    try (RawClient client = RawClient.connect(gateway.port())) {
      RawResponse response = client.send(request).read();
      assertThat(response.status()).isEqualTo(413);
      assertThat(response.problem()).isEqualTo("body-too-large");
      assertThat(response.header("Connection")).isEqualTo("close");
      assertThat(client.isClosedByPeer()).isTrue();
    }
  }

  private static byte[] chunked(String body, int size) {
    StringBuilder text =
        new StringBuilder(
            String.join(
                "\r\n",
                "POST /o HTTP/1.1",
                "Host: gw.test",
                "Idempotency-Key: chunked",
                "Transfer-Encoding: chunked",
                "",
                ""));
    for (int at = 0; at < body.length(); at += size) {
      String part = body.substring(at, Math.min(body.length(), at + size));
      text.append(Integer.toHexString(part.length())).append("\r\n").append(part).append("\r\n");
    }
    return text.append("0\r\n\r\n").toString().getBytes(java.nio.charset.StandardCharsets.US_ASCII);
  }

  @Test
  void exhaustedBudgetRefusesAndComesBackToZero() {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start(
                (request, wire) -> {
                  gate.pass();
                  wire.respond(200, "ok");
                });
        TestGateway gateway =
            TestGateway.start(
                "limits: { body-budget: 1MiB }\n"
                    + TestGateway.yaml(upstream.url(), "memory", "request: { limit: 1MiB }"))) {
      List<RawClient> holding = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        holding.add(RawClient.connect(gateway.port()));
        holding.get(i).send(post("/o", "holding-" + i, "x".repeat(200 << 10)));
      }
      await().until(() -> upstream.requests() == 3);

      RawResponse refused = once(gateway.port(), post("/o", "refused", "x".repeat(900 << 10)));
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.problem()).isEqualTo("overloaded");
      assertThat(refused.header("Retry-After")).isNotNull();
      assertThat(upstream.requests()).isEqualTo(3);

      gate.open();
      holding.forEach(client -> assertThat(client.read().status()).isEqualTo(200));
      holding.forEach(RawClient::close);
      await().untilAsserted(() -> assertThat(gateway.gateway().heldBytes()).isZero());
      RawResponse again = once(gateway.port(), post("/o", "refused", "x".repeat(900 << 10)));
      assertThat(again.status()).isEqualTo(200);
      await().untilAsserted(() -> assertThat(gateway.gateway().heldBytes()).isZero());
    }
  }
}
