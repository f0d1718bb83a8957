package dev.idempotency.gateway.store.postgres;

import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.Audit;
import dev.idempotency.gateway.idempotency.OpenOperation;
import dev.idempotency.gateway.idempotency.OpenOperations.Entry;
import dev.idempotency.gateway.idempotency.OpenOperations.Page;
import dev.idempotency.gateway.idempotency.OpenOperations.ProbeClaim;
import dev.idempotency.gateway.idempotency.OpenOperations.Query;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.Resolution;
import io.netty.channel.EventLoop;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Finds the operations that are not finished, by the partial index over them. */
final class OpenRows {

  private final PostgresDatabase database;
  private final EventLoop loop;
  private final Sql sql;

  OpenRows(PostgresDatabase database, EventLoop loop) {
    this.database = database;
    this.loop = loop;
    this.sql = database.sql();
  }

  /** The action as the functions know it. */
  static String mark(Resolution.Action action) {
    if (action instanceof Resolution.Complete) {
      return "C";
    }
    if (action instanceof Resolution.Release) {
      return "R";
    }
    return action instanceof Resolution.MarkUnknown ? "U" : "X";
  }

  /** Where a page ends: since when its last operation has been open, and which it is. */
  private record Cursor(long micros, byte[] id) {

    private static final Cursor START = new Cursor(Long.MIN_VALUE / 4_000, new byte[0]);

    static Cursor read(String text) {
      int colon = text.indexOf(':');
      try {
        return colon < 0
            ? START
            : new Cursor(
                Long.parseLong(text.substring(0, colon)),
                HexFormat.of().parseHex(text.substring(colon + 1)));
      } catch (IllegalArgumentException e) {
        return START;
      }
    }
  }

  CompletionStage<Page> list(Query query) {
    Cursor after = Cursor.read(query.cursor());
    return database.submit(loop, query.hashCode(), connection -> page(connection, query, after));
  }

  private Page page(Connection connection, Query query, Cursor after) throws SQLException {
    List<OpenOperation> operations = new ArrayList<>();
    String next = "";
    try (PreparedStatement statement = connection.prepareStatement(sql.list)) {
      Parameters unused =
          Parameters.of(statement)
              .add(query.least().isNegative())
              .add(query.least())
              .add(after.micros())
              .add(after.id())
              .add(query.most() + 1);
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          if (operations.size() == query.most()) {
            return new Page(operations, next);
          }
          operations.add(operation(row));
          next = row.getLong("since") + ":" + HexFormat.of().formatHex(row.getBytes("id"));
        }
      }
    }
    return new Page(operations, "");
  }

  private static OpenOperation operation(ResultSet row) throws SQLException {
    long overdue = Math.max(0, -row.getLong("lease_left"));
    return new OpenOperation(
        OperationId.of(row.getBytes("id")), Seen.operation(row), Duration.ofMillis(overdue));
  }

  CompletionStage<List<Long>> count(List<Duration> ages) {
    Long[] millis = ages.stream().map(Parameters::millis).toArray(Long[]::new);
    return database.submit(
        loop,
        ages.hashCode(),
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(sql.count)) {
            statement.setArray(1, connection.createArrayOf("bigint", millis));
            List<Long> counts = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
              while (row.next()) {
                counts.add(row.getLong(1));
              }
            }
            return counts;
          }
        });
  }

  CompletionStage<ProbeClaim> claimProbe(
      OperationId id,
      long attempt,
      @Nullable AttemptToken holder,
      Duration first,
      Duration longest) {
    return database.submit(
        loop,
        id.hashCode(),
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(sql.claimProbe)) {
            Parameters unused =
                Parameters.of(statement)
                    .add(id)
                    .add(attempt)
                    .add(holder == null ? null : holder.toByteArray())
                    .add(first)
                    .add(longest);
            try (ResultSet row = statement.executeQuery()) {
              return claim(row);
            }
          }
        });
  }

  private static ProbeClaim claim(ResultSet row) throws SQLException {
    if (!row.next()) {
      throw Seen.foreign();
    }
    int before = row.getInt("before");
    return row.wasNull()
        ? new ProbeClaim.Busy(Duration.ofMillis(row.getLong("held")))
        : new ProbeClaim.Claimed(
            AttemptToken.of(row.getBytes("holder")),
            before,
            Duration.ofMillis(row.getLong("overdue")));
  }

  CompletionStage<List<Entry>> history(OperationId id) {
    return database.submit(
        loop,
        id.hashCode(),
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(sql.history)) {
            Parameters unused = Parameters.of(statement).add(id);
            List<Entry> entries = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
              while (row.next()) {
                entries.add(entry(row));
              }
            }
            return entries;
          }
        });
  }

  private static Entry entry(ResultSet row) throws SQLException {
    return new Entry(
        row.getLong("at"),
        String.valueOf(row.getString("what")),
        row.getLong("attempt"),
        new Audit(String.valueOf(row.getString("who")), String.valueOf(row.getString("why"))));
  }
}
