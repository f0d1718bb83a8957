package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;

/** Time as Redis sees it. */
final class RedisClock {

  private RedisClock() {}

  /** Waits until that much of the server's time has passed. */
  static void elapse(RedisServer redis, Duration time) {
    long until = millis(redis) + time.toMillis() + 1;
    Awaitility.await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2))
        .until(() -> millis(redis) >= until);
  }

  private static long millis(RedisServer redis) {
    List<String> time = redis.call("TIME").lines().toList();
    return Long.parseLong(time.get(0)) * 1_000 + Long.parseLong(time.get(1)) / 1_000;
  }
}
