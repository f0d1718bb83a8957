package dev.idempotency.gateway.store.postgres;

import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;

/** What the failures of PostgreSQL mean, by class of SQLSTATE (appendix A of its manual). */
final class Refusal {

  private Refusal() {}

  /** What became of a command whose statement failed. */
  static StoreUnavailableException ofStatement(SQLException failure) {
    String why = words(failure);
    return isSurelyUndone(failure.getSQLState())
        ? StoreUnavailableException.notExecuted(why)
        : new StoreUnavailableException(why);
  }

  /**
   * Whether the server has said that the statement failed, and so that its transaction is undone.
   * Not so where it or the connection ended meanwhile: the commit may have been before.
   */
  private static boolean isSurelyUndone(@Nullable String state) {
    return state != null
        && state.length() == 5
        && !state.startsWith("08")
        && !state.startsWith("57P")
        && !state.startsWith("58")
        && !state.startsWith("XX")
        && !state.equals("40003");
  }

  /** Whether other commands would fare the same: the store can't be used. */
  static boolean isOfTheStore(SQLException failure) {
    String state = failure.getSQLState();
    if (state == null || state.length() != 5) {
      return true;
    }
    return switch (state.substring(0, 2)) {
      // Connection, login, catalog, schema, table or right is missing.
      case "08", "28", "3D", "3F", "42", "58", "XX" -> true;
      case "53" -> state.equals("53300");
      case "57" -> state.startsWith("57P");
      // A standby.
      case "25" -> true;
      default -> false;
    };
  }

  /** For the log: without details, which may repeat values. */
  static String words(SQLException failure) {
    String message =
        failure instanceof PSQLException said && said.getServerErrorMessage() != null
            ? said.getServerErrorMessage().getMessage()
            : failure.getMessage();
    Throwable cause = failure.getCause();
    String deeper =
        failure instanceof PSQLException || !(cause instanceof SQLException inner)
            ? ""
            : ": " + words(inner);
    return "PostgreSQL: "
        + message
        + (failure.getSQLState() == null ? "" : " (SQLSTATE " + failure.getSQLState() + ")")
        + deeper;
  }
}
