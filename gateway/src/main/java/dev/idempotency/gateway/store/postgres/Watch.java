package dev.idempotency.gateway.store.postgres;

import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Connects at the start, makes the tables, asks now and then whether PostgreSQL still answers, and
 * removes what has expired; on a thread of its own.
 */
final class Watch {

  private static final long BEAT_MILLIS = 50;
  private static final long FIRST_PAUSE_MILLIS = 50;
  private static final long LONGEST_PAUSE_MILLIS = 1_000;
  private static final long PROBE_MILLIS = 1_000;
  private static final long CLEAN_MILLIS = 10_000;
  private static final int BATCH = 500;
  private static final int MOST_BATCHES = 100;

  private static final List<String> TABLES = List.of("operation", "piece", "probe", "history");

  private final Source source;
  private final Connections connections;
  private final ScheduledThreadPoolExecutor thread =
      new ScheduledThreadPoolExecutor(1, new DefaultThreadFactory("gateway-postgres-watch", true));
  private long pause = FIRST_PAUSE_MILLIS;
  private long nextLook;
  private long nextCleaning;
  private boolean started;

  Watch(Source source, Connections connections) {
    this.source = source;
    this.connections = connections;
  }

  synchronized void start() {
    if (started || thread.isShutdown()) {
      return;
    }
    started = true;
    long now = now();
    nextLook = now;
    // Not all gateways at once.
    nextCleaning = now + ThreadLocalRandom.current().nextLong(CLEAN_MILLIS);
    ScheduledFuture<?> unused =
        thread.scheduleWithFixedDelay(this::beat, 0, BEAT_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** A beat that threw would be the last. */
  private void beat() {
    try {
      look();
    } catch (RuntimeException e) {
      connections.lost("the watch failed: " + e);
    }
  }

  private void look() {
    long now = now();
    boolean lost = !connections.reachable();
    if (lost ? now < nextLook : now < nextLook && now < nextCleaning) {
      return;
    }
    try {
      if (!connections.isStarted()) {
        Schema.prepare(source);
        connections.start();
      }
      boolean unused = connections.runAnyway(this::answers, () -> true);
      connections.found();
      pause = FIRST_PAUSE_MILLIS;
      nextLook = now() + PROBE_MILLIS;
      if (now >= nextCleaning) {
        nextCleaning = now + CLEAN_MILLIS;
        clean();
      }
    } catch (SQLException e) {
      connections.lost(Refusal.words(e));
      postpone();
    } catch (StoreUnavailableException e) {
      postpone();
    }
  }

  private void postpone() {
    nextLook = now() + pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2 + 1);
    pause = Math.min(LONGEST_PAUSE_MILLIS, pause * 2);
  }

  /** Reads the table, so that a missing right is noticed before the first request. */
  private boolean answers(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      return statement.execute("SELECT 1 FROM \"" + source.schema() + "\".operation LIMIT 0");
    }
  }

  /** In small batches, passing over what another gateway or a command is just at. */
  private void clean() {
    for (String table : TABLES) {
      for (int i = 0; i < MOST_BATCHES; i++) {
        if (connections.run(connection -> removeExpired(connection, table), () -> true) < BATCH) {
          break;
        }
      }
    }
  }

  private int removeExpired(Connection connection, String table) throws SQLException {
    String name = "\"" + source.schema() + "\"." + table;
    try (Statement statement = connection.createStatement()) {
      return statement.executeUpdate(
          "DELETE FROM "
              + name
              + " WHERE ctid = ANY(ARRAY(SELECT ctid FROM "
              + name
              + " WHERE expires_at <= now() ORDER BY expires_at LIMIT "
              + BATCH
              + " FOR UPDATE SKIP LOCKED))");
    }
  }

  private static long now() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  /** Ends the connections too, which may take a moment. */
  synchronized void close() {
    if (!thread.isShutdown()) {
      thread.execute(connections::close);
      thread.shutdown();
    }
  }
}
