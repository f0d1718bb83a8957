package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.StoreFinding;
import dev.idempotency.gateway.idempotency.StoreHealth;
import java.util.List;
import java.util.Map;

/**
 * How a Cluster stands: well if all buckets have a master and all masters are connected.
 *
 * <p>Threading: unchanging, but for what the links say of themselves; from any thread.
 *
 * @param nodes the masters
 * @param unserved how many buckets no master has
 * @param trouble why nothing is known of the Cluster, or empty
 */
record ClusterHealth(Map<Endpoint, RedisLink> nodes, int unserved, String trouble)
    implements StoreHealth {

  static final ClusterHealth BEGINNING = trouble("connecting for the first time");

  static ClusterHealth trouble(String why) {
    return new ClusterHealth(Map.of(), 0, why);
  }

  static ClusterHealth of(Map<Endpoint, RedisLink> nodes, int unserved) {
    return new ClusterHealth(Map.copyOf(nodes), unserved, "");
  }

  boolean isKnown() {
    return trouble.isEmpty();
  }

  @Override
  public boolean reachable() {
    return isKnown() && unserved == 0 && nodes.values().stream().allMatch(RedisLink::reachable);
  }

  @Override
  public List<StoreFinding> findings() {
    return nodes.values().stream().flatMap(node -> node.findings().stream()).toList();
  }

  @Override
  public long evictions() {
    return nodes.values().stream().mapToLong(RedisLink::evictions).sum();
  }

  @Override
  public String detail() {
    if (!isKnown()) {
      return trouble;
    }
    for (Map.Entry<Endpoint, RedisLink> node : nodes.entrySet()) {
      if (!node.getValue().reachable()) {
        return "node " + node.getKey() + " of the Cluster: " + node.getValue().detail();
      }
    }
    return unserved > 0
        ? "no master of the Cluster has the slots of " + unserved + " of 256 buckets"
        : "connected to " + nodes.size() + " masters";
  }
}
