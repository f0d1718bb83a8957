package dev.idempotency.gateway.store.redis;

import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisReactiveCommandsImpl;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.PushHandler;
import io.lettuce.core.pubsub.PubSubEndpoint;
import io.lettuce.core.pubsub.RedisPubSubReactiveCommandsImpl;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnectionImpl;
import io.lettuce.core.pubsub.api.sync.RedisPubSubCommands;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;

/**
 * A client whose connections have no blocking and no reactive commands. The store dispatches its
 * own commands; to make proxies for thousands of methods that nobody calls costs a good part of the
 * start-up.
 */
final class LeanRedisClient extends RedisClient {

  LeanRedisClient(ClientResources resources) {
    super(resources, new RedisURI());
  }

  @Override
  protected <K, V> StatefulRedisConnectionImpl<K, V> newStatefulRedisConnection(
      RedisChannelWriter writer, PushHandler pushes, RedisCodec<K, V> codec, Duration timeout) {
    return new LeanConnection<>(writer, pushes, codec, timeout);
  }

  @Override
  protected <K, V> StatefulRedisPubSubConnectionImpl<K, V> newStatefulRedisPubSubConnection(
      PubSubEndpoint<K, V> endpoint,
      RedisChannelWriter writer,
      RedisCodec<K, V> codec,
      Duration timeout) {
    return new LeanPubSubConnection<>(endpoint, writer, codec, timeout);
  }

  @SuppressWarnings("NullAway") // nobody asks for these
  private static final class LeanPubSubConnection<K, V>
      extends StatefulRedisPubSubConnectionImpl<K, V> {

    LeanPubSubConnection(
        PubSubEndpoint<K, V> endpoint,
        RedisChannelWriter writer,
        RedisCodec<K, V> codec,
        Duration timeout) {
      super(endpoint, writer, codec, timeout);
    }

    @Override
    protected RedisPubSubCommands<K, V> newRedisSyncCommandsImpl() {
      return null;
    }

    @Override
    protected RedisPubSubReactiveCommandsImpl<K, V> newRedisReactiveCommandsImpl() {
      return null;
    }
  }

  @SuppressWarnings("NullAway") // nobody asks for these
  private static final class LeanConnection<K, V> extends StatefulRedisConnectionImpl<K, V> {

    LeanConnection(
        RedisChannelWriter writer, PushHandler pushes, RedisCodec<K, V> codec, Duration timeout) {
      super(writer, pushes, codec, timeout);
    }

    @Override
    protected RedisCommands<K, V> newRedisSyncCommandsImpl() {
      return null;
    }

    @Override
    protected RedisReactiveCommandsImpl<K, V> newRedisReactiveCommandsImpl() {
      return null;
    }
  }
}
