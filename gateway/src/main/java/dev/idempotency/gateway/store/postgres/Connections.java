package dev.idempotency.gateway.store.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.gateway.idempotency.StoreHealth;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The pool, and whether it is worth while to ask it: where PostgreSQL is away or does not answer,
 * commands are refused at once until a probe has got through.
 *
 * <p>Threading: health from any thread; the rest waits, and is not for event loops.
 */
final class Connections implements StoreHealth {

  private static final long LEAST_WAIT_MILLIS = 250;
  private static final int KEPT = 2;
  private static final Duration IDLE = Duration.ofMinutes(5);

  /** Beside the lanes': the watch and the poll for changes. */
  private static final int OTHERS = 2;

  private final Source source;
  private final HikariConfig config = new HikariConfig();
  private final int size;
  private volatile @Nullable HikariDataSource pool;
  private volatile boolean reachable;
  private volatile boolean closed;
  private volatile String detail = "not connected yet";

  Connections(Source source, PostgresStoreOptions options) {
    this.source = source;
    this.size = options.pool();
    config.setDataSource(source);
    config.setPoolName("postgres");
    config.setMaximumPoolSize(size + OTHERS);
    config.setMinimumIdle(Math.min(KEPT, size));
    config.setIdleTimeout(IDLE.toMillis());
    config.setConnectionTimeout(Math.max(LEAST_WAIT_MILLIS, options.deadline().toMillis()));
    config.setValidationTimeout(Math.max(LEAST_WAIT_MILLIS, options.deadline().toMillis()));
    config.setInitializationFailTimeout(-1);
    config.setAutoCommit(true);
  }

  /** Lets the pool make connections, once there is something to connect to. */
  synchronized void start() {
    if (pool == null && !closed) {
      pool = new HikariDataSource(config);
    }
  }

  boolean isStarted() {
    return pool != null;
  }

  /**
   * Runs a command.
   *
   * @param wanted asked when there is a connection: whether it still is to be run
   * @throws StoreUnavailableException if that failed
   */
  <R> R run(Command<R> command, BooleanSupplier wanted) {
    if (!reachable) {
      throw unreachable();
    }
    return runAnyway(command, wanted);
  }

  /** Runs it even where nobody believes that it will succeed. */
  <R> R runAnyway(Command<R> command, BooleanSupplier wanted) {
    HikariDataSource connected = pool;
    if (connected == null || closed) {
      throw unreachable();
    }
    Connection connection;
    try {
      connection = connected.getConnection();
    } catch (SQLException e) {
      lost(Refusal.words(e));
      throw unreachable();
    }
    try (connection) {
      if (!wanted.getAsBoolean()) {
        throw StoreUnavailableException.notExecuted("too late");
      }
      return command.run(connection);
    } catch (SQLException e) {
      if (Refusal.isOfTheStore(e)) {
        lost(Refusal.words(e));
      }
      throw Refusal.ofStatement(e);
    }
  }

  StoreUnavailableException unreachable() {
    return StoreUnavailableException.notExecuted(
        closed ? "the store is closed" : "PostgreSQL cannot be reached: " + detail);
  }

  /** A probe got through. */
  void found() {
    reachable = !closed;
    detail = "connected to " + source.masked() + ", " + size + " connections at most";
  }

  /** Something went wrong that would go wrong for others too. */
  void lost(String why) {
    detail = why;
    HikariDataSource connected = pool;
    if (reachable && connected != null && !connected.isClosed()) {
      reachable = false;
      // What else lies there leads to the same place.
      connected.getHikariPoolMXBean().softEvictConnections();
    }
  }

  @Override
  public boolean reachable() {
    return reachable;
  }

  @Override
  public String detail() {
    return detail;
  }

  /** Ends all connections; what is under way fails. */
  void close() {
    closed = true;
    reachable = false;
    detail = "closed";
    HikariDataSource connected;
    synchronized (this) {
      connected = pool;
    }
    if (connected != null) {
      connected.close();
    }
  }
}
