package dev.idempotency.gateway.store.redis;

import static dev.idempotency.gateway.store.Fixtures.await;
import static dev.idempotency.gateway.store.Fixtures.operation;
import static dev.idempotency.gateway.store.Fixtures.reservation;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.testing.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whether records may have been forgotten is seen by whoever connects, and by all alike. */
class PossibleLossTest {

  private static final RedisDemands GUARDED =
      new RedisDemands(Set.of(), true, Duration.ofMillis(50));

  /** Surely longer ago than the start of the test's own server. */
  private static final long LONG_AGO = Duration.ofHours(1).toMillis();

  private final RedisServer redis = RedisServer.start();
  private final Deque<LoopStore> stores = new ArrayDeque<>();
  private final OperationId id = operation();

  @AfterEach
  void end() {
    stores.forEach(LoopStore::close);
    redis.close();
  }

  private RedisIdempotencyStore connected() {
    return connected(redis, GUARDED);
  }

  private RedisIdempotencyStore connected(RedisServer to, RedisDemands demands) {
    LoopStore store = LoopStore.connected(LoopStore.options(to.port()), demands);
    stores.add(store);
    return store.store();
  }

  /** As if the server had been known for hours. */
  private static void age(RedisServer server) {
    // Big-endian milliseconds, then the run id.
    String marker = server.call("GET", "idem:epoch");
    server.call("SET", "idem:epoch", "\0".repeat(7) + "\u0001" + marker.substring(8));
  }

  @Test
  void serverThatIsSeenFirstMayHaveForgotten() {
    assertThat(connected().sinceLoss(id)).isLessThan(LONG_AGO);
  }

  @Test
  void serverThatWasKnownHasForgottenNothing() {
    connected();
    age(redis);
    assertThat(connected().sinceLoss(id)).isGreaterThan(LONG_AGO);
  }

  @Test
  void gatewaysThatComeLaterKnowTheSame() {
    RedisIdempotencyStore first = connected();
    RedisIdempotencyStore second = connected();
    long between = Math.abs(first.sinceLoss(id) - second.sinceLoss(id));
    assertThat(between).isLessThan(1_000);
  }

  @Test
  void restartedServerMayHaveForgotten(@TempDir Path folder) {
    try (RedisServer kept =
        RedisServer.start(
            "--appendonly", "yes", "--appendfsync", "always", "--dir", folder.toString())) {
      connected(kept, GUARDED);
      age(kept);
      RedisIdempotencyStore store = connected(kept, GUARDED);
      assertThat(store.sinceLoss(id)).isGreaterThan(LONG_AGO);
      kept.restart();
      Awaitility.await().until(() -> store.sinceLoss(id) < LONG_AGO);
      stores.getLast().awaitReachable();
    }
  }

  @Test
  void replicaThatTookThePlaceMayHaveForgotten() {
    try (RedisServer replica =
        RedisServer.start("--replicaof", "127.0.0.1", Integer.toString(redis.port()))) {
      connected();
      age(redis);
      Awaitility.await().until(() -> replica.call("GET", "idem:epoch") != null);
      replica.call("REPLICAOF", "NO", "ONE");
      assertThat(connected(replica, GUARDED).sinceLoss(id)).isLessThan(LONG_AGO);
    }
  }

  @Test
  void emptiedServerIsFoundOutOverTheConnectionThatIsThere() {
    connected();
    age(redis);
    RedisIdempotencyStore store = connected();
    assertThat(store.sinceLoss(id)).isGreaterThan(LONG_AGO);
    redis.call("FLUSHALL");
    Awaitility.await().until(() -> store.sinceLoss(id) < LONG_AGO);
  }

  @Test
  void serverThatHidesItsRunIdIsKnownByItsMarker() {
    redis.call("ACL", "SETUSER", "default", "-info");
    assertThat(connected().sinceLoss(id)).isLessThan(LONG_AGO);
    age(redis);
    assertThat(connected().sinceLoss(id)).isGreaterThan(LONG_AGO);
  }

  @Test
  void nobodyAsksWhereNoRouteWantsToKnow() {
    RedisIdempotencyStore store = connected(redis, RedisDemands.NONE);
    await(store.reserve(reservation()));
    assertThat(store.sinceLoss(id)).isEqualTo(Long.MAX_VALUE);
    assertThat(redis.call("EXISTS", "idem:epoch")).isEqualTo("0");
  }

  /** Commands that waited for the connection are executed only after the question. */
  @Test
  void commandThatWaitedForTheNextServerIsExecutedWhenTheLossIsKnown() {
    connected();
    age(redis);
    stores.peek().close();
    stores.clear();
    RedisIdempotencyStore store = connected();
    assertThat(store.sinceLoss(id)).isGreaterThan(LONG_AGO);
    RedisIdempotencyStore seen = store;
    redis.restart();
    Awaitility.await()
        .ignoreExceptions()
        .until(
            () -> {
              await(seen.reserve(reservation()));
              return true;
            });
    assertThat(seen.sinceLoss(id)).isLessThan(LONG_AGO);
  }
}
