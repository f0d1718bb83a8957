package dev.idempotency.gateway.demo;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.OffsetDateTime;
import java.util.Properties;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Orders in a database, each committed together with the answer that it was given. So a key never
 * has two, a duplicate is answered from the table, and whoever asks by the key is told the truth.
 *
 * <p>Threading: from any thread; stages complete on threads of its own, which wait for the
 * database.
 */
final class OrderTable implements AutoCloseable {

  private static final String TABLE =
      """
      CREATE TABLE IF NOT EXISTS orders (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        idempotency_key text NOT NULL UNIQUE,
        created_at timestamptz NOT NULL DEFAULT now(),
        received integer NOT NULL DEFAULT 0,
        barred integer NOT NULL DEFAULT 0,
        status integer,
        location text,
        response text
      )
      """;

  /** Waits for a transaction that is at the same key, and writes nothing where that has one. */
  private static final String PLACE =
      """
      INSERT INTO orders (idempotency_key, received) VALUES (?, ?)
      ON CONFLICT (idempotency_key) DO UPDATE SET received = excluded.received, created_at = now()
        WHERE orders.response IS NULL AND orders.barred < ?
      RETURNING id, created_at
      """;

  private static final String ANSWER =
      "UPDATE orders SET status = ?, location = ?, response = ? WHERE id = ?";

  /** Waits likewise; from then on the attempts that were asked about come too late. */
  private static final String BAR =
      """
      INSERT INTO orders (idempotency_key, barred) VALUES (?, ?)
      ON CONFLICT (idempotency_key) DO UPDATE SET barred = greatest(orders.barred, excluded.barred)
        WHERE orders.response IS NULL
      """;

  private static final String FIND =
      "SELECT id, status, location, response FROM orders"
          + " WHERE idempotency_key = ? AND response IS NOT NULL";

  private static final int THREADS = 4;
  private static final int MOST_WAITING = 1_024;
  private static final int IDLE_SECONDS = 30;

  private final String url;
  private final Properties login = new Properties();
  private final Queue<Connection> idle = new ConcurrentLinkedQueue<>();
  private final ThreadPoolExecutor threads =
      new ThreadPoolExecutor(
          THREADS,
          THREADS,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new ArrayBlockingQueue<>(MOST_WAITING),
          new DefaultThreadFactory("demo-order-table", true));

  private OrderTable(URI place) {
    this.url = "jdbc:postgresql://" + place.getHost() + port(place) + place.getPath();
    String owner = place.getUserInfo();
    if (owner != null) {
      int colon = owner.indexOf(':');
      login.setProperty("user", colon < 0 ? owner : owner.substring(0, colon));
      login.setProperty("password", colon < 0 ? "" : owner.substring(colon + 1));
    }
    threads.allowCoreThreadTimeOut(true);
  }

  private static String port(URI place) {
    return place.getPort() < 0 ? "" : ":" + place.getPort();
  }

  /** The table, made where it is not there; fails with {@link SQLException}. */
  static CompletionStage<OrderTable> open(URI place) {
    OrderTable table = new OrderTable(place);
    return table.run(
        connection -> {
          try (Statement statement = connection.createStatement()) {
            boolean unused = statement.execute(TABLE);
            return table;
          }
        });
  }

  /**
   * The answer to an order, now or when it was placed.
   *
   * @param order its name
   * @param fresh whether it was placed just now
   */
  record Answer(String order, int status, String location, String body, boolean fresh) {}

  /**
   * Places an order and stores its answer, or neither.
   *
   * @param attempt its number as the gateway counts, from 1 on
   * @return the answer; null where somebody has been told that this attempt never happened
   */
  CompletionStage<Answer> place(String key, int attempt, int received, int status) {
    return run(connection -> place(connection, key, attempt, received, status));
  }

  private static @Nullable Answer place(
      Connection connection, String key, int attempt, int received, int status)
      throws SQLException {
    connection.setAutoCommit(false);
    Answer answer = null;
    try (PreparedStatement insert = connection.prepareStatement(PLACE)) {
      insert.setString(1, key);
      insert.setInt(2, received);
      insert.setInt(3, attempt);
      try (ResultSet row = insert.executeQuery()) {
        if (row.next()) {
          String id = "ord-" + row.getLong("id");
          String at = row.getObject("created_at", OffsetDateTime.class).toInstant().toString();
          String body = new Order(id, at, 1, received).toJson() + '\n';
          answer = new Answer(id, status, "/orders/" + id, body, true);
          store(connection, row.getLong("id"), answer);
        }
      }
    }
    connection.commit();
    connection.setAutoCommit(true);
    return answer != null ? answer : find(connection, key);
  }

  private static void store(Connection connection, long id, Answer answer) throws SQLException {
    try (PreparedStatement update = connection.prepareStatement(ANSWER)) {
      update.setInt(1, answer.status());
      update.setString(2, answer.location());
      update.setString(3, answer.body());
      update.setLong(4, id);
      int unused = update.executeUpdate();
    }
  }

  /**
   * What became of a key. "Nothing" is the last word for the attempts up to {@code attempt}: they
   * place no order any more.
   *
   * @param attempt 0 where it is not known which one is meant
   */
  CompletionStage<Answer> ask(String key, int attempt) {
    return run(
        connection -> {
          try (PreparedStatement bar = connection.prepareStatement(BAR)) {
            bar.setString(1, key);
            bar.setInt(2, attempt);
            int unused = bar.executeUpdate();
          }
          return find(connection, key);
        });
  }

  private static @Nullable Answer find(Connection connection, String key) throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(FIND)) {
      select.setString(1, key);
      try (ResultSet row = select.executeQuery()) {
        return row.next()
            ? new Answer(
                "ord-" + row.getLong("id"),
                row.getInt("status"),
                String.valueOf(row.getString("location")),
                String.valueOf(row.getString("response")),
                false)
            : null;
      }
    }
  }

  /** What is done over one connection. */
  private interface Work<R> {
    @Nullable R over(Connection connection) throws SQLException;
  }

  private <R> CompletionStage<R> run(Work<R> work) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return overConnection(work);
          } catch (SQLException e) {
            throw new CompletionException(e);
          }
        },
        threads);
  }

  /** A connection that failed is not used again. */
  private <R> @Nullable R overConnection(Work<R> work) throws SQLException {
    Connection kept = idle.poll();
    Connection connection = kept != null ? kept : DriverManager.getConnection(url, login);
    boolean done = false;
    try {
      @Nullable R result = work.over(connection);
      done = true;
      return result;
    } finally {
      if (!done || threads.isShutdown() || !idle.offer(connection)) {
        connection.close();
      }
    }
  }

  @Override
  public void close() {
    threads.execute(
        () -> {
          for (Connection one = idle.poll(); one != null; one = idle.poll()) {
            close(one);
          }
        });
    threads.shutdown();
  }

  private static void close(Connection connection) {
    try {
      connection.close();
    } catch (SQLException e) {
      // It is gone in any case.
    }
  }
}
