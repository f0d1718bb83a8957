package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisCluster;
import dev.idempotency.gateway.testing.RedisSentinels;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Servers of Redis die under load, and the gateway goes on by itself. */
class RedisFailoverTest {

  private static final Duration PATIENCE = Duration.ofSeconds(40);

  private final ScriptedUpstream upstream = ScriptedUpstream.ok();
  private final Map<String, Integer> statuses = new ConcurrentHashMap<>();

  private TestGateway gateway(String url) {
    String store = "{ url: \"" + url + "\", timeout: 500ms }";
    TestGateway gateway = TestGateway.start(upstream.url(), store, "idempotency: required");
    await().atMost(PATIENCE).until(gateway::isReady);
    return gateway;
  }

  /** Sends that many new operations and notes what became of them; says how many were refused. */
  private long send(TestGateway gateway, String name, int count) {
    long refused = 0;
    for (int i = 0; i < count; i++) {
      String key = name + "-" + i;
      int status = once(gateway, key).status();
      statuses.put(key, status);
      if (status == 503) {
        refused++;
        assertThat(hits()).as("forwarded without a reservation").doesNotContainKey(key);
      }
    }
    return refused;
  }

  private static RawResponse once(TestGateway gateway, String key) {
    return RawClient.once(gateway.port(), post("/orders", key, "{}", "Authorization: Bearer t"));
  }

  private Map<String, Long> hits() {
    return upstream.received().stream()
        .collect(Collectors.groupingBy(it -> it.header("Idempotency-Key"), Collectors.counting()));
  }

  /** What was refused runs once; what was answered ran once. */
  private void assertEachRanOnce(TestGateway gateway) {
    List<String> refused =
        statuses.entrySet().stream()
            .filter(it -> it.getValue() == 503)
            .map(Map.Entry::getKey)
            .toList();
    for (String key : refused) {
      await().atMost(PATIENCE).until(() -> once(gateway, key).status() == 200);
    }
    assertThat(statuses.values()).containsOnly(200, 503);
    assertThat(hits()).hasSameSizeAs(statuses);
    assertThat(hits().values()).containsOnly(1L);
  }

  @Test
  void primaryThatDiesIsReplacedAndNothingIsForwardedMeanwhile() {
    try (RedisSentinels redis = RedisSentinels.start();
        TestGateway gateway = gateway(redis.url())) {
      assertThat(send(gateway, "before", 20)).isZero();
      redis.first().kill();
      assertThat(send(gateway, "during", 3)).isEqualTo(3);
      assertThat(gateway.isReady()).isFalse();
      await().atMost(PATIENCE).until(gateway::isReady);
      assertThat(send(gateway, "after", 20)).isZero();
      assertEachRanOnce(gateway);
    } finally {
      upstream.close();
    }
  }

  @Test
  void nodeOfAClusterThatDiesIsReplacedAndItsOperationsWait() {
    try (RedisCluster cluster = RedisCluster.start(true, "--cluster-require-full-coverage", "no");
        TestGateway gateway = gateway(cluster.url())) {
      assertThat(send(gateway, "before", 30)).isZero();
      cluster.node(0).kill();
      // A third of the operations is the dead node's.
      assertThat(send(gateway, "during", 30)).isBetween(1L, 29L);
      await().atMost(PATIENCE).until(gateway::isReady);
      assertThat(send(gateway, "after", 30)).isZero();
      assertEachRanOnce(gateway);
    } finally {
      upstream.close();
    }
  }

  @Test
  void slotsThatMoveAreNotNoticedAndKeysWithBracesAreLikeOthers() {
    List<String> keys = List.of("{}", "a}{b", "{x}y", "{".repeat(255), "}{", "{00}");
    RedisCluster cluster = RedisCluster.shared();
    try (TestGateway gateway = gateway(cluster.url())) {
      for (String key : keys) {
        // The cluster outlives this test, and so would its records.
        String own = key.length() > 200 ? key : key + System.nanoTime();
        RawResponse first = once(gateway, own);
        assertThat(first.status()).isEqualTo(200);
        int slot = cluster.slot(key.startsWith("{0") ? "00" : "ff");
        cluster.move(slot, (cluster.owner(slot) + 1) % 3);
        assertThat(once(gateway, own).isReplay()).isTrue();
      }
      assertThat(hits().values()).containsOnly(1L);
    } finally {
      upstream.close();
    }
  }
}
