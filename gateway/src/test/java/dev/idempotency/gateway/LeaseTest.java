package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisMonitor;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Upstreams that work for longer than the lease, seen through another gateway. */
class LeaseTest {

  /** More than three leases. */
  private static final Duration LONG = Duration.ofMillis(3500);

  private static final Pattern EXPIRY = Pattern.compile("\"PX\" \"([^\"]*)\"");

  private RedisServer redis;
  private RedisMonitor monitor;
  private ScriptedUpstream upstream;
  private TestGateway gateway;
  private TestGateway other;

  @BeforeEach
  void start() {
    redis = RedisServer.start();
    monitor = RedisMonitor.of(redis);
    upstream = ScriptedUpstream.ok();
    String yaml =
        """
        store: { url: "%s", timeout: 5s }
        drain: 0s
        threads: 1
        upstreams:
          app: { url: "%s" }
        routes:
          - { name: buffered, path: /buffer/**, upstream: app, lease: 1s }
          - { name: streamed, path: /stream/**, upstream: app, lease: 1s, response: { mode: stream } }
        """
            .formatted(redis.url(), upstream.url());
    gateway = TestGateway.start(yaml);
    other = TestGateway.start(yaml);
  }

  @AfterEach
  void stop() {
    gateway.close();
    other.close();
    upstream.close();
    monitor.close();
    redis.close();
  }

  @Test
  void longCallIsInFlightForItsWholeTime() {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    upstream.script(
        (request, wire) -> {
          gate.pass();
          wire.respond(200, "done");
        });
    byte[] request = post("/buffer/orders", "k1", "{}");
    try (RawClient client = RawClient.connect(gateway.port()).send(request)) {
      await().until(() -> upstream.requests() == 1);
      assertInFlightFor(request);
      gate.open();

      assertThat(client.read().text()).isEqualTo("done");
      assertReplay(RawClient.once(other.port(), request), "done");
    }
  }

  @Test
  void slowStreamIsInFlightUntilItsEnd() {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    upstream.script(
        (request, wire) -> {
          wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
          gate.pass();
          wire.send("3\r\ntwo\r\n0\r\n\r\n");
        });
    byte[] request = post("/stream/orders", "k1", "{}");
    try (RawClient client = RawClient.connect(gateway.port()).send(request)) {
      await().until(() -> upstream.requests() == 1);
      assertInFlightFor(request);
      gate.open();

      assertThat(client.read().text()).isEqualTo("onetwo");
      assertReplay(RawClient.once(other.port(), request), "onetwo");
    }
  }

  private void assertInFlightFor(byte[] request) {
    await()
        .during(LONG)
        .atMost(LONG.multipliedBy(4))
        .pollInterval(Duration.ofMillis(250))
        .untilAsserted(
            () -> {
              RawResponse duplicate = RawClient.once(other.port(), request);
              assertThat(duplicate.problem()).isEqualTo("request-in-flight");
            });
  }

  /** And every record that was written on the way has its end. */
  private void assertReplay(RawResponse replay, String body) {
    assertThat(replay.isReplay()).isTrue();
    assertThat(replay.text()).isEqualTo(body);
    assertThat(upstream.requests()).isEqualTo(1);
    assertThat(monitor.calls("SET"))
        .as("reservation, at least three renewals, completion")
        .hasSizeGreaterThan(4)
        .allSatisfy(set -> assertThat(expiry(set)).isGreaterThanOrEqualTo(1000));
    for (String removesExpiry : new String[] {"PERSIST", "PEXPIRE", "EXPIRE", "SETRANGE"}) {
      assertThat(monitor.calls(removesExpiry)).isEmpty();
    }
  }

  private static long expiry(String set) {
    Matcher matcher = EXPIRY.matcher(set);
    assertThat(matcher.find()).as(set).isTrue();
    return Long.parseLong(matcher.group(1));
  }
}
