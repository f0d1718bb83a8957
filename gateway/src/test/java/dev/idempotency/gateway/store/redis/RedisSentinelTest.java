package dev.idempotency.gateway.store.redis;

import static dev.idempotency.gateway.store.Fixtures.await;
import static dev.idempotency.gateway.store.Fixtures.reservation;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.testing.RedisSentinels;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The primary is whoever the sentinels say. */
class RedisSentinelTest {

  private static final Duration PATIENCE = Duration.ofSeconds(40);
  private static final Duration LONG = Duration.ofSeconds(10);

  private static boolean has(RedisServer server, Reservation reservation) {
    return server.call("EXISTS", "idem:" + reservation.id()).equals("1");
  }

  private static boolean reserves(LoopStore store, RedisServer at) {
    Reservation reservation = reservation();
    return await(store.store().reserve(reservation)).equals(ReserveReply.ACQUIRED)
        && has(at, reservation);
  }

  @Test
  void primaryThatDiedIsReplacedWithoutAnybodysHelp() {
    try (RedisSentinels redis = RedisSentinels.start();
        LoopStore store = LoopStore.connected(RedisStoreOptions.of(redis.url()))) {
      assertThat(reserves(store, redis.first())).isTrue();
      redis.first().kill();
      store.awaitUnreachable();
      store.awaitReachable();
      assertThat(reserves(store, redis.second())).isTrue();
    }
  }

  /**
   * The sentinels' user may ask the first primary how it is, but not make it a replica: so it stays
   * what it is, as one does that is cut off from the sentinels only.
   */
  @Test
  void formerPrimaryThatCanStillBeWrittenToIsLeft() {
    List<String> asking =
        user("watcher", ">secret", "+@all", "-slaveof", "-replicaof", "-client|kill");
    List<String> ruling = user("watcher", ">secret", "+@all");
    RedisSentinels.Options options =
        new RedisSentinels.Options(
            asking,
            ruling,
            List.of("sentinel auth-user NAME watcher", "sentinel auth-pass NAME secret"));
    try (RedisSentinels redis = RedisSentinels.start(options);
        LoopStore store =
            LoopStore.connected(RedisStoreOptions.of(redis.url()).withDeadline(LONG))) {
      assertThat(reserves(store, redis.first())).isTrue();
      redis.failOver();
      Awaitility.await().atMost(PATIENCE).until(() -> reserves(store, redis.second()));
      assertThat(redis.first().call("SET", "still", "writable")).isEqualTo("OK");
      assertThat(redis.first().call("INFO", "replication")).contains("role:master");
    }
  }

  @Test
  void sentinelThatIsCutOffFromTheOthersIsNotBelieved() {
    try (RedisServer former = RedisServer.start();
        RedisServer current = RedisServer.start();
        ScriptedRedis cutOff = ScriptedRedis.sentinel(former.port(), 3);
        ScriptedRedis knowing = ScriptedRedis.sentinel(current.port(), 4);
        LoopStore store = LoopStore.connected(of(cutOff, knowing))) {
      assertThat(reserves(store, current)).isTrue();
    }
  }

  @Test
  void sentinelsAreAskedToConnectAndNotForEachCommand() {
    try (RedisServer server = RedisServer.start();
        ScriptedRedis sentinel = ScriptedRedis.sentinel(server.port(), 1);
        LoopStore store = LoopStore.connected(of(sentinel))) {
      for (int i = 0; i < 500; i++) {
        await(store.store().reserve(reservation()));
      }
      // Once to connect, then once a second.
      assertThat(sentinel.received().stream().filter("SENTINEL"::equals).count()).isLessThan(50);
    }
  }

  @Test
  void sentinelThatIsAwayIsPassedOverAndThatAllAreAwayIsSaid() {
    try (RedisServer server = RedisServer.start();
        ScriptedRedis sentinel = ScriptedRedis.sentinel(server.port(), 1)) {
      String url = "redis-sentinel://127.0.0.1:1,127.0.0.1:" + sentinel.port() + "#primary";
      try (LoopStore store = LoopStore.connected(RedisStoreOptions.of(url))) {
        assertThat(reserves(store, server)).isTrue();
        sentinel.close();
        // They are needed again when the primary has to be found, not before.
        assertThat(reserves(store, server)).isTrue();
      }
      try (LoopStore store = LoopStore.started(RedisStoreOptions.of(url))) {
        Awaitility.await().until(() -> store.store().detail().contains("refused"));
        assertThat(store.store().detail()).contains("sentinel 127.0.0.1:");
      }
    }
  }

  @Test
  void sentinelThatDoesNotKnowThePrimarySaysSo() {
    try (ScriptedRedis sentinel =
            ScriptedRedis.start(
                words ->
                    words.get(0).equals("SENTINEL") ? "-ERR No such master with that name" : null);
        LoopStore store = LoopStore.started(of(sentinel))) {
      Awaitility.await().until(() -> store.store().detail().contains("No such master"));
    }
  }

  @Test
  void passwordsOfServersAndOfSentinelsAreTwo() {
    RedisSentinels.Options options =
        new RedisSentinels.Options(
            user("app", ">data", "+@all"),
            user("app", ">data", "+@all"),
            List.of("user default on nopass ~* &* +@all", "user eye on >look ~* &* +@all"));
    try (RedisSentinels redis = RedisSentinels.start(options)) {
      RedisStoreOptions right =
          RedisStoreOptions.of(redis.url())
              .withAccess(
                  RedisAccess.NONE.withPassword("app", "data").withSentinelPassword("eye", "look"));
      try (LoopStore store = LoopStore.connected(right)) {
        assertThat(reserves(store, redis.first())).isTrue();
      }
      RedisStoreOptions wrong =
          RedisStoreOptions.of(redis.url())
              .withAccess(
                  RedisAccess.NONE.withPassword("app", "data").withSentinelPassword("eye", "data"));
      try (LoopStore store = LoopStore.started(wrong)) {
        Awaitility.await().until(() -> store.store().detail().contains("WRONGPASS"));
        assertThat(store.store().detail()).contains("sentinel").doesNotContain("data");
      }
    }
  }

  private static List<String> user(String name, String password, String... commands) {
    List<String> words = new ArrayList<>(List.of("--user", name, "on", password, "~*", "&*"));
    words.addAll(List.of(commands));
    return words;
  }

  private static RedisStoreOptions of(ScriptedRedis... sentinels) {
    StringBuilder url = new StringBuilder("redis-sentinel://");
    for (ScriptedRedis sentinel : sentinels) {
      url.append(url.charAt(url.length() - 1) == '/' ? "" : ",");
      url.append("127.0.0.1:").append(sentinel.port());
    }
    return RedisStoreOptions.of(url + "#primary").withDeadline(LONG);
  }
}
