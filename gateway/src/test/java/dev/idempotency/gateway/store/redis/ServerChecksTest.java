package dev.idempotency.gateway.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.idempotency.Durability;
import dev.idempotency.gateway.idempotency.StoreFinding;
import dev.idempotency.gateway.idempotency.StoreFinding.Severity;
import dev.idempotency.gateway.testing.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServerChecksTest {

  private static final Duration OFTEN = Duration.ofMillis(50);
  private static final String SOUND =
      """
      redis_version:7.0.15
      run_id:1
      maxmemory:1000
      used_memory:100
      maxmemory_policy:noeviction
      evicted_keys:0
      aof_enabled:1
      role:master
      connected_slaves:1
      slave0:ip=127.0.0.1,port=1,state=online,offset=1,lag=0
      """;
  private static final Map<String, String> SETTINGS =
      Map.of("save", "", "appendfsync", "everysec", "min-replicas-to-write", "1");

  private static List<StoreFinding> found(
      @Nullable String info, @Nullable Map<String, String> settings, Durability... wanted) {
    RedisDemands demands = new RedisDemands(Set.of(wanted), false, OFTEN);
    return ServerVerdict.on("Redis", new ServerFacts(info, settings, 0), demands, 0);
  }

  private static List<String> codes(List<StoreFinding> findings) {
    return findings.stream().map(StoreFinding::code).toList();
  }

  @Test
  void soundServerIsNotBlamed() {
    assertThat(found(SOUND, SETTINGS, Durability.replicas(1, false))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "noeviction, allkeys-lru, eviction-policy, ERROR",
    "noeviction, volatile-ttl, eviction-policy, ERROR",
    "used_memory:100, used_memory:1000, memory-full, ERROR",
    "used_memory:100, used_memory:950, memory-near, WARNING",
    "aof_enabled:1, aof_enabled:0, persistence, WARNING",
    "role:master, role:slave, role, ERROR",
    "7.0.15, 6.2.11, version, ERROR",
    "state=online, state=wait_bgsave, replicas, ERROR",
  })
  void whatThreatensRecordsIsSaidWithTheFix(
      String sound, String wrong, String code, Severity severity) {
    List<StoreFinding> findings =
        found(SOUND.replace(sound, wrong), SETTINGS, Durability.replicas(1, false));
    assertThat(findings)
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.code()).isEqualTo(code);
              assertThat(finding.severity()).isEqualTo(severity);
              assertThat(finding.text()).startsWith("Redis ").containsAnyOf(";", "set");
            });
  }

  @Test
  void savingNowAndThenIsPersistence() {
    Map<String, String> saves =
        Map.of("save", "3600 1", "appendfsync", "everysec", "min-replicas-to-write", "1");
    assertThat(found(SOUND.replace("aof_enabled:1", "aof_enabled:0"), saves)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "redis_version:7.0.15, everysec, 1, true",
    "redis_version:7.0.15, always, 1, false",
    "redis_version:7.2.0, everysec, 1, false",
    "redis_version:7.2.4, everysec, 0, true",
    "redis_version:8.0.1, everysec, 1, false",
    "redis_version:7.2.4\\nvalkey_version:8.1.0, everysec, 1, false",
  })
  void routeThatWantsTheDiskNeedsOneThatIsAskedAbout(
      String version, String sync, String file, boolean blamed) {
    String info =
        SOUND
            .replace("redis_version:7.0.15", version.replace("\\n", "\n"))
            .replace("aof_enabled:1", "aof_enabled:" + file);
    Map<String, String> settings =
        Map.of("save", "3600 1", "appendfsync", sync, "min-replicas-to-write", "1");
    assertThat(codes(found(info, settings, Durability.disk(false))).contains("disk"))
        .isEqualTo(blamed);
  }

  @Test
  void primaryThatWritesWithoutReplicasIsNoted() {
    Map<String, String> alone =
        Map.of("save", "", "appendfsync", "everysec", "min-replicas-to-write", "0");
    assertThat(codes(found(SOUND, alone, Durability.replicas(1, false))))
        .containsExactly("min-replicas");
  }

  @Test
  void serverThatMayNotBeAskedIsNoted() {
    assertThat(found(SOUND, null))
        .singleElement()
        .satisfies(one -> assertThat(one.severity()).isEqualTo(Severity.NOTE));
    assertThat(codes(found(null, null))).containsExactly("hidden");
  }

  @Test
  void clockThatIsFarAwayIsAWarning() {
    RedisDemands demands = RedisDemands.NONE;
    assertThat(
            codes(ServerVerdict.on("Redis", new ServerFacts(SOUND, SETTINGS, -6_000), demands, 0)))
        .containsExactly("clock");
    assertThat(ServerVerdict.on("Redis", new ServerFacts(SOUND, SETTINGS, 4_000), demands, 0))
        .isEmpty();
  }

  @Test
  void realServerIsJudgedAndAChangeIsSeen(@TempDir Path folder) {
    try (RedisServer redis = RedisServer.start("--dir", folder.toString());
        LoopStore store =
            LoopStore.connected(
                LoopStore.options(redis.port()), RedisDemands.NONE.withChecks(OFTEN))) {
      Awaitility.await()
          .until(() -> codes(store.store().findings()).equals(List.of("persistence")));
      redis.call("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
      redis.call("CONFIG", "SET", "appendonly", "yes");
      Awaitility.await()
          .until(() -> codes(store.store().findings()).equals(List.of("eviction-policy")));
    }
  }

  @Test
  void evictionsWhileWatchedAreCounted() {
    try (RedisServer redis = RedisServer.start("--maxmemory-policy", "allkeys-lru");
        LoopStore store =
            LoopStore.connected(
                LoopStore.options(redis.port()), RedisDemands.NONE.withChecks(OFTEN))) {
      Awaitility.await().until(() -> !store.store().findings().isEmpty());
      assertThat(store.store().evictions()).isZero();
      for (int i = 0; i < 100; i++) {
        redis.call("SET", "idem:" + i, "x".repeat(10_000));
      }
      redis.call("CONFIG", "SET", "maxmemory", "1500000");
      redis.call("SET", "idem:more", "x".repeat(10_000));
      Awaitility.await().until(() -> store.store().evictions() > 0);
      assertThat(codes(store.store().findings())).contains("evictions");
    }
  }

  @Test
  void serverThatAllowsNeitherInfoNorConfigGoesOn() {
    try (RedisServer redis = RedisServer.start()) {
      redis.call("ACL", "SETUSER", "default", "-info", "-config");
      try (LoopStore store =
          LoopStore.connected(
              LoopStore.options(redis.port()), RedisDemands.NONE.withChecks(OFTEN))) {
        Awaitility.await().until(() -> codes(store.store().findings()).equals(List.of("hidden")));
        assertThat(store.store().reachable()).isTrue();
      }
    }
  }
}
