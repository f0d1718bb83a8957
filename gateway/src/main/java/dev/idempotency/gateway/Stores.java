package dev.idempotency.gateway;

import dev.idempotency.gateway.config.Configuration;
import dev.idempotency.gateway.config.Safety;
import dev.idempotency.gateway.config.StoreAccess;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.StoreFinding;
import dev.idempotency.gateway.idempotency.StoreHealth;
import dev.idempotency.gateway.store.memory.MemoryIdempotencyStore;
import dev.idempotency.gateway.store.postgres.PostgresDatabase;
import dev.idempotency.gateway.store.postgres.PostgresIdempotencyStore;
import dev.idempotency.gateway.store.postgres.PostgresStoreOptions;
import dev.idempotency.gateway.store.redis.Notices;
import dev.idempotency.gateway.store.redis.RedisDemands;
import dev.idempotency.gateway.store.redis.RedisIdempotencyStore;
import dev.idempotency.gateway.store.redis.RedisStoreOptions;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The store of each event loop: one and the same in memory, a connection each to Redis, or all by
 * the connections of one pool to PostgreSQL.
 */
final class Stores implements StoreHealth {

  private final Configuration.Store settings;
  private final @Nullable RedisStoreOptions redis;
  private final List<StoreHealth> health = new ArrayList<>();
  private final List<RedisIdempotencyStore> connections = new ArrayList<>();
  private final @Nullable MemoryIdempotencyStore memory;
  private final @Nullable PostgresDatabase postgres;
  private final Sealing sealing;
  private final RedisDemands demands;

  /** Shared by all loops; null before the first. */
  private @Nullable Notices notices;

  /** Connects to nothing yet. */
  Stores(Configuration configuration) throws StartupException {
    this.settings = configuration.store();
    this.sealing = new Sealing(configuration);
    this.demands = demands(configuration);
    this.redis = settings instanceof Configuration.Store.Redis url ? RedisOptions.of(url) : null;
    this.postgres = settings instanceof Configuration.Store.Postgres url ? opened(url) : null;
    this.memory =
        settings instanceof Configuration.Store.Memory bounds
            ? MemoryIdempotencyStore.create(bounds.maxBytes())
            : null;
  }

  /** What the routes want that have keys. */
  private static RedisDemands demands(Configuration configuration) {
    List<Safety> wanted =
        configuration.routes().stream()
            .filter(route -> route.idempotency() != Configuration.Keying.OFF)
            .map(Configuration.Route::safety)
            .toList();
    return new RedisDemands(
        wanted.stream()
            .map(Safety::durability)
            .filter(durability -> !durability.isNone())
            .collect(Collectors.toSet()),
        wanted.stream().anyMatch(safety -> !safety.guard().isZero()),
        configuration.store() instanceof Configuration.Store.Redis url
            ? url.checks()
            : Duration.ZERO);
  }

  private static PostgresDatabase opened(Configuration.Store.Postgres postgres)
      throws StartupException {
    StoreAccess access = postgres.access();
    String password = access.password() == null ? null : access.password().value();
    try {
      return PostgresDatabase.of(
          new PostgresStoreOptions(
              postgres.url(), access.user(), password, postgres.timeout(), postgres.pool()));
    } catch (IllegalArgumentException e) {
      throw new StartupException("store: " + e.getMessage());
    }
  }

  /**
   * The store for that loop.
   *
   * @param unreadable hears of responses that the store has and that can't be read
   */
  OperationStore open(EventLoop loop, Consumer<String> unreadable) {
    return sealing.around(open(loop), loop, unreadable);
  }

  private OperationStore open(EventLoop loop) {
    if (memory != null) {
      health.add(memory);
      return memory.on(loop);
    }
    if (redis != null) {
      if (notices == null) {
        notices = Notices.open(redis, loop);
      }
      // One of them looks at the servers for all.
      RedisDemands wanted = connections.isEmpty() ? demands : demands.withChecks(Duration.ZERO);
      RedisIdempotencyStore store = RedisIdempotencyStore.connect(redis, wanted, loop, notices);
      connections.add(store);
      health.add(store);
      return store;
    }
    if (postgres != null) {
      health.add(postgres);
      return PostgresIdempotencyStore.on(postgres, loop);
    }
    throw new IllegalStateException("a store of a kind that nobody opens: " + settings);
  }

  /** What threatens the records. */
  @Override
  public List<StoreFinding> findings() {
    return health.stream().flatMap(store -> store.findings().stream()).distinct().toList();
  }

  @Override
  public long evictions() {
    return health.stream().distinct().mapToLong(StoreHealth::evictions).sum();
  }

  /** Whether every loop reaches its store. */
  @Override
  public boolean reachable() {
    return health.stream().allMatch(StoreHealth::reachable);
  }

  /** The first trouble, or how it stands. */
  @Override
  public String detail() {
    return health.stream()
        .filter(store -> !store.reachable())
        .findFirst()
        .orElse(health.get(0))
        .detail();
  }

  /** What the start line and the log say. */
  String describe() {
    if (settings instanceof Configuration.Store.Postgres url) {
      return url.maskedUrl();
    }
    return settings instanceof Configuration.Store.Redis url
        ? url.maskedUrl()
        : "memory (one gateway only, records do not survive a restart)";
  }

  /** Ends the threads that work for the stores, when no loop needs them any more. */
  void stopWorkers() {
    sealing.close();
    if (postgres != null) {
      postgres.close();
    }
  }

  List<RedisIdempotencyStore> connections() {
    return connections;
  }
}
