package dev.idempotency.gateway.upstream;

import static dev.idempotency.gateway.upstream.PoolRig.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.ScriptedHttp2Server;
import dev.idempotency.gateway.testing.ScriptedHttp2Server.Wire;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How connections with many places are kept, shared, counted and given up. */
class MultiplexedPoolTest {

  /** The numbers of streams that the codec gives. */
  private static final int FIRST = 3;

  private static final int SECOND = 5;

  private final PoolRig rig = new PoolRig();
  private final ScriptedHttp2Server server = ScriptedHttp2Server.ok();
  private final List<Wire> wires = new CopyOnWriteArrayList<>();

  MultiplexedPoolTest() {
    rig.http2 = true;
    rig.addresses = at(server);
  }

  @AfterEach
  void stop() {
    server.close();
    rig.close();
  }

  /** Requests come and get no answer. */
  private void hold() {
    server.script((request, wire) -> wires.add(wire));
  }

  private List<PoolRig.Call> callTwice(HttpUpstream upstream) {
    return rig.onLoop(
        () -> List.of(new PoolRig.Call(upstream).start(), new PoolRig.Call(upstream).start()));
  }

  private void awaitReceived(int count) {
    await().until(() -> server.received().size() == count);
  }

  @Test
  void linkThatTwoExchangesLeftAtOnceRestsOnceAndIsNotClosedUnderTheNext() {
    rig.idleTimeout = Duration.ofSeconds(5);
    rig.responseTimeout = Duration.ofSeconds(10);
    hold();
    HttpUpstream upstream = rig.start();
    List<PoolRig.Call> both = callTwice(upstream);
    awaitReceived(2);
    rig.onLoop(
        () -> {
          both.forEach(PoolRig.Call::cancel);
          return null;
        });
    await().until(() -> rig.onLoop(upstream::idleConnections) > 0);
    assertThat(rig.onLoop(upstream::idleConnections)).isEqualTo(1);

    PoolRig.Call third = rig.call(upstream);
    awaitReceived(3);
    rig.pass(Duration.ofSeconds(11));
    // It would be CLOSED if the link were taken for one that rests.
    assertThat(third.result()).isEqualTo("overdue");
  }

  @Test
  void linkThatTakesNoStreamAnyMoreGivesItsPlaceUp() {
    rig.connections = 1;
    server.script(
        (request, wire) ->
            wire.settings(ScriptedHttp2Server.MAX_CONCURRENT_STREAMS, 0)
                .respond(request.stream(), 200, "last"));
    HttpUpstream upstream = rig.start();
    assertThat(rig.get(upstream)).isEqualTo("200 last");

    server.script((request, wire) -> wire.respond(request.stream(), 200, "ok"));
    assertThat(rig.get(upstream)).isEqualTo("200 ok");
    assertThat(server.connections()).isEqualTo(2);
    assertThat(rig.onLoop(upstream::connections)).isEqualTo(1);
  }

  @Test
  void linkThatDrainsKeepsItsPlaceAndNoOtherIsMadeBeyondTheLimit() throws Exception {
    rig.connections = 1;
    hold();
    HttpUpstream upstream = rig.start();
    List<PoolRig.Call> both = callTwice(upstream);
    awaitReceived(2);
    wires.get(0).goAway(SECOND, 0).respond(FIRST, 200, "first");
    assertThat(both.get(0).result()).isEqualTo("200 first");

    PoolRig.Call third = rig.call(upstream);
    assertThat(rig.onLoop(upstream::connections)).isEqualTo(1);
    assertThat(rig.onLoop(upstream::waitingRequests)).isEqualTo(1);

    server.script((request, wire) -> wire.respond(request.stream(), 200, "third"));
    wires.get(0).respond(SECOND, 200, "second");
    assertThat(both.get(1).result()).isEqualTo("200 second");
    assertThat(third.result()).isEqualTo("200 third");
  }

  @Test
  void addressThatNeverGetsReadyKeepsNobodyFromAnotherThatIs() {
    ScriptedHttp2Server mute = ScriptedHttp2Server.ok().silent();
    rig.addresses = at(mute, server);
    rig.connectTimeout = Duration.ofHours(1);
    hold();
    HttpUpstream upstream = rig.start();
    // One each.
    callTwice(upstream);
    awaitReceived(1);
    for (int i = 2; i < 10; i++) {
      rig.call(upstream);
      awaitReceived(i);
    }
    assertThat(rig.onLoop(upstream::waitingRequests)).isZero();
    assertThat(mute.connections()).isEqualTo(1);
    mute.close();
  }

  @Test
  void linkWhoseEndWaitsUnreadIsNotUsedAgain() {
    server.script(
        (request, wire) -> {
          wires.add(wire);
          wire.respond(request.stream(), 200, "ok");
        });
    HttpUpstream upstream = rig.start();
    for (int i = 0; i < 10; i++) {
      assertThat(rig.get(upstream)).isEqualTo("200 ok");
      await().until(() -> rig.onLoop(upstream::idleConnections) == 1);
      PoolRig.Call next =
          rig.onLoop(
              () -> {
                // The loop is here, and can't have heard of it.
                wires.get(wires.size() - 1).close();
                return new PoolRig.Call(upstream).start();
              });
      assertThat(next.result()).isEqualTo("200 ok");
    }
  }
}
