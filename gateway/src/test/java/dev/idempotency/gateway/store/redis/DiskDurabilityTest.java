package dev.idempotency.gateway.store.redis;

import static dev.idempotency.gateway.store.Fixtures.await;
import static dev.idempotency.gateway.store.Fixtures.reservation;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.gateway.idempotency.Durability;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.testing.NewerRedis;
import dev.idempotency.gateway.testing.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Writes that count only when they are on the disk of Redis. */
class DiskDurabilityTest {

  private static final Durability DISK = Durability.disk(false);

  private static LoopStore connected(int port) {
    return LoopStore.connected(
        LoopStore.options(port).withDeadline(Duration.ofSeconds(5)),
        new RedisDemands(Set.of(DISK), false, Duration.ZERO));
  }

  private static Reservation durable() {
    return reservation().with(DISK);
  }

  private static void assertMissed(CompletionStage<?> stage, String... words) {
    assertThatThrownBy(() -> await(stage))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContainingAll(words);
  }

  @Test
  void serverThatSyncsAlwaysKeepsAReservationThroughACrash(@TempDir Path folder) {
    try (RedisServer redis =
            RedisServer.start(
                "--appendonly", "yes", "--appendfsync", "always", "--dir", folder.toString());
        LoopStore store = connected(redis.port())) {
      Reservation reservation = durable();
      assertThat(await(store.store().reserve(reservation))).isEqualTo(ReserveReply.ACQUIRED);
      redis.kill();
      redis.restart();
      Awaitility.await().until(() -> redis.call("INFO", "persistence").contains("loading:0"));
      assertThat(redis.call("EXISTS", "idem:" + reservation.id())).isEqualTo("1");
    }
  }

  @Test
  void oldServerThatSyncsEverySecondIsRefused(@TempDir Path folder) {
    try (RedisServer redis =
            RedisServer.start(
                "--appendonly", "yes", "--appendfsync", "everysec", "--dir", folder.toString());
        LoopStore store = connected(redis.port())) {
      assertMissed(store.store().reserve(durable()), "WAITAOF", "appendfsync always");
      redis.call("CONFIG", "SET", "appendfsync", "always");
      assertThat(await(store.store().reserve(durable()))).isEqualTo(ReserveReply.ACQUIRED);
    }
  }

  @Test
  void oldServerWithoutAFileIsRefused() {
    try (RedisServer redis = RedisServer.start("--appendfsync", "always");
        LoopStore store = connected(redis.port())) {
      assertMissed(store.store().reserve(durable()), "WAITAOF", "appendonly yes");
      assertThat(await(store.store().reserve(reservation()))).isEqualTo(ReserveReply.ACQUIRED);
    }
  }

  @Test
  void oldServerThatHidesItsSettingsIsRefused() {
    try (RedisServer redis = RedisServer.start()) {
      redis.call("ACL", "SETUSER", "default", "-config");
      try (LoopStore store = connected(redis.port())) {
        assertMissed(store.store().reserve(durable()), "WAITAOF", "NOPERM");
      }
    }
  }

  @Test
  void newServerIsAskedAboutItsDisk() {
    try (NewerRedis redis = NewerRedis.start("*2\r\n:1\r\n:0\r\n");
        LoopStore store = connected(redis.port())) {
      assertThat(await(store.store().reserve(durable()))).isEqualTo(ReserveReply.ACQUIRED);
      assertThat(redis.waits()).containsExactly(List.of("WAITAOF", "1", "0", "2000"));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "*2\r\n:0\r\n:1\r\n",
        "*0\r\n",
        "-ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.\r\n"
      })
  void newServerThatHasNotWrittenIsNotEnough(String reply) {
    try (NewerRedis redis = NewerRedis.start(reply);
        LoopStore store = connected(redis.port())) {
      assertMissed(store.store().reserve(durable()), "not on the disk of Redis within 2000 ms");
    }
  }
}
