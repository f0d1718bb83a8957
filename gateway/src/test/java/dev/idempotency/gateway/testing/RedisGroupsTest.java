package dev.idempotency.gateway.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The groups of servers do what tests rely on. */
class RedisGroupsTest {

  @Test
  void clusterServesAllSlotsAndMovesOneWithItsKeys() {
    try (RedisCluster cluster = RedisCluster.start(true)) {
      int slot = cluster.slot("{ab}:1");
      int from = cluster.owner(slot);
      int to = (from + 1) % 3;
      assertThat(cluster.node(from).call("SET", "{ab}:1", "x")).isEqualTo("OK");
      assertThat(cluster.node(to).call("GET", "{ab}:1")).startsWith("-MOVED");
      cluster.move(slot, to);
      assertThat(cluster.owner(slot)).isEqualTo(to);
      assertThat(cluster.node(to).call("GET", "{ab}:1")).isEqualTo("x");
      assertThat(cluster.node(from).call("GET", "{ab}:1")).startsWith("-MOVED");
    }
  }

  @Test
  void sentinelsReplaceAPrimaryThatDied() {
    try (RedisSentinels sentinels = RedisSentinels.start()) {
      assertThat(sentinels.primaryPort()).isEqualTo(sentinels.first().port());
      sentinels.first().kill();
      sentinels.awaitFailover();
      assertThat(sentinels.second().call("SET", "a", "b")).isEqualTo("OK");
      assertThat(List.of(sentinels.url())).first().asString().endsWith("/0#orders-store");
    }
  }
}
