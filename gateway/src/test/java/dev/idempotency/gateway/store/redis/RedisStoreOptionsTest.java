package dev.idempotency.gateway.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNoException;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedisStoreOptionsTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://localhost",
        "redis://127.0.0.1:6380/3",
        "rediss://user:p%40ss@redis.example:6379",
        "redis://:secret@[::1]:6379/0",
        "redis-sentinel://:secret@one:26379,two:26379/1#orders",
        "redis-cluster://one,two:7001,three",
        "redis-cluster://user:p%40ss@[::1]:7000/0",
        "rediss-cluster://one:7000/"
      })
  void wellFormedUrlIsTaken(String url) {
    assertThatNoException().isThrownBy(() -> RedisStoreOptions.of(url));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "localhost:6379",
        "http://:s3cret@localhost",
        "redis://",
        "redis://:s3cret@localhost:port",
        "redis://:s3cret@localhost:99999",
        "redis://:s3cret@localhost/orders",
        "redis://:s3cret with blank@localhost",
        "redis-sentinel://:s3cret@localhost",
        "redis-cluster://",
        "redis-cluster://:s3cret@one,",
        "redis-cluster://:s3cret@one/1",
        "redis-cluster://:s3cret@one:port",
        "redis-cluster://:s3cret@one,two#name"
      })
  void malformedUrlIsRefusedWithoutRepeatingIt(String url) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisStoreOptions.of(url))
        .withMessageContaining("redis://[user:password@]host[:port][/database]")
        .satisfies(e -> assertThat(e.toString()).doesNotContain("s3cret"))
        .withNoCause();
  }

  @ParameterizedTest
  @ValueSource(strings = {"{idem}:", "a}", "{"})
  void prefixWithBracesIsRefused(String prefix) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisStoreOptions.of("redis://localhost").withPrefix(prefix))
        .withMessageContaining(prefix);
  }

  @Test
  void deadlineOutOfRangeIsRefused() {
    RedisStoreOptions options = RedisStoreOptions.of("redis://localhost");
    assertThatIllegalArgumentException().isThrownBy(() -> options.withDeadline(Duration.ZERO));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> options.withDeadline(Duration.ofMinutes(2)));
  }

  @Test
  void passwordIsNotInTheText() {
    assertThat(RedisStoreOptions.of("redis://user:s3cret@localhost:6379/1").toString())
        .doesNotContain("s3cret")
        .contains("localhost:6379/1");
  }
}
