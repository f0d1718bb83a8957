package dev.idempotency.gateway.upstream;

import static dev.idempotency.gateway.upstream.PoolRig.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Gate;
import dev.idempotency.gateway.testing.ScriptedUpstream.Received;
import dev.idempotency.gateway.testing.ScriptedUpstream.Script;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses that are asked how they are. */
class HealthChecksTest {

  private static final Script WELL = (request, wire) -> wire.respond(204, "");

  private final PoolRig rig = new PoolRig();
  private final AtomicInteger checks = new AtomicInteger();
  private volatile Script health = WELL;
  private final ScriptedUpstream one = ScriptedUpstream.start(script("1"));
  private final ScriptedUpstream two = ScriptedUpstream.start((r, wire) -> wire.respond(200, "2"));

  HealthChecksTest() {
    rig.addresses = at(one, two);
    rig.health = new HealthCheck("/up?deep=1", Duration.ofMillis(50), Duration.ofSeconds(1), 2, 3);
  }

  @AfterEach
  void stop() {
    one.close();
    two.close();
    rig.close();
  }

  private Script script(String body) {
    return (request, wire) -> {
      if (request.line().startsWith("GET /up?deep=1 ")) {
        checks.incrementAndGet();
        health.run(request, wire);
      } else {
        wire.respond(200, body);
      }
    };
  }

  private List<String> get(HttpUpstream upstream, int times) {
    List<String> results = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      results.add(rig.get(upstream));
    }
    return results;
  }

  @ParameterizedTest
  @ValueSource(strings = {"500", "404", "reset", "nonsense", "silence"})
  void addressWhoseAnswersAreBadGetsNoRequestsUntilTheyAreGood(String how) {
    HttpUpstream upstream = rig.start();
    await().until(() -> checks.get() > 3);
    assertThat(get(upstream, 4)).contains("200 1", "200 2");
    Gate gate = new Gate();
    health =
        (request, wire) -> {
          switch (how) {
            case "reset" -> wire.reset();
            case "nonsense" -> wire.send("nonsense\r\n\r\n").close();
            case "silence" -> gate.pass();
            default -> wire.respond(Integer.parseInt(how), "");
          }
        };
    await().until(() -> rig.heard.contains("ill " + one.port()));
    assertThat(upstream.unhealthyAddresses()).isEqualTo(1);
    assertThat(get(upstream, 4)).containsOnly("200 2");
    gate.open();
    health = WELL;
    await().until(() -> rig.heard.contains("well " + one.port()));
    assertThat(get(upstream, 4)).contains("200 1", "200 2");
    assertThat(upstream.unhealthyAddresses()).isZero();
  }

  @Test
  void addressThatRefusesConnectionsGetsNoRequests() {
    one.refuse();
    HttpUpstream upstream = rig.start();
    await().until(() -> rig.heard.contains("ill " + one.port()));
    assertThat(get(upstream, 4)).containsOnly("200 2");
    assertThat(upstream.connectFailures()).isZero();
  }

  @Test
  void whenAllAddressesAreUnhealthyAllAreUsed() {
    two.script((request, wire) -> wire.respond(request.line().contains("/up") ? 500 : 200, "2"));
    health = (request, wire) -> wire.respond(500, "");
    HttpUpstream upstream = rig.start();
    await().until(() -> upstream.unhealthyAddresses() == 2);
    assertThat(get(upstream, 4)).contains("200 1", "200 2");
  }

  @Test
  void oneBadAnswerAmongGoodOnesIsNoIllness() {
    AtomicInteger count = new AtomicInteger();
    health = (request, wire) -> wire.respond(count.incrementAndGet() % 3 == 0 ? 200 : 500, "");
    rig.start();
    await().until(() -> checks.get() > 12);
    assertThat(rig.heard).isEmpty();
  }

  @Test
  void checkIsAGetOverAConnectionOfItsOwnOutsideThePool() {
    rig.connections = 1;
    HttpUpstream upstream = rig.start();
    await().until(() -> checks.get() > 3);
    assertThat(rig.onLoop(upstream::connections)).isZero();
    Received check = one.received().get(0);
    assertThat(check.line()).isEqualTo("GET /up?deep=1 HTTP/1.1");
    assertThat(check.header("Host")).isEqualTo("127.0.0.1:" + one.port());
    assertThat(check.header("Content-Length")).isNull();
  }

  @Test
  void oneEventLoopAsksForAll() {
    HealthBoard board = new HealthBoard();
    HttpUpstream asks = rig.start(board);
    rig.health = new HealthCheck("/never", Duration.ofMillis(10), Duration.ofSeconds(1), 1, 1);
    HttpUpstream reads = rig.start(board);
    health = (request, wire) -> wire.respond(500, "");
    await().until(() -> asks.unhealthyAddresses() == 1);
    assertThat(reads.unhealthyAddresses()).isEqualTo(1);
    assertThat(get(reads, 4)).containsOnly("200 2");
    assertThat(one.received()).noneMatch(request -> request.line().contains("/never"));
  }
}
