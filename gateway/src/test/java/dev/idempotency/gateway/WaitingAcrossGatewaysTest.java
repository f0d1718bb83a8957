package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Gate;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Duplicates that wait at one gateway for an operation that runs at another. */
class WaitingAcrossGatewaysTest {

  private static final byte[] REQUEST = post("/o", "k", "{}");

  @Test
  void settlementAtOneGatewayAnswersThoseWhoWaitAtAnother() {
    Gate gate = new Gate();
    try (RedisServer redis = RedisServer.start();
        ScriptedUpstream upstream = ScriptedUpstream.start(gate::passAndAnswer)) {
      String store = OnBothStores.Stores.redis(redis);
      try (TestGateway one = TestGateway.start(upstream.url(), store, "in-flight: wait 60s");
          TestGateway other = TestGateway.start(upstream.url(), store, "in-flight: wait 60s");
          RawClient first = RawClient.connect(one.port())) {
        first.send(REQUEST);
        await().until(() -> upstream.requests() == 1);
        List<RawClient> waiting = waiting(other, 10);
        // One subscription connection for all event loops of a gateway.
        await().until(() -> subscribers(redis) == 1);
        gate.open();
        first.read();
        areReplays(waiting);
        assertThat(upstream.requests()).isEqualTo(1);
      }
    }
  }

  @Test
  void subscriptionThatIsLostComesBackAndNothingIsMissed() {
    Gate gate = new Gate();
    try (RedisServer redis = RedisServer.start();
        ScriptedUpstream upstream = ScriptedUpstream.start(gate::passAndAnswer)) {
      String store = OnBothStores.Stores.redis(redis);
      try (TestGateway one = TestGateway.start(upstream.url(), store, "in-flight: wait 60s");
          TestGateway other = TestGateway.start(upstream.url(), store, "in-flight: wait 60s");
          RawClient first = RawClient.connect(one.port())) {
        first.send(REQUEST);
        await().until(() -> upstream.requests() == 1);
        List<RawClient> waiting = waiting(other, 3);
        await().until(() -> subscribers(redis) == 1);
        for (int i = 0; i < 3; i++) {
          redis.call("CLIENT", "KILL", "TYPE", "pubsub");
          await().until(() -> subscribers(redis) == 1);
        }
        gate.open();
        first.read();
        areReplays(waiting);
      }
    }
  }

  @Test
  void channelThatNobodyWaitsOnIsLeft() {
    Gate gate = new Gate();
    try (RedisServer redis = RedisServer.start();
        ScriptedUpstream upstream = ScriptedUpstream.start(gate::passAndAnswer);
        TestGateway gateway =
            TestGateway.start(
                upstream.url(), OnBothStores.Stores.redis(redis), "in-flight: wait 60s");
        RawClient first = RawClient.connect(gateway.port())) {
      first.send(REQUEST);
      await().until(() -> upstream.requests() == 1);
      List<RawClient> waiting = waiting(gateway, 1);
      await().until(() -> !redis.call("PUBSUB", "CHANNELS").isEmpty());
      gate.open();
      first.read();
      areReplays(waiting);
      await()
          .atMost(java.time.Duration.ofSeconds(40))
          .until(() -> redis.call("PUBSUB", "CHANNELS").isEmpty());
    }
  }

  @Test
  void userThatMayNotSubscribeStillAnswersThoseWhoWait() {
    Gate gate = new Gate();
    try (RedisServer redis = RedisServer.start();
        ScriptedUpstream upstream = ScriptedUpstream.start(gate::passAndAnswer)) {
      redis.call("ACL", "SETUSER", "mute", "on", ">p", "~*", "resetchannels", "+@all");
      String store =
          OnBothStores.Stores.redis(redis.url().replace("redis://", "redis://mute:p@"), "10s");
      try (TestGateway gateway = TestGateway.start(upstream.url(), store, "in-flight: wait 60s");
          RawClient first = RawClient.connect(gateway.port())) {
        first.send(REQUEST);
        await().until(() -> upstream.requests() == 1);
        List<RawClient> waiting = waiting(gateway, 2);
        gate.open();
        assertThat(first.read().status()).isEqualTo(200);
        areReplays(waiting);
      }
    }
  }

  @Test
  void placesAreLimitedForAllEventLoopsTogetherAndFreedByClientsThatReset() {
    Gate gate = new Gate();
    try (RedisServer redis = RedisServer.start();
        ScriptedUpstream upstream = ScriptedUpstream.start(gate::passAndAnswer)) {
      String store = OnBothStores.Stores.redis(redis);
      String yaml = TestGateway.yaml(upstream.url(), store, "in-flight: wait 60s");
      try (TestGateway gateway = TestGateway.start("limits: { waiters: 3 }\n" + yaml);
          RawClient first = RawClient.connect(gateway.port())) {
        first.send(REQUEST);
        await().until(() -> upstream.requests() == 1);
        List<RawClient> waiting = waiting(gateway, 3);
        for (int i = 0; i < 4; i++) {
          assertThat(RawClient.once(gateway.port(), REQUEST).problem())
              .isEqualTo("request-in-flight");
        }
        // One that only ends its sending still waits for its answer (RFC 9112 §9.6).
        waiting.remove(0).reset();
        await().until(() -> gateway.gateway().waitingDuplicates() == 2);
        waiting.add(RawClient.connect(gateway.port()).send(REQUEST));
        await().until(() -> gateway.gateway().waitingDuplicates() == 3);
        gate.open();
        areReplays(waiting);
      }
    }
  }

  private static List<RawClient> waiting(TestGateway gateway, int number) {
    List<RawClient> waiting = new ArrayList<>();
    for (int i = 0; i < number; i++) {
      waiting.add(RawClient.connect(gateway.port()).send(REQUEST));
    }
    await().until(() -> gateway.gateway().waitingDuplicates() == number);
    return waiting;
  }

  private static void areReplays(List<RawClient> waiting) {
    for (RawClient client : waiting) {
      RawResponse answer = client.read();
      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.isReplay()).isTrue();
      client.close();
    }
  }

  private static int subscribers(RedisServer redis) {
    return (int)
        redis
            .call("CLIENT", "LIST", "TYPE", "pubsub")
            .lines()
            .filter(line -> line.contains(" sub=1 "))
            .count();
  }
}
