package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.store.RuleModel;
import dev.idempotency.gateway.store.StoreContractTest;
import dev.idempotency.gateway.testing.RedisSentinels;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A primary that sentinels name keeps what every store promises. */
class RedisSentinelStoreTest extends StoreContractTest {

  private static RedisSentinels sentinels;
  private static LoopStore owner;

  @BeforeAll
  static void connect() {
    sentinels = RedisSentinels.start();
    owner =
        LoopStore.connected(
            RedisStoreOptions.of(sentinels.url()).withDeadline(Duration.ofSeconds(10)));
  }

  @AfterAll
  static void disconnect() {
    owner.close();
    sentinels.close();
  }

  @Override
  protected OperationStore store() {
    return owner.store();
  }

  @Override
  protected void elapse(Duration time) {
    RedisClock.elapse(sentinels.first(), time);
  }

  @Test
  void randomCommandsGiveTheRepliesOfTheRules() {
    new RuleModel(store(), this::elapse, System.nanoTime()).run(300);
  }
}
