package dev.idempotency.gateway.upstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Gate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An upstream whose name stands for other addresses from time to time. */
class NamesTest {

  private final PoolRig rig = new PoolRig();
  private final StubResolver names = new StubResolver();
  private final ScriptedUpstream one = ScriptedUpstream.start((r, wire) -> wire.respond(200, "1"));
  private final ScriptedUpstream two = ScriptedUpstream.start((r, wire) -> wire.respond(200, "2"));

  NamesTest() {
    rig.addresses = List.of(new UpstreamOptions.Address("app.test", 80));
    rig.resolver = names;
  }

  @AfterEach
  void stop() {
    one.close();
    two.close();
    rig.close();
  }

  /** Calls again as soon as it was answered, until it is told to stop. */
  private void callOnAndOn(HttpUpstream upstream, AtomicBoolean enough, Queue<String> results) {
    PoolRig.Call call = new PoolRig.Call(upstream);
    CompletableFuture<Void> unused =
        call.ended.thenAccept(
            result -> {
              results.add(result);
              if (!enough.get()) {
                rig.loop.execute(() -> callOnAndOn(upstream, enough, results));
              }
            });
    call.start();
  }

  @Test
  void nameThatMovesIsFollowedUnderConstantTraffic() {
    names.answer(one);
    HttpUpstream upstream = rig.start();
    AtomicBoolean enough = new AtomicBoolean();
    Queue<String> results = new ConcurrentLinkedQueue<>();
    for (int i = 0; i < 4; i++) {
      rig.loop.execute(() -> callOnAndOn(upstream, enough, results));
    }
    await().until(() -> one.requests() > 20);
    assertThat(two.requests()).isZero();

    names.answer(two);
    await().until(() -> two.requests() > 20);
    await().until(() -> one.openConnections() == 0);

    names.forget();
    int asked = names.asked.get();
    await().until(() -> names.asked.get() > asked);
    await().until(() -> rig.heard.contains("app.test: no such host"));
    int before = two.requests();
    await().until(() -> two.requests() > before + 20);

    enough.set(true);
    await().until(() -> rig.onLoop(() -> upstream.connections() == upstream.idleConnections()));
    assertThat(results).containsOnly("200 1", "200 2");
    assertThat(results).hasSize(one.requests() + two.requests());
  }

  @Test
  void nameThatIsWellAgainAfterAFailureIsFollowed() {
    names.answer(one);
    HttpUpstream upstream = rig.start();
    assertThat(rig.get(upstream)).isEqualTo("200 1");
    names.forget();
    await().until(() -> !rig.heard.isEmpty());
    assertThat(rig.get(upstream)).isEqualTo("200 1");
    names.answer(two);
    await().until(() -> rig.get(upstream).equals("200 2"));
    // What rested at the old address does not wait for its idle time-out.
    await().until(() -> one.openConnections() == 0);
  }

  @Test
  void busyConnectionToAnAddressThatVanishedEndsItsExchangeFirst() {
    names.answer(one);
    HttpUpstream upstream = rig.start();
    Gate gate = new Gate();
    one.script(
        (request, wire) -> {
          gate.pass();
          wire.respond(200, "late");
        });
    PoolRig.Call busy = rig.call(upstream);
    await().until(() -> one.requests() == 1);
    names.answer(two);
    await().until(() -> rig.get(upstream).equals("200 2"));
    assertThat(rig.onLoop(upstream::connections)).isEqualTo(2);
    assertThat(busy.ended).isNotDone();
    gate.open();
    assertThat(busy.result()).isEqualTo("200 late");
    await().until(() -> one.openConnections() == 0);
    await().until(() -> rig.onLoop(upstream::connections) == 1);
  }

  @Test
  void allAddressesOfANameAreUsedAndOneThatRefusesIsPassedOver() {
    ScriptedUpstream dead = ScriptedUpstream.ok();
    names.answer(dead, one, two);
    dead.refuse();
    HttpUpstream upstream = rig.start();
    List<String> results = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      results.add(rig.get(upstream));
    }
    assertThat(results).containsOnly("200 1", "200 2").contains("200 1", "200 2");
    assertThat(one.requests() + two.requests()).isEqualTo(12);
    assertThat(upstream.addresses()).isEqualTo(3);
    dead.close();
  }

  @Test
  void requestsWaitForTheFirstLookUpBeyondTheQueuesLength() {
    rig.waiting = 0;
    rig.connections = 3;
    names.answer(one);
    names.hold();
    HttpUpstream upstream = rig.start();
    List<PoolRig.Call> calls = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      calls.add(rig.call(upstream));
    }
    assertThat(rig.get(upstream)).isEqualTo("QUEUE_FULL");
    assertThat(names.asked.get()).isEqualTo(1);
    rig.loop.execute(names::letGo);
    calls.forEach(call -> assertThat(call.result()).isEqualTo("200 1"));
  }

  @Test
  void firstLookUpThatTakesTooLongIsUnreachable() {
    names.hold();
    HttpUpstream upstream = rig.start();
    PoolRig.Call call = rig.call(upstream);
    rig.pass(rig.acquireTimeout.plusMillis(1));
    assertThat(call.result()).isEqualTo("UNREACHABLE");
  }

  @Test
  void nameThatDoesNotExistIsUnreachableAndLookedUpAgainLater() {
    HttpUpstream upstream = rig.start();
    assertThat(rig.get(upstream)).isEqualTo("UNREACHABLE");
    assertThat(rig.get(upstream)).isEqualTo("UNREACHABLE");
    assertThat(names.asked.get()).isEqualTo(1);
    assertThat(rig.heard).containsExactly("app.test: no such host");
    names.answer(one);
    await().atMost(Duration.ofSeconds(20)).until(() -> rig.get(upstream).equals("200 1"));
  }

  @Test
  void nameAndAddressesAreOneUpstream() {
    rig.addresses = List.of(PoolRig.at(one).get(0), new UpstreamOptions.Address("more.test", 80));
    names.answer(one, two);
    HttpUpstream upstream = rig.start();
    await().until(() -> rig.get(upstream).equals("200 2"));
    // The address that the name stands for as well counts once.
    assertThat(upstream.addresses()).isEqualTo(2);
  }
}
