package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.Http2RawClient;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the edge refuses by itself is one bad request in the metrics, and no client that went. */
class EdgeRefusalsAreCountedTest {

  private final ScriptedUpstream upstream = ScriptedUpstream.ok();
  private final TestGateway gateway =
      EdgeYaml.of(upstream.url())
          .limits("body-timeout: 300ms", "header-size: 4KiB")
          .top("listen: { address: 127.0.0.1:0, http2: true }")
          .start();

  @AfterEach
  void stop() {
    gateway.close();
    upstream.close();
  }

  private double metric(String labels) {
    byte[] question = RawClient.request("GET", "/metrics", null, null, null);
    return RawClient.once(gateway.adminPort(), question)
        .text()
        .lines()
        .filter(line -> line.startsWith("gateway_requests_total{") && line.contains(labels))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
        .sum();
  }

  private void assertCounted(String route, String statusClass) {
    String labels =
        "outcome=\"bad_request\",route=\"" + route + "\",status_class=\"" + statusClass + "\"";
    await().untilAsserted(() -> assertThat(metric(labels)).isEqualTo(1));
    assertThat(metric("")).as("in all").isEqualTo(1);
  }

  private static byte[] post(String path, String rest) {
    return ("POST /" + path + "/a HTTP/1.1\r\nHost: gw.test\r\nIdempotency-Key: k\r\n" + rest)
        .getBytes(StandardCharsets.ISO_8859_1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"keyed", "plain"})
  void bodyThatStops(String path) {
    assertThat(RawClient.once(gateway.port(), post(path, "Content-Length: 2\r\n\r\n{")).status())
        .isEqualTo(408);
    assertCounted(path, "4xx");
  }

  @ParameterizedTest
  @ValueSource(strings = {"keyed", "plain"})
  void bodyThatBreaks(String path) {
    byte[] request = post(path, "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\nno size\r\n");
    assertThat(RawClient.once(gateway.port(), request).status()).isEqualTo(400);
    assertCounted(path, "4xx");
  }

  @ParameterizedTest
  @ValueSource(strings = {"keyed", "plain"})
  void bodyThatStopsOverHttp2(String path) {
    try (Http2RawClient client = Http2RawClient.connect(gateway.port())) {
      client.post(1, "/" + path + "/a", "idempotency-key", "k").data(1, false, "{");
      assertThat(client.read(1).status()).isEqualTo(408);
      assertCounted(path, "4xx");
    }
  }

  @Test
  void headThatIsTooLargeOverHttp2() {
    try (Http2RawClient client = Http2RawClient.connect(gateway.port())) {
      assertThat(client.get(1, "/a", "x", "y".repeat(5_000)).read(1).status()).isEqualTo(431);
      assertCounted("", "4xx");
    }
  }

  @Test
  void headThatIsMalformedOverHttp2() {
    try (Http2RawClient client = Http2RawClient.connect(gateway.port())) {
      client.post(1, "/a", "connection", "close").data(1, true, "x");
      assertThat(client.read(1).error()).isEqualTo(1);
      client.ping().readUntil(() -> client.pings() == 1);
      assertCounted("", "none");
    }
  }
}
