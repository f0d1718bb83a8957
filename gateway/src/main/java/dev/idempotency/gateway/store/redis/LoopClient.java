package dev.idempotency.gateway.store.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoop;
import io.netty.channel.nio.NioIoHandle;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The Redis client, confined to one event loop that is not its own: no thread, no timer of its. All
 * connections of the loop are its, to however many servers.
 */
final class LoopClient {

  private static final Duration SHORTEST_CONNECT = Duration.ofSeconds(2);

  private final RedisClient client;
  private final ClientResources resources;
  private final Location location;
  private final Duration timeout;
  private final Set<Channel> channels = ConcurrentHashMap.newKeySet();

  /**
   * A client that is not yet connected.
   *
   * @param limit how many commands may be under way at once on a connection
   */
  LoopClient(RedisStoreOptions options, EventLoop loop, int limit) {
    align(loop);
    this.location = options.location();
    this.timeout = connectTimeout(options);
    this.resources =
        ClientResources.builder()
            .eventLoopGroupProvider(new OneLoop(loop))
            .eventExecutorGroup(loop)
            .timer(new LoopTimer(loop))
            .commandLatencyRecorder(CommandLatencyRecorder.disabled())
            .nettyCustomizer(new Noting())
            .build();
    this.client = new LeanRedisClient(resources);
    client.setOptions(
        ClientOptions.builder()
            // A connection is used once: so the client itself never sends a command again, and
            // what was reported as failed is not executed behind our back.
            .autoReconnect(false)
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            .requestQueueSize(limit)
            .useHashIndexQueue(false)
            .maintNotificationsConfig(MaintNotificationsConfig.disabled())
            .socketOptions(
                SocketOptions.builder()
                    .connectTimeout(timeout)
                    .keepAlive(true)
                    .tcpNoDelay(true)
                    .build())
            .timeoutOptions(TimeoutOptions.create())
            .sslOptions(ssl(options.access().tls()))
            .build());
  }

  private static SslOptions ssl(@Nullable RedisTls tls) {
    return tls == null
        ? SslOptions.create()
        : SslOptions.builder().sslContext(tls::applyTo).build();
  }

  Location location() {
    return location;
  }

  /** How long it may take to connect and to shake hands: longer than a command, TLS may be. */
  static Duration connectTimeout(RedisStoreOptions options) {
    Duration twice = options.deadline().multipliedBy(2);
    return twice.compareTo(SHORTEST_CONNECT) < 0 ? SHORTEST_CONNECT : twice;
  }

  /**
   * The client takes epoll where it can, and fails on a loop of another transport. It decides when
   * its classes are loaded, so that the first loop of the process decides for all.
   */
  private static void align(EventLoop loop) {
    if (loop instanceof IoEventLoop io && io.isCompatible(NioIoHandle.class)) {
      setDefault("io.lettuce.core.epoll");
      setDefault("io.lettuce.core.kqueue");
      setDefault("io.lettuce.core.iouring");
    }
  }

  private static void setDefault(String property) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, "false");
    }
  }

  /** A new connection to that server, its hands shaken. */
  CompletionStage<StatefulRedisConnection<byte[], byte[]>> connect(Endpoint server) {
    return connect(location.server(server, timeout));
  }

  /** A new connection to that sentinel, its hands shaken. */
  CompletionStage<StatefulRedisConnection<byte[], byte[]>> connectToSentinel(Endpoint sentinel) {
    return connect(location.sentinel(sentinel, timeout));
  }

  private CompletionStage<StatefulRedisConnection<byte[], byte[]>> connect(RedisURI uri) {
    try {
      return client.connectAsync(ByteArrayCodec.INSTANCE, uri);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** A new connection to that server that subscribes to channels, its hands shaken. */
  CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> connectPubSub(Endpoint server) {
    try {
      return client.connectPubSubAsync(ByteArrayCodec.INSTANCE, location.server(server, timeout));
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Closes what is open or opening; leaves the event loop alone. */
  CompletionStage<Void> close() {
    // The client itself forgets the channel that is just being connected, and its buffer.
    for (Channel channel : channels) {
      ChannelFuture unused = channel.close();
    }
    return client
        .shutdownAsync(0, 0, TimeUnit.MILLISECONDS)
        .whenComplete(
            (none, failure) -> {
              Future<Boolean> unused = resources.shutdown(0, 0, TimeUnit.MILLISECONDS);
            });
  }

  /** Notes which channels there are. */
  private final class Noting implements NettyCustomizer {
    @Override
    public void afterChannelInitialized(Channel channel) {
      channels.add(channel);
      channel.closeFuture().addListener(closed -> channels.remove(channel));
    }
  }

  /** Gives the client a loop that belongs to somebody else. */
  private record OneLoop(EventLoop loop) implements EventLoopGroupProvider {

    @Override
    @SuppressWarnings("unchecked") // an event loop is a group of one, and only used as a group
    public <T extends EventLoopGroup> T allocate(Class<T> type) {
      return (T) loop;
    }

    @Override
    public int threadPoolSize() {
      return 1;
    }

    @Override
    public Future<Boolean> release(
        EventExecutorGroup group, long quietPeriod, long timeout, TimeUnit unit) {
      return ImmediateEventExecutor.INSTANCE.newSucceededFuture(true);
    }

    @Override
    public Future<Boolean> shutdown(long quietPeriod, long timeout, TimeUnit unit) {
      return ImmediateEventExecutor.INSTANCE.newSucceededFuture(true);
    }
  }
}
