package dev.idempotency.gateway.store.redis;

import static dev.idempotency.gateway.store.Fixtures.await;
import static dev.idempotency.gateway.store.Fixtures.reservation;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.testing.ScriptedRedis;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever Redis says instead of an answer, it is never taken for "no record". */
class RedisRefusalTest {

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private static RedisStoreOptions options(ScriptedRedis redis) {
    return LoopStore.options(redis.port()).withDeadline(PATIENCE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "READONLY You can't write against a read only replica.",
        "LOADING Redis is loading the dataset in memory",
        "CLUSTERDOWN The cluster is down",
        "MISCONF Redis is configured to save RDB snapshots",
        "NOREPLICAS Not enough good replicas to write.",
        "MASTERDOWN Link with MASTER is down",
        "MOVED 3999 127.0.0.1:6381",
        "ASK 3999 127.0.0.1:6381",
        "TRYAGAIN Multiple keys request during rehashing of slot",
        "CROSSSLOT Keys in request don't hash to the same slot",
        "NOPERM this user has no permissions to run the 'evalsha' command",
        "NOAUTH Authentication required.",
        "OOM command not allowed when used memory > 'maxmemory'.",
        "BUSY Redis is busy running a script",
        "ERR something else"
      })
  void refusalIsAFailureOfTheStoreAndNothingWasDone(String error) {
    Reservation reservation = reservation();
    for (int command = 0; command < 6; command++) {
      try (ScriptedRedis redis = ScriptedRedis.refusing(error);
          LoopStore store = LoopStore.connected(options(redis))) {
        CompletionStage<?> stage = send(store.store(), command, reservation);
        StoreUnavailableException failure =
            catchThrowableOfType(StoreUnavailableException.class, () -> await(stage));
        assertThat(failure).hasMessageContaining(error.substring(0, error.indexOf(' ')));
        assertThat(failure.isSurelyNotExecuted()).isTrue();
      }
    }
  }

  private static CompletionStage<?> send(
      RedisIdempotencyStore store, int command, Reservation reservation) {
    return switch (command) {
      case 0 -> store.reserve(reservation);
      case 1 -> store.takeOver(reservation.following(1));
      case 2 -> store.renew(reservation);
      case 3 -> store.settle(reservation, new Settlement.NotKept(200));
      case 4 -> store.release(reservation);
      default -> store.find(reservation.id());
    };
  }
}
