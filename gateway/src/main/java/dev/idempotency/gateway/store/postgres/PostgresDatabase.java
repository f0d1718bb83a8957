package dev.idempotency.gateway.store.postgres;

import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.SettlementNotices.Registration;
import dev.idempotency.gateway.idempotency.StoreHealth;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import io.netty.channel.EventLoop;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;

/**
 * One gateway's access to PostgreSQL 14 or later: a bounded pool of connections, as many threads
 * that wait for them, and one that looks after both. The stores of all event loops share it.
 *
 * <p>Threading: may be used from any thread; no method waits.
 *
 * <p>Failure: see {@link PostgresIdempotencyStore}. That PostgreSQL is away is no reason not to
 * start: it is connected to, and its tables are made, when it is there.
 */
public final class PostgresDatabase implements StoreHealth, AutoCloseable {

  private final Sql sql;
  private final Connections connections;
  private final Lanes lanes;
  private final Watch watch;
  private final Changes changes;
  private final long deadlineMillis;

  private PostgresDatabase(PostgresStoreOptions options) {
    Source source = new Source(options);
    this.sql = new Sql(source.schema());
    this.connections = new Connections(source, options);
    this.lanes = new Lanes(options.pool());
    this.watch = new Watch(source, connections);
    this.changes = new Changes(connections, source.schema());
    this.deadlineMillis = options.deadline().toMillis();
  }

  /**
   * A database that nothing is connected to until the first store is there.
   *
   * @throws IllegalArgumentException if the driver does not understand a parameter
   */
  public static PostgresDatabase of(PostgresStoreOptions options) {
    return new PostgresDatabase(options);
  }

  /** Begins to connect; more than once does nothing. */
  void start() {
    watch.start();
  }

  Sql sql() {
    return sql;
  }

  /** Runs a command behind all that came before it for the same operation. */
  <R> CompletionStage<R> submit(EventLoop loop, int hash, Command<R> command) {
    Work<R> work;
    try {
      work = new Work<>(connections, command, loop, deadlineMillis);
    } catch (RejectedExecutionException e) {
      return CompletableFuture.failedFuture(
          StoreUnavailableException.notExecuted("the event loop has ended"));
    }
    if (connections.reachable()) {
      lanes.execute(hash, work);
    } else {
      work.refuse(connections.unreachable());
    }
    return work.reply();
  }

  Registration watch(EventLoop loop, OperationId id, Runnable changed) {
    return changes.watch(loop, id, changed);
  }

  @Override
  public boolean reachable() {
    return connections.reachable();
  }

  @Override
  public String detail() {
    return connections.detail();
  }

  /** Ends threads and connections, in the background; what is under way may fail. */
  @Override
  public void close() {
    changes.close();
    lanes.close();
    watch.close();
  }
}
