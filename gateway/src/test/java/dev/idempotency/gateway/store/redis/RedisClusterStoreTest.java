package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.store.RuleModel;
import dev.idempotency.gateway.store.StoreContractTest;
import dev.idempotency.gateway.testing.RedisCluster;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A Cluster keeps what every store promises. */
class RedisClusterStoreTest extends StoreContractTest {

  private static RedisCluster cluster;
  private static LoopStore owner;

  @BeforeAll
  static void connect() {
    cluster = RedisCluster.shared();
    String prefix = "test-" + Long.toHexString(ThreadLocalRandom.current().nextLong()) + ":";
    owner =
        LoopStore.connected(
            RedisStoreOptions.of(cluster.url())
                .withPrefix(prefix)
                .withDeadline(Duration.ofSeconds(10)));
  }

  @AfterAll
  static void disconnect() {
    owner.close();
  }

  @Override
  protected OperationStore store() {
    return owner.store();
  }

  @Override
  protected void elapse(Duration time) {
    RedisClock.elapse(cluster.node(0), time);
  }

  @Test
  void randomCommandsGiveTheRepliesOfTheRules() {
    new RuleModel(store(), this::elapse, System.nanoTime()).run(300);
  }
}
