package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.Durability;
import java.time.Duration;

/**
 * What is asked of a link.
 *
 * @param deadline how long a command may take
 * @param connect how long it may take to connect
 * @param durability how far those commands must have got that say so ({@link Call#confirmed})
 * @param demands what the routes want besides
 */
record Terms(Duration deadline, Duration connect, Durability durability, RedisDemands demands) {

  static Terms of(RedisStoreOptions options, RedisDemands demands) {
    return new Terms(
        options.deadline(), LoopClient.connectTimeout(options), Durability.NONE, demands);
  }

  /** The same for a link of its own, whose commands must get that far. */
  Terms with(Durability wanted) {
    return new Terms(deadline, connect, wanted, demands.withChecks(Duration.ZERO));
  }
}
