package dev.idempotency.gateway.store.redis;

import io.lettuce.core.api.StatefulRedisConnection;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * One master of a Cluster.
 *
 * @param key a name in one of its slots, as far as it has any
 */
record NodeTarget(LoopClient client, Endpoint node, Function<Endpoint, byte[]> key)
    implements Target {

  @Override
  public String name() {
    return "Redis node " + node;
  }

  @Override
  public CompletionStage<StatefulRedisConnection<byte[], byte[]>> connect() {
    return client.connect(node);
  }

  @Override
  public byte[] probeKey() {
    return key.apply(node);
  }

  /** A node whose slots have just gone, or are just coming, is well. */
  @Override
  public boolean isSignOfLife(String error) {
    return Refusal.isRedirection(error) || Refusal.isTryAgain(error);
  }
}
