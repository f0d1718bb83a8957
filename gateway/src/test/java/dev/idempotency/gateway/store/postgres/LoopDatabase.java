package dev.idempotency.gateway.store.postgres;

import static org.awaitility.Awaitility.await;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A store on an event loop of its own. */
final class LoopDatabase implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(40);

  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final PostgresDatabase database;
  private final PostgresIdempotencyStore store;

  private LoopDatabase(PostgresStoreOptions options) {
    this.database = PostgresDatabase.of(options);
    this.store = PostgresIdempotencyStore.on(database, group.next());
  }

  /** A store that has connected. */
  static LoopDatabase connected(PostgresStoreOptions options) {
    LoopDatabase store = new LoopDatabase(options);
    store.awaitReachable();
    return store;
  }

  /** A store that may never connect. */
  static LoopDatabase started(PostgresStoreOptions options) {
    return new LoopDatabase(options);
  }

  PostgresIdempotencyStore store() {
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

  PostgresDatabase database() {
    return database;
  }

  @Override
  public void close() {
    database.close();
    group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
