package dev.idempotency.gateway.store.redis;

import io.lettuce.core.api.StatefulRedisConnection;
import java.util.concurrent.CompletionStage;

/** One server, for ever. */
record ServerTarget(LoopClient client, Endpoint server, byte[] probeKey) implements Target {

  @Override
  public String name() {
    return "Redis";
  }

  @Override
  public CompletionStage<StatefulRedisConnection<byte[], byte[]>> connect() {
    return client.connect(server);
  }
}
