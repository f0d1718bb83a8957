package dev.idempotency.gateway.store.postgres;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The same connections with time for long statements. */
final class Unhurried implements DataSource {

  private static final int MILLIS = 600_000;

  private final Source source;

  Unhurried(Source source) {
    this.source = source;
  }

  @Override
  public Connection getConnection() throws SQLException {
    Connection connection = source.getConnection();
    try (Statement statement = connection.createStatement()) {
      boolean unused = statement.execute("SET statement_timeout TO " + MILLIS);
      connection.setNetworkTimeout(Runnable::run, MILLIS);
      return connection;
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  @Override
  public Connection getConnection(String user, String password) throws SQLException {
    return getConnection();
  }

  @Override
  public @Nullable PrintWriter getLogWriter() {
    return null;
  }

  @Override
  public void setLogWriter(PrintWriter out) {}

  @Override
  public void setLoginTimeout(int seconds) {}

  @Override
  public int getLoginTimeout() throws SQLException {
    return source.getLoginTimeout();
  }

  @Override
  public Logger getParentLogger() throws SQLFeatureNotSupportedException {
    throw new SQLFeatureNotSupportedException();
  }

  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    throw new SQLException("not a wrapper");
  }

  @Override
  public boolean isWrapperFor(Class<?> type) {
    return false;
  }
}
