package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Gate;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A client that goes changes nothing for its operation, once its request is whole. */
class DepartingClientsTest {

  private static final byte[] REQUEST = post("/o", "k", "{\"amount\":1}");

  /** How a client goes. */
  enum Departure {
    FIN,
    RST;

    void of(RawClient client) {
      if (this == FIN) {
        client.close();
      } else {
        client.reset();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void clientThatGoesBeforeItsRequestIsWholeLeavesNothing(Departure departure) {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = TestGateway.start(upstream.url(), "memory")) {
      RawClient client = RawClient.connect(gateway.port());
      client.send(Arrays.copyOf(REQUEST, REQUEST.length - 3));
      await().until(() -> gateway.gateway().heldBytes() > 0);
      departure.of(client);

      await().until(() -> gateway.gateway().heldBytes() == 0);
      assertThat(upstream.requests()).isZero();
      assertThat(once(gateway.port(), post("/o", "k", "another")).status()).isEqualTo(200);
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  @Test
  void halfCloseInsideTheBodyForwardsNothing() {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = TestGateway.start(upstream.url(), "memory");
        RawClient client = RawClient.connect(gateway.port())) {
      client.send(Arrays.copyOf(REQUEST, REQUEST.length - 3)).halfClose();
      assertThat(client.readToEnd()).doesNotContain(" 200 ");
      assertThat(upstream.requests()).isZero();
      assertThat(once(gateway.port(), post("/o", "k", "another")).status()).isEqualTo(200);
    }
  }

  @OnBothStores
  void halfCloseAfterTheRequestStillGetsTheAnswer(String store) {
    Gate gate = new Gate();
    try (ScriptedUpstream upstream = held(gate);
        TestGateway gateway = TestGateway.start(upstream.url(), store);
        RawClient client = RawClient.connect(gateway.port())) {
      client.send(REQUEST).halfClose();
      await().until(() -> upstream.requests() == 1);
      gate.open();
      assertThat(client.read().text()).isEqualTo("made");
      assertThat(client.isClosedByPeer()).isTrue();
      assertThat(once(gateway.port(), REQUEST).isReplay()).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void clientThatGoesWhileTheUpstreamWorksHasItsOperationCompleted(Departure departure) {
    for (String store : OnBothStores.Stores.both().toList()) {
      Gate gate = new Gate();
      try (ScriptedUpstream upstream = held(gate);
          TestGateway gateway = TestGateway.start(upstream.url(), store)) {
        RawClient client = RawClient.connect(gateway.port());
        client.send(REQUEST);
        await().until(() -> upstream.requests() == 1);
        departure.of(client);
        assertThat(once(gateway.port(), REQUEST).problem()).isEqualTo("request-in-flight");

        gate.open();
        await().until(() -> once(gateway.port(), REQUEST).isReplay());
        assertThat(once(gateway.port(), REQUEST).text()).isEqualTo("made");
        assertThat(upstream.requests()).isEqualTo(1);
        await().until(() -> gateway.gateway().heldBytes() == 0);
      }
    }
  }

  @Test
  void clientThatGoesWhileItsOperationIsReservedHasItRun() {
    try (RedisServer server = RedisServer.start();
        ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway =
            TestGateway.start(upstream.url(), OnBothStores.Stores.redis(server))) {
      once(gateway.port(), post("/o", "before", "{}"));
      server.pause();
      try (RawClient client = RawClient.connect(gateway.port())) {
        client.send(REQUEST);
      }
      await().until(() -> gateway.gateway().heldBytes() > 0);
      server.resume();

      await().until(() -> upstream.requests() == 2);
      await().until(() -> once(gateway.port(), REQUEST).isReplay());
      assertThat(upstream.requests()).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @EnumSource
  void clientThatGoesWhileTheResponseComesDownHasItStored(Departure departure) {
    Gate gate = new Gate();
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start(
                (request, wire) -> {
                  wire.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst");
                  gate.pass();
                  wire.send("later");
                });
        TestGateway gateway =
            TestGateway.start(upstream.url(), "memory", "response: { mode: stream }")) {
      RawClient client = RawClient.connect(gateway.port());
      client.send(REQUEST).readUntil("first");
      departure.of(client);
      gate.open();

      await().until(() -> once(gateway.port(), REQUEST).isReplay());
      assertThat(once(gateway.port(), REQUEST).text()).isEqualTo("firstlater");
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  @Test
  void slowReaderHoldsTheUpstreamBackUntilItGoes() {
    byte[] large = new byte[24 << 20];
    Arrays.fill(large, (byte) 'x');
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start((request, wire) -> wire.respond(200, large));
        TestGateway gateway =
            TestGateway.start(
                upstream.url(), "memory", "response: { mode: stream, limit: 32MiB }")) {
      RawClient client = RawClient.connect(gateway.port());
      client.send(REQUEST).readUntil("xxxx");
      await()
          .during(Duration.ofMillis(500))
          .atMost(Duration.ofSeconds(10))
          .until(() -> "request-in-flight".equals(once(gateway.port(), REQUEST).problem()));
      client.reset();

      await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> !"request-in-flight".equals(once(gateway.port(), REQUEST).problem()));
      RawResponse replay = once(gateway.port(), REQUEST);
      assertThat(replay.isReplay()).isTrue();
      assertThat(replay.body()).isEqualTo(large);
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  private static ScriptedUpstream held(Gate gate) {
    return ScriptedUpstream.start(
        (request, wire) -> {
          gate.pass();
          wire.respond(201, "made");
        });
  }
}
