package dev.idempotency.gateway.upstream;

import static dev.idempotency.gateway.upstream.PoolRig.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Gate;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which of an upstream's addresses a request goes to, and what becomes of those that fail. */
class ManyAddressesTest {

  private final PoolRig rig = new PoolRig();
  private final ScriptedUpstream one = ScriptedUpstream.start((r, wire) -> wire.respond(200, "1"));
  private final ScriptedUpstream two = ScriptedUpstream.start((r, wire) -> wire.respond(200, "2"));

  ManyAddressesTest() {
    rig.addresses = at(one, two);
  }

  @AfterEach
  void stop() {
    one.close();
    two.close();
    rig.close();
  }

  private List<String> get(HttpUpstream upstream, int times) {
    List<String> results = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      results.add(rig.get(upstream));
    }
    return results;
  }

  @Test
  void equallyLoadedAddressesTakeTurnsOnWarmConnections() {
    HttpUpstream upstream = rig.start();
    assertThat(get(upstream, 10)).containsOnly("200 1", "200 2");
    assertThat(one.requests()).isEqualTo(5);
    assertThat(two.requests()).isEqualTo(5);
    assertThat(one.connections()).isEqualTo(1);
    assertThat(two.connections()).isEqualTo(1);
  }

  @Test
  void addressWithLeastUnderWayIsChosen() {
    HttpUpstream upstream = rig.start();
    Gate gate = new Gate();
    one.script(
        (request, wire) -> {
          gate.pass();
          wire.respond(200, "1");
        });
    List<PoolRig.Call> held = new ArrayList<>();
    while (one.requests() < 1) {
      PoolRig.Call call = rig.call(upstream);
      held.add(call);
      await().until(() -> one.requests() == 1 || call.ended.isDone());
    }
    assertThat(get(upstream, 6)).containsOnly("200 2");
    gate.open();
    held.forEach(call -> assertThat(call.result()).isIn("200 1", "200 2"));
  }

  @Test
  void addressThatRefusesIsLeftForTheNextAtOnceAndNothingIsSentTwice() {
    one.refuse();
    HttpUpstream upstream = rig.start();
    assertThat(get(upstream, 10)).containsOnly("200 2");
    assertThat(two.requests()).isEqualTo(10);
    assertThat(two.connections()).isEqualTo(1);
    assertThat(upstream.connectFailures()).isEqualTo(5);
  }

  @Test
  void addressThatDoesNotAnswerTheConnectIsLeftForTheNext() throws IOException {
    List<Socket> fillers = new ArrayList<>();
    try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      fill(full, fillers);
      rig.connectTimeout = Duration.ofMillis(200);
      rig.addresses =
          List.of(new UpstreamOptions.Address("127.0.0.1", full.getLocalPort()), at(two).get(0));
      HttpUpstream upstream = rig.start();
      assertThat(get(upstream, 2)).containsOnly("200 2");
      assertThat(upstream.connectFailures()).isEqualTo(1);
    } finally {
      for (Socket socket : fillers) {
        socket.close();
      }
    }
  }

  /** Connects until the kernel takes no more. */
  private static void fill(ServerSocket listener, List<Socket> fillers) throws IOException {
    try {
      for (int i = 0; i < 64; i++) {
        Socket socket = new Socket();
        fillers.add(socket);
        socket.connect(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.getLocalPort()), 300);
      }
    } catch (SocketTimeoutException e) {
      return;
    }
    throw new IllegalStateException("the backlog is never full");
  }

  @Test
  void requestIsRefusedWhenNoAddressCanBeConnected() {
    one.refuse();
    two.refuse();
    HttpUpstream upstream = rig.start();
    assertThat(get(upstream, 3)).containsOnly("UNREACHABLE");
    assertThat(upstream.connectFailures()).isEqualTo(6);
    assertThat(rig.onLoop(upstream::connections)).isZero();
  }

  @Test
  void requestThatWasSentIsNotSentToTheNextAddress() {
    one.script((request, wire) -> wire.reset());
    two.script((request, wire) -> wire.reset());
    HttpUpstream upstream = rig.start();
    assertThat(get(upstream, 4)).containsOnly("CLOSED");
    assertThat(one.requests() + two.requests()).isEqualTo(4);
  }

  @Test
  void addressIsEjectedAfterFailuresInARowAndReturnsWithOneTrial() {
    rig.ejection = new Ejection(3, Duration.ofSeconds(10));
    HttpUpstream upstream = rig.start();
    one.script((request, wire) -> wire.reset());
    get(upstream, 6);
    assertThat(rig.heard).containsExactly("ejected " + one.port() + " for 10");
    assertThat(upstream.ejectedAddresses()).isEqualTo(1);
    assertThat(one.requests()).isEqualTo(3);
    assertThat(get(upstream, 5)).containsOnly("200 2");

    rig.pass(Duration.ofSeconds(10));
    Gate gate = new Gate();
    one.script(
        (request, wire) -> {
          gate.pass();
          wire.reset();
        });
    PoolRig.Call trial = rig.call(upstream);
    PoolRig.Call other = rig.call(upstream);
    await().until(() -> one.requests() == 4);
    assertThat(get(upstream, 4)).containsOnly("200 2");
    gate.open();
    assertThat(List.of(trial.result(), other.result())).containsOnlyOnce("CLOSED");
    assertThat(one.requests()).isEqualTo(4);
    await().until(() -> rig.heard.contains("ejected " + one.port() + " for 20"));

    rig.pass(Duration.ofSeconds(19));
    assertThat(get(upstream, 4)).containsOnly("200 2");
    one.script((request, wire) -> wire.respond(200, "1"));
    rig.pass(Duration.ofSeconds(1));
    assertThat(get(upstream, 6)).contains("200 1");
    assertThat(rig.heard).endsWith("returned " + one.port());
    assertThat(upstream.ejectedAddresses()).isZero();
    assertThat(upstream.ejections()).isEqualTo(2);
  }

  @Test
  void trialWhoseClientLeftIsFollowedByAnother() {
    rig.ejection = new Ejection(1, Duration.ofSeconds(10));
    HttpUpstream upstream = rig.start();
    one.script((request, wire) -> wire.reset());
    get(upstream, 2);
    assertThat(one.requests()).isEqualTo(1);
    rig.pass(Duration.ofSeconds(10));
    Gate gate = new Gate();
    one.script((request, wire) -> gate.pass());
    List<PoolRig.Call> calls = List.of(rig.call(upstream), rig.call(upstream));
    await().until(() -> one.requests() == 2);
    await().until(() -> calls.stream().filter(call -> call.ended.isDone()).count() == 1);
    rig.onLoop(
        () -> {
          calls.stream().filter(call -> !call.ended.isDone()).forEach(PoolRig.Call::cancel);
          return null;
        });
    gate.open();
    one.script((request, wire) -> wire.respond(200, "1"));
    assertThat(get(upstream, 4)).containsOnly("200 2");
    rig.pass(Duration.ofSeconds(10));
    assertThat(get(upstream, 4)).contains("200 1");
  }

  @Test
  void overdueResponsesEjectAndA5xxDoesNot() {
    rig.ejection = new Ejection(1, Duration.ofSeconds(100));
    rig.responseTimeout = Duration.ofSeconds(1);
    HttpUpstream upstream = rig.start();
    one.script((request, wire) -> wire.respond(500, "broken"));
    get(upstream, 10);
    assertThat(rig.heard).isEmpty();
    Gate gate = new Gate();
    one.script((request, wire) -> gate.pass());
    two.script((request, wire) -> wire.respond(503, "2"));
    for (int i = 0; i < 2; i++) {
      int before = one.requests();
      PoolRig.Call call = rig.call(upstream);
      await().until(() -> one.requests() > before || call.ended.isDone());
      if (one.requests() > before) {
        rig.pass(Duration.ofSeconds(2));
        assertThat(call.result()).isEqualTo("overdue");
      }
    }
    assertThat(rig.heard).containsExactly("ejected " + one.port() + " for 100");
    gate.open();
  }

  @Test
  void whenAllAddressesAreEjectedAllAreUsed() {
    rig.ejection = new Ejection(1, Duration.ofSeconds(1_000));
    HttpUpstream upstream = rig.start();
    one.script((request, wire) -> wire.reset());
    two.script((request, wire) -> wire.reset());
    assertThat(get(upstream, 2)).containsOnly("CLOSED");
    assertThat(upstream.ejectedAddresses()).isEqualTo(2);
    Gate gate = new Gate();
    one.script(gate::passAndAnswer);
    two.script(gate::passAndAnswer);
    List<PoolRig.Call> calls = List.of(rig.call(upstream), rig.call(upstream));
    await().until(() -> one.requests() == 2 && two.requests() == 2);
    gate.open();
    calls.forEach(call -> assertThat(call.result()).isEqualTo("200 ok"));
    assertThat(upstream.ejectedAddresses()).isZero();
  }

  @Test
  void onlyAddressIsNeverPassedOver() {
    rig.ejection = new Ejection(1, Duration.ofSeconds(1_000));
    rig.addresses = at(one);
    HttpUpstream upstream = rig.start();
    one.script((request, wire) -> wire.reset());
    assertThat(get(upstream, 5)).containsOnly("CLOSED");
    assertThat(one.requests()).isEqualTo(5);
    assertThat(upstream.ejectedAddresses()).isZero();
  }

  @Test
  void limitsAreTheUpstreamsAndWaitersAreServedFromAnyAddress() {
    rig.connections = 2;
    rig.waiting = 3;
    HttpUpstream upstream = rig.start();
    Gate first = new Gate();
    Gate second = new Gate();
    one.script(
        (request, wire) -> {
          first.pass();
          wire.respond(200, "1");
        });
    two.script(
        (request, wire) -> {
          second.pass();
          wire.respond(200, "2");
        });
    List<PoolRig.Call> calls = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      calls.add(rig.call(upstream));
    }
    assertThat(rig.get(upstream)).isEqualTo("QUEUE_FULL");
    await().until(() -> one.requests() == 1 && two.requests() == 1);
    assertThat(rig.onLoop(upstream::connections)).isEqualTo(2);
    second.open();
    // All that wait go through the one that answers.
    assertThat(calls.get(2).result()).isEqualTo("200 2");
    assertThat(calls.get(3).result()).isEqualTo("200 2");
    assertThat(calls.get(4).result()).isEqualTo("200 2");
    first.open();
    assertThat(List.of(calls.get(0).result(), calls.get(1).result())).contains("200 1");
    assertThat(one.requests() + two.requests()).isEqualTo(5);
    assertThat(one.connections() + two.connections()).isEqualTo(2);
  }

  @Test
  void connectionAtRestMakesRoomForOneElsewhere() {
    rig.connections = 1;
    HealthBoard board = new HealthBoard();
    HttpUpstream upstream = rig.start(board);
    assertThat(rig.get(upstream)).isIn("200 1", "200 2");
    boolean atOne = one.requests() == 1;
    ScriptedUpstream warm = atOne ? one : two;
    board.publish(Set.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), warm.port())));
    assertThat(rig.get(upstream)).isEqualTo(atOne ? "200 2" : "200 1");
    assertThat(rig.onLoop(upstream::connections)).isEqualTo(1);
    await().until(() -> warm.openConnections() == 0);
  }

  @Test
  void connectionIsRetiredAtTheEndOfItsLife() {
    rig.addresses = at(one);
    rig.life = Duration.ofSeconds(100);
    HttpUpstream upstream = rig.start();
    assertThat(get(upstream, 2)).containsOnly("200 1");
    rig.pass(Duration.ofSeconds(89));
    assertThat(rig.get(upstream)).isEqualTo("200 1");
    assertThat(one.connections()).isEqualTo(1);
    rig.pass(Duration.ofSeconds(22));
    await().until(() -> one.openConnections() == 0);
    assertThat(rig.onLoop(upstream::connections)).isZero();
    assertThat(rig.get(upstream)).isEqualTo("200 1");
    assertThat(one.connections()).isEqualTo(2);
  }

  @Test
  void busyConnectionIsRetiredAfterItsExchange() {
    rig.addresses = at(one);
    rig.life = Duration.ofSeconds(1);
    rig.responseTimeout = Duration.ofHours(1);
    HttpUpstream upstream = rig.start();
    Gate gate = new Gate();
    one.script(
        (request, wire) -> {
          gate.pass();
          wire.respond(200, "late");
        });
    PoolRig.Call call = rig.call(upstream);
    await().until(() -> one.requests() == 1);
    rig.pass(Duration.ofSeconds(2));
    assertThat(rig.onLoop(upstream::connections)).isEqualTo(1);
    gate.open();
    assertThat(call.result()).isEqualTo("200 late");
    await().until(() -> one.openConnections() == 0);
    await().until(() -> rig.onLoop(upstream::connections) == 0);
  }
}
