package dev.idempotency.gateway.store.postgres;

import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.SettlementNotices.Registration;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Tells when watched records change: one question for all of a gateway, every so often while there
 * is anything to watch. NOTIFY would be quicker, but its transactions commit one after the other,
 * which every settlement would pay for.
 */
final class Changes {

  private static final long PAUSE_MILLIS = 20;
  private static final int MOST_AT_ONCE = 1_000;
  private static final String GONE = "";

  private final Connections connections;
  private final String question;
  private final ScheduledThreadPoolExecutor thread =
      new ScheduledThreadPoolExecutor(
          1, new DefaultThreadFactory("gateway-postgres-changes", true));
  private final Map<OperationId, Watched> watched = new HashMap<>();
  private boolean polling;

  Changes(Connections connections, String schema) {
    this.connections = connections;
    this.question =
        "SELECT id, state::text || ':' || attempt AS stand FROM \""
            + schema
            + "\".operation WHERE id = ANY(?)";
  }

  /** An operation that somebody watches. */
  private static final class Watched {
    final Set<Watcher> watchers = new HashSet<>();

    /** How it stood last; null before the first look. */
    @Nullable String stand;
  }

  /** Calls back on a loop, until it is ended there. */
  private static final class Watcher implements Runnable {
    private final EventLoop loop;
    private final Runnable changed;
    private volatile boolean ended;

    Watcher(EventLoop loop, Runnable changed) {
      this.loop = loop;
      this.changed = changed;
    }

    void tell() {
      try {
        loop.execute(this);
      } catch (RejectedExecutionException e) {
        // The loop has ended, and who waited there with it.
      }
    }

    @Override
    public void run() {
      if (!ended) {
        changed.run();
      }
    }
  }

  synchronized Registration watch(EventLoop loop, OperationId id, Runnable changed) {
    Watcher watcher = new Watcher(loop, changed);
    Watched operation = watched.computeIfAbsent(id, none -> new Watched());
    operation.watchers.add(watcher);
    if (operation.stand != null) {
      // It is being watched already, so that the first word may be now.
      watcher.tell();
    }
    if (!polling) {
      polling = true;
      schedule(0);
    }
    return () -> end(id, watcher);
  }

  private synchronized void end(OperationId id, Watcher watcher) {
    watcher.ended = true;
    Watched operation = watched.get(id);
    if (operation != null && operation.watchers.remove(watcher) && operation.watchers.isEmpty()) {
      watched.remove(id);
    }
  }

  private void schedule(long millis) {
    try {
      ScheduledFuture<?> unused = thread.schedule(this::poll, millis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // Closed: notices may be lost.
    }
  }

  private void poll() {
    List<OperationId> asked = asked();
    if (asked.isEmpty()) {
      return;
    }
    try {
      for (int i = 0; i < asked.size(); i += MOST_AT_ONCE) {
        List<OperationId> some = asked.subList(i, Math.min(asked.size(), i + MOST_AT_ONCE));
        note(some, connections.run(connection -> stands(connection, some), () -> true));
      }
    } catch (StoreUnavailableException e) {
      // Whoever waits looks for himself now and then.
    }
    schedule(PAUSE_MILLIS);
  }

  private synchronized List<OperationId> asked() {
    if (watched.isEmpty()) {
      polling = false;
    }
    return new ArrayList<>(watched.keySet());
  }

  private Map<OperationId, String> stands(Connection connection, List<OperationId> ids)
      throws SQLException {
    Map<OperationId, String> stands = new HashMap<>();
    Array names =
        connection.createArrayOf(
            "bytea", ids.stream().map(OperationId::toByteArray).toArray(byte[][]::new));
    try (PreparedStatement statement = connection.prepareStatement(question)) {
      statement.setArray(1, names);
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          stands.put(OperationId.of(row.getBytes("id")), row.getString("stand"));
        }
      }
    }
    return stands;
  }

  private synchronized void note(List<OperationId> asked, Map<OperationId, String> stands) {
    for (OperationId id : asked) {
      Watched operation = watched.get(id);
      String stand = stands.getOrDefault(id, GONE);
      if (operation != null && !stand.equals(operation.stand)) {
        operation.stand = stand;
        operation.watchers.forEach(Watcher::tell);
      }
    }
  }

  void close() {
    thread.shutdownNow();
  }
}
