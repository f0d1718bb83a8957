package dev.idempotency.gateway.store.redis;

import static dev.idempotency.gateway.store.Fixtures.RETENTION;
import static dev.idempotency.gateway.store.Fixtures.await;
import static dev.idempotency.gateway.store.Fixtures.fingerprint;
import static dev.idempotency.gateway.store.Fixtures.response;
import static dev.idempotency.gateway.store.Fixtures.rival;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.gateway.idempotency.Durability;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.WriteReply;
import dev.idempotency.gateway.store.Fixtures;
import dev.idempotency.gateway.testing.RedisCluster;
import dev.idempotency.gateway.testing.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What masters of a Cluster may forget when their replicas take over, and what they may not. */
class RedisClusterLossTest {

  private static final Duration PATIENCE = Duration.ofSeconds(40);
  private static final Duration DEADLINE = Duration.ofSeconds(1);
  private static final Durability ONE = Durability.replicas(1, true);
  private static final Settlement DONE = new Settlement.Completed(response("done"));
  private static final KeyNames NAMES = new KeyNames("idem:", true);

  /** Surely longer ago than the start of the test's own servers. */
  private static final long LONG_AGO = Duration.ofHours(1).toMillis();

  private static RedisCluster cluster;
  private LoopStore owner;

  @BeforeAll
  static void start() {
    cluster = RedisCluster.start(true, "--cluster-require-full-coverage", "no");
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @BeforeEach
  void connect() {
    owner = connected();
  }

  @AfterEach
  void disconnect() {
    owner.close();
  }

  private static LoopStore connected() {
    return LoopStore.connected(
        RedisStoreOptions.of(cluster.url()).withDeadline(DEADLINE),
        new RedisDemands(Set.of(ONE), true, Duration.ZERO));
  }

  private RedisIdempotencyStore store() {
    return owner.store();
  }

  /** A new operation of those slots that were the node's at the start. */
  private static Reservation at(int node) {
    for (int bucket = 0; ; bucket++) {
      int slot = cluster.slot(new String(NAMES.probe(bucket), StandardCharsets.UTF_8));
      if (slot * 3 / RedisCluster.SLOTS == node) {
        byte[] id = Fixtures.operation().toByteArray();
        id[0] = (byte) bucket;
        return Reservation.first(OperationId.of(id), fingerprint(1), Fixtures.LEASE, RETENTION);
      }
    }
  }

  private void awaitAcquired(int node) {
    Awaitility.await()
        .atMost(PATIENCE)
        .ignoreExceptions()
        .until(() -> await(store().reserve(at(node).with(ONE))).equals(ReserveReply.ACQUIRED));
  }

  /** As if all nodes had been known since 1970. */
  private static void age() {
    for (RedisServer node : cluster.nodes().subList(0, 3)) {
      for (String name : node.call("KEYS", "*epoch").lines().toList()) {
        node.call("SET", name, "\0".repeat(7) + "\u0001" + node.call("GET", name).substring(8));
      }
    }
  }

  @Test
  void masterWithoutItsReplicaReservesNothingAndAnotherDoesNotNotice() {
    RedisServer replica = cluster.node(4);
    awaitAcquired(1);
    replica.pause();
    try {
      Reservation missed = at(1).with(ONE);
      assertThatThrownBy(() -> await(store().reserve(missed)))
          .hasMessageContaining("did not reach 1 replica within 400 ms (0 had it)");
      assertThat(await(store().release(missed))).isEqualTo(WriteReply.DONE);
      awaitAcquired(0);
      // Who asks for less is served by the same master.
      assertThat(await(store().reserve(at(1)))).isEqualTo(ReserveReply.ACQUIRED);
    } finally {
      replica.resume();
    }
    awaitAcquired(1);
  }

  @Test
  void whatReplicasHaveConfirmedOutlivesTheirMasterAndTheLossOfTheRestIsKnown() {
    awaitAcquired(2);
    age();
    owner.close();
    owner = connected();
    List<Reservation> reserved = new ArrayList<>();
    List<Reservation> completed = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      Reservation under = at(2).with(ONE);
      Reservation done = at(2).with(ONE);
      assertThat(await(store().reserve(under))).isEqualTo(ReserveReply.ACQUIRED);
      assertThat(await(store().reserve(done))).isEqualTo(ReserveReply.ACQUIRED);
      assertThat(await(store().settle(done, DONE))).isEqualTo(WriteReply.DONE);
      reserved.add(under);
      completed.add(done);
    }
    assertThat(store().sinceLoss(at(2).id())).isGreaterThan(LONG_AGO);
    cluster.node(2).kill();
    owner.awaitUnreachable();
    owner.awaitReachable();

    assertThat(reserved).allSatisfy(it -> assertThat(state(it)).isEqualTo("InFlight"));
    assertThat(completed).allSatisfy(it -> assertThat(state(it)).isEqualTo("Completed"));
    assertThat(store().sinceLoss(at(2).id())).isLessThan(LONG_AGO);
    assertThat(store().sinceLoss(at(0).id())).isGreaterThan(LONG_AGO);
    // Its master has no replica any more.
    assertThatThrownBy(() -> await(store().reserve(at(2).with(ONE)))).hasMessageContaining("0 had");
    assertThat(await(store().reserve(at(2)))).isEqualTo(ReserveReply.ACQUIRED);
  }

  private String state(Reservation reservation) {
    ReserveReply reply = await(store().reserve(rival(reservation)));
    assertThat(reply).isInstanceOf(ReserveReply.Existing.class);
    StoredOperation there = ((ReserveReply.Existing) reply).operation();
    return there.state().getClass().getSimpleName();
  }
}
