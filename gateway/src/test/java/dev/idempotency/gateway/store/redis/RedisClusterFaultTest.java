package dev.idempotency.gateway.store.redis;

import static dev.idempotency.gateway.store.Fixtures.RETENTION;
import static dev.idempotency.gateway.store.Fixtures.await;
import static dev.idempotency.gateway.store.Fixtures.fingerprint;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.store.Fixtures;
import dev.idempotency.gateway.testing.FaultProxy;
import dev.idempotency.gateway.testing.RedisCluster;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Nodes of a Cluster go, and their operations wait for them or for their replicas. */
class RedisClusterFaultTest {

  private static final Duration PATIENCE = Duration.ofSeconds(40);
  private static final Duration DEADLINE = Duration.ofMillis(400);
  private static final KeyNames NAMES = new KeyNames("idem:", true);

  private RedisCluster cluster;
  private LoopStore owner;

  @AfterEach
  void end() {
    owner.close();
    cluster.close();
  }

  private void start(boolean replicated, String coverage) {
    cluster = RedisCluster.start(replicated, "--cluster-require-full-coverage", coverage);
    owner = LoopStore.connected(RedisStoreOptions.of(cluster.url()).withDeadline(DEADLINE));
  }

  /** A new operation of that node. */
  private Reservation at(int node) {
    for (int bucket = 0; ; bucket++) {
      String name = new String(NAMES.probe(bucket), StandardCharsets.UTF_8);
      if (cluster.slot(name) >= RedisCluster.SLOTS * node / 3
          && cluster.slot(name) < RedisCluster.SLOTS * (node + 1) / 3) {
        byte[] id = Fixtures.operation().toByteArray();
        id[0] = (byte) bucket;
        return Reservation.first(OperationId.of(id), fingerprint(1), Fixtures.LEASE, RETENTION);
      }
    }
  }

  private StoreUnavailableException failure(int node) {
    CompletionStage<ReserveReply> reply = owner.store().reserve(at(node));
    return catchThrowableOfType(StoreUnavailableException.class, () -> await(reply));
  }

  private void assertWorks(int node) {
    assertThat(await(owner.store().reserve(at(node)))).isEqualTo(ReserveReply.ACQUIRED);
  }

  @Test
  void masterThatDiedIsReplacedByItsReplicaAndTheOthersDoNotNotice() {
    start(true, "no");
    cluster.node(1).kill();
    owner.awaitUnreachable();
    assertThat(owner.store().detail()).contains("node 127.0.0.1:" + cluster.node(1).port());
    assertWorks(0);
    assertWorks(2);
    owner.awaitReachable();
    assertThat(owner.store().detail()).isEqualTo("connected to 3 masters");
    for (int node = 0; node < 3; node++) {
      assertWorks(node);
    }
  }

  @Test
  void nodeThatIsAwayCostsItsOwnOperationsOnlyAndComesBackByItself() {
    start(false, "no");
    cluster.node(2).kill();
    owner.awaitUnreachable();
    assertThat(failure(2)).isNotNull();
    assertWorks(0);
    assertWorks(1);
    assertThat(owner.store().reachable()).isFalse();
    cluster.node(2).restart();
    owner.awaitReachable();
    Awaitility.await().atMost(PATIENCE).until(() -> failure(2) == null);
  }

  @Test
  void clusterWithoutAMajorityRefusesAndNothingIsDone() {
    start(false, "yes");
    cluster.node(1).kill();
    cluster.node(2).kill();
    Awaitility.await()
        .atMost(PATIENCE)
        .until(
            () -> {
              StoreUnavailableException failure = failure(0);
              return failure != null && failure.getMessage().contains("CLUSTERDOWN");
            });
    assertThat(failure(0).isSurelyNotExecuted()).isTrue();
    assertThat(owner.store().reachable()).isFalse();
    cluster.node(1).restart();
    cluster.node(2).restart();
    owner.awaitReachable();
    Awaitility.await().atMost(PATIENCE).until(() -> failure(0) == null);
  }

  @Test
  void commandThatFailedInABlackHoleIsNotSentLater() {
    start(false, "no");
    try (FaultProxy proxy = FaultProxy.to(cluster.node(0))) {
      String port = Integer.toString(proxy.port());
      cluster.node(0).call("CONFIG", "SET", "cluster-announce-port", port);
      Awaitility.await()
          .atMost(PATIENCE)
          .until(() -> cluster.node(1).call("CLUSTER", "SLOTS").contains(port));
      try (LoopStore store =
          LoopStore.connected(
              RedisStoreOptions.of("redis-cluster://127.0.0.1:" + cluster.node(1).port())
                  .withDeadline(DEADLINE))) {
        assertNotSentLater(store, proxy);
      }
    }
  }

  private void assertNotSentLater(LoopStore store, FaultProxy proxy) {
    assertThat(await(store.store().reserve(at(0)))).isEqualTo(ReserveReply.ACQUIRED);
    proxy.blackHole();
    Reservation failed = at(0);
    CompletionStage<ReserveReply> reply = store.store().reserve(failed);
    assertThat(catchThrowableOfType(StoreUnavailableException.class, () -> await(reply)))
        .hasMessageContaining("did not answer");
    store.awaitUnreachable();
    proxy.pass();
    store.awaitReachable();
    assertThat(await(store.store().reserve(at(0)))).isEqualTo(ReserveReply.ACQUIRED);
    String record = new String(NAMES.record(failed.id()), StandardCharsets.UTF_8);
    assertThat(cluster.node(0).call("EXISTS", record)).isEqualTo("0");
  }
}
