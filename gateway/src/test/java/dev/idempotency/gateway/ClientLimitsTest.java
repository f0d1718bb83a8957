package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Gate;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Slow, resting and numerous clients. */
class ClientLimitsTest {

  private static final String GET = "GET /a HTTP/1.1\r\nHost: gw.test\r\n\r\n";

  @ParameterizedTest
  @ValueSource(
      strings = {"G", "GET /a HTTP/1.1\r\n", "GET /a HTTP/1.1\r\nHost: gw.test\r\nX: y\r\n"})
  void headThatTakesTooLongIsRefused(String part) {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = EdgeYaml.of(upstream.url()).limits("head-timeout: 300ms").start();
        RawClient client = RawClient.connect(gateway.port())) {
      client.send(part);
      RawResponse response = client.read();
      assertThat(response.status()).isEqualTo(408);
      assertThat(response.header("Connection")).isEqualTo("close");
      assertThat(client.isClosedByPeer()).isTrue();
      assertThat(upstream.requests()).isZero();
    }
  }

  @Test
  void headThatDripsIsRefusedToo() {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = EdgeYaml.of(upstream.url()).limits("head-timeout: 300ms").start();
        RawClient client = RawClient.connect(gateway.port())) {
      drip(client, GET.substring(0, 20));
      assertThat(client.read().status()).isEqualTo(408);
    }
  }

  /** One byte at a time, longer in all than the limit; the end may meet a closed connection. */
  private static void drip(RawClient client, String text) {
    try {
      for (int i = 0; i < text.length(); i++) {
        client.send(text.substring(i, i + 1));
        TimeUnit.MILLISECONDS.sleep(40);
      }
    } catch (java.io.UncheckedIOException e) {
      // Refused already.
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/a", "/keyed/a"})
  void bodyThatStopsIsRefusedAndItsKeyIsFree(String target) {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = EdgeYaml.of(upstream.url()).limits("body-timeout: 300ms").start();
        RawClient client = RawClient.connect(gateway.port())) {
      String whole = new String(post(target, "k1", "{\"a\":1}"), StandardCharsets.UTF_8);
      client.send(whole.substring(0, whole.length() - 3));
      RawResponse response = client.read();
      assertThat(response.status()).isEqualTo(408);
      assertThat(client.isClosedByPeer()).isTrue();
      if (target.equals("/keyed/a")) {
        assertThat(upstream.requests()).isZero();
        RawResponse next = RawClient.once(gateway.port(), post(target, "k1", "{\"a\":1}"));
        assertThat(next.status()).isEqualTo(200);
        assertThat(next.isReplay()).isFalse();
      }
    }
  }

  @Test
  void bodyThatTheUpstreamHoldsBackIsNotTheClientsFault() {
    Gate gate = new Gate();
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start(
                    (request, wire) -> {
                      gate.pass();
                      wire.in().readNBytes(20 << 20);
                      wire.respond(200, "ok");
                    })
                .withoutReadingBodies();
        TestGateway gateway = EdgeYaml.of(upstream.url()).limits("body-timeout: 300ms").start();
        RawClient client = RawClient.connect(gateway.port())) {
      Thread writer =
          new Thread(
              () -> client.send(RawClient.request("POST", "/a", null, "a/b", new byte[20 << 20])));
      writer.start();
      wait(900);
      gate.open();
      assertThat(client.read().status()).isEqualTo(200);
    }
  }

  /** Long enough for a time-out to strike, if it is to strike. */
  private static void wait(int millis) {
    await().pollDelay(millis, TimeUnit.MILLISECONDS).until(() -> true);
  }

  @Test
  void restingConnectionIsClosedWithoutAWord() {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway =
            EdgeYaml.of(upstream.url()).limits("idle-timeout: 1s", "head-timeout: 100ms").start();
        RawClient fresh = RawClient.connect(gateway.port());
        RawClient used = RawClient.connect(gateway.port());
        RawClient blank = RawClient.connect(gateway.port())) {
      assertThat(used.send(GET).read().status()).isEqualTo(200);
      assertThat(blank.send(GET).read().status()).isEqualTo(200);
      // An empty line begins no request whose head could be late.
      blank.send("\r\n");
      assertThat(fresh.isClosedByPeer()).isTrue();
      assertThat(used.isClosedByPeer()).isTrue();
      assertThat(blank.isClosedByPeer()).isTrue();
    }
  }

  @Test
  void slowAnswerIsNoRest() {
    Gate gate = new Gate();
    try (ScriptedUpstream upstream = ScriptedUpstream.start(gate::passAndAnswer);
        TestGateway gateway =
            EdgeYaml.of(upstream.url())
                .limits("idle-timeout: 300ms", "head-timeout: 300ms", "body-timeout: 300ms")
                .start();
        RawClient client = RawClient.connect(gateway.port())) {
      client.send(GET + GET);
      wait(900);
      gate.open();
      assertThat(client.read().status()).isEqualTo(200);
      assertThat(client.read().status()).isEqualTo(200);
    }
  }

  @Test
  void headThatWaitsBehindASlowAnswerIsNotLate() {
    Gate gate = new Gate();
    try (ScriptedUpstream upstream = ScriptedUpstream.start(gate::passAndAnswer);
        TestGateway gateway = EdgeYaml.of(upstream.url()).limits("head-timeout: 3s").start();
        RawClient client = RawClient.connect(gateway.port())) {
      client.send(GET + GET + GET.substring(0, 10));
      wait(3_300);
      gate.open();
      assertThat(client.read().status()).isEqualTo(200);
      assertThat(client.read().status()).isEqualTo(200);
      // Time enough to look at the connection once, not for the time-out.
      wait(600);
      client.send(GET.substring(10));
      assertThat(client.read().status()).isEqualTo(200);
    }
  }

  @Test
  void connectionBeyondTheLimitIsClosedAndItsPlaceComesBack() {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = EdgeYaml.of(upstream.url()).limits("connections: 3").start()) {
      List<RawClient> clients = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        clients.add(RawClient.connect(gateway.port()));
        assertThat(clients.get(i).send(GET).read().status()).isEqualTo(200);
      }
      try (RawClient surplus = RawClient.connect(gateway.port())) {
        assertThat(surplus.isClosedByPeer()).isTrue();
      }
      byte[] question = RawClient.request("GET", "/metrics", null, null, null);
      assertThat(RawClient.once(gateway.adminPort(), question).text())
          .contains("gateway_connections_refused_total 1.0");
      clients.remove(0).close();
      await()
          .ignoreExceptions()
          .until(
              () ->
                  RawClient.once(gateway.port(), GET.getBytes(StandardCharsets.US_ASCII)).status()
                      == 200);
      clients.forEach(RawClient::close);
    }
  }

  @Test
  void thousandsOfRestingConnectionsDontStopTheService() {
    List<RawClient> resting = new ArrayList<>();
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = EdgeYaml.of(upstream.url()).threads(2).start()) {
      for (int i = 0; i < 2_000; i++) {
        RawClient client = RawClient.connect(gateway.port());
        resting.add(i % 2 == 0 ? client : client.send("POST /keyed/a HT"));
      }
      for (int i = 0; i < 200; i++) {
        RawResponse response = RawClient.once(gateway.port(), post("/keyed/a", "k" + i, "{}"));
        assertThat(response.status()).isEqualTo(200);
      }
      String rest = "TP/1.1\r\nHost: gw.test\r\nIdempotency-Key: late\r\nContent-Length: 0\r\n\r\n";
      assertThat(resting.get(1_999).send(rest).read().status()).isEqualTo(200);
    } finally {
      resting.forEach(RawClient::close);
    }
  }
}
