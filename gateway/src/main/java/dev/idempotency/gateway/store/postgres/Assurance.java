package dev.idempotency.gateway.store.postgres;

import dev.idempotency.gateway.idempotency.Durability;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Sees to it that a commit means what a route asks for. With {@code synchronous_commit=on}, which
 * each connection sets, a commit is on disk, and on that of as many standbys as {@code
 * synchronous_standby_names} says; so it is enough that the server is set up like that.
 */
final class Assurance {

  private static final String SETTINGS =
      "SELECT current_setting('fsync'), current_setting('synchronous_standby_names')";

  private static final Pattern COUNTED =
      Pattern.compile("\\s*(?:(?:FIRST|ANY)\\s+)?(\\d+)\\s*\\(.*", Pattern.CASE_INSENSITIVE);

  private Assurance() {}

  /**
   * Checks before a write that the server can give what is asked.
   *
   * @throws StoreUnavailableException if it can't, and so the write must not be
   */
  static void require(Connection connection, Durability durability) throws SQLException {
    if (durability.isNone()) {
      return;
    }
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(SETTINGS)) {
      boolean unused = row.next();
      if (!"on".equals(row.getString(1))) {
        throw StoreUnavailableException.notExecuted(
            "PostgreSQL runs with fsync off (expected: on): no write is durable");
      }
      int standbys = standbys(String.valueOf(row.getString(2)));
      if (standbys < durability.replicas()) {
        throw StoreUnavailableException.notExecuted(
            "PostgreSQL waits for "
                + standbys
                + " standbys at a commit (expected: "
                + durability.replicas()
                + "; set synchronous_standby_names)");
      }
    }
  }

  /** How many standbys a commit waits for. */
  static int standbys(String names) {
    if (names.isBlank()) {
      return 0;
    }
    Matcher counted = COUNTED.matcher(names);
    return counted.matches() ? Integer.parseInt(counted.group(1)) : 1;
  }

  /**
   * Whether the server gave up waiting for a standby, as it does when somebody cancels it: the
   * write is there, and perhaps only there.
   */
  static boolean isCutShort(Statement statement) throws SQLException {
    for (SQLWarning warning = statement.getWarnings();
        warning != null;
        warning = warning.getNextWarning()) {
      if ("01000".equals(warning.getSQLState())) {
        return true;
      }
    }
    return false;
  }
}
