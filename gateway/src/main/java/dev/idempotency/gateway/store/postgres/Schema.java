package dev.idempotency.gateway.store.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;

/**
 * Makes the tables and functions where they are not there yet, or are of an earlier version. Where
 * they are, nothing is needed but the right to use them: an account without rights to create will
 * do.
 */
final class Schema {

  private static final String LAYOUT = "layout_1";

  /** No such schema, no such function. */
  private static final Set<String> MISSING = Set.of("3F000", "42883");

  private Schema() {}

  /** Waits for the database, as long as that takes. */
  static void prepare(Source source) throws SQLException {
    if (isThere(source)) {
      return;
    }
    try {
      // Its lock in the database lets one gateway at a time do the work; the next finds it done.
      var unused =
          Flyway.configure(Schema.class.getClassLoader())
              .dataSource(new Unhurried(source))
              .schemas(source.schema())
              .defaultSchema(source.schema())
              .locations("classpath:dev/idempotency/gateway/store/postgres")
              .load()
              .migrate();
    } catch (FlywayException e) {
      if (!isThere(source)) {
        throw new SQLException(
            "the tables in schema "
                + source.schema()
                + " could not be made (an account that may create them, or they themselves, are"
                + " needed): "
                + firstLine(e),
            e);
      }
    }
  }

  private static boolean isThere(Source source) throws SQLException {
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT \"" + source.schema() + "\"." + LAYOUT + "()")) {
      return row.next();
    } catch (SQLException e) {
      if (MISSING.contains(String.valueOf(e.getSQLState()))) {
        return false;
      }
      throw e;
    }
  }

  private static String firstLine(FlywayException e) {
    Throwable cause = e;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return String.valueOf(cause.getMessage()).lines().findFirst().orElse("");
  }
}
