package dev.idempotency.gateway.store.redis;

import io.lettuce.core.api.StatefulRedisConnection;
import java.util.concurrent.CompletionStage;

/** Whoever the sentinels say is the primary when a connection is needed. */
record SentinelTarget(LoopClient client, SentinelWatch sentinels, byte[] probeKey)
    implements Target {

  @Override
  public String name() {
    return "Redis";
  }

  @Override
  public CompletionStage<StatefulRedisConnection<byte[], byte[]>> connect() {
    return sentinels.primary().thenCompose(client::connect);
  }
}
