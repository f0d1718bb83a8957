package dev.idempotency.gateway.store.postgres;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.jdbc.PreferQueryMode;

/** Makes connections whose every statement ends in time. */
final class Source extends PGSimpleDataSource {

  private static final int SHORTEST_CONNECT_SECONDS = 2;

  private final transient PostgresUrl url;
  private final long deadlineMillis;

  Source(PostgresStoreOptions options) {
    this.url = PostgresUrl.parse(options.url());
    this.deadlineMillis = options.deadline().toMillis();
    setUrl("jdbc:postgresql://" + url.hosts() + "/" + encoded(url.database()));
    setUser(first(options.user(), url.user()));
    setPassword(first(options.password(), url.password()));
    int connect = connectSeconds(options.deadline());
    setConnectTimeout(connect);
    setLoginTimeout(connect);
    setSocketTimeout(connect);
    setTcpKeepAlive(true);
    // What takes part in a failover is asked for its part: a standby takes no writes.
    setTargetServerType("primary");
    setGssEncMode("disable");
    setAssumeMinServerVersion("14");
    setApplicationName("idempotency-gateway");
    setPreferQueryMode(PreferQueryMode.EXTENDED);
    url.parameters().forEach(this::set);
  }

  /** The schema of the tables, which needs no quoting. */
  String schema() {
    return url.schema();
  }

  String masked() {
    return url.masked();
  }

  static int connectSeconds(Duration deadline) {
    return (int) Math.max(SHORTEST_CONNECT_SECONDS, deadline.multipliedBy(2).toSeconds());
  }

  private void set(String name, String value) {
    try {
      setProperty(name, value);
    } catch (SQLException e) {
      throw new IllegalArgumentException(
          name + " of the PostgreSQL URL is not understood: " + e.getMessage(), e);
    }
  }

  private static @Nullable String first(@Nullable String one, @Nullable String other) {
    return one != null ? one : other;
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  @Override
  public Connection getConnection() throws SQLException {
    Connection connection = super.getConnection();
    try {
      prepare(connection);
      return connection;
    } catch (SQLException e) {
      try {
        connection.close();
      } catch (SQLException closing) {
        e.addSuppressed(closing);
      }
      throw e;
    }
  }

  private void prepare(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      // By word, as the server's defaults may be others: a reservation that a crash forgets is
      // none. The server itself gives up a little before the client hangs up, so that what waits
      // for a lock is told apart from what is not answered at all.
      boolean unused =
          statement.execute(
              "SET synchronous_commit TO on;"
                  + "SET default_transaction_isolation TO 'read committed';"
                  + "SET statement_timeout TO "
                  + Math.max(1, deadlineMillis - deadlineMillis / 8));
    }
    connection.setNetworkTimeout(Runnable::run, (int) deadlineMillis);
  }
}
