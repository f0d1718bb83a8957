package dev.idempotency.gateway.store.redis;

import static org.awaitility.Awaitility.await;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A store on an event loop of its own, with the transport that the client takes. */
final class LoopStore implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(40);

  private final EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, transport());
  private final RedisIdempotencyStore store;

  private LoopStore(RedisStoreOptions options, RedisDemands demands) {
    this.store = RedisIdempotencyStore.connect(options, demands, group.next());
  }

  /** A store that has connected. */
  static LoopStore connected(RedisStoreOptions options) {
    return connected(options, RedisDemands.NONE);
  }

  /** The same for routes that want more. */
  static LoopStore connected(RedisStoreOptions options, RedisDemands demands) {
    LoopStore store = new LoopStore(options, demands);
    store.awaitReachable();
    return store;
  }

  /** A store that may never connect. */
  static LoopStore started(RedisStoreOptions options) {
    return new LoopStore(options, RedisDemands.NONE);
  }

  static RedisStoreOptions options(int port) {
    return RedisStoreOptions.of("redis://127.0.0.1:" + port);
  }

  RedisIdempotencyStore store() {
    return store;
  }

  EventLoopGroup loop() {
    return group;
  }

  void awaitReachable() {
    await("reachable").atMost(PATIENCE).until(store::reachable);
  }

  void awaitUnreachable() {
    await("unreachable").atMost(PATIENCE).until(() -> !store.reachable());
  }

  private static IoHandlerFactory transport() {
    return Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
  }

  @Override
  public void close() {
    store.close().toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
    group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
