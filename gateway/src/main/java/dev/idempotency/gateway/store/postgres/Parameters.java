package dev.idempotency.gateway.store.postgres;

import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Fills in the parameters of a statement, one after the other. */
final class Parameters {

  /** A thousand years: what the server's times can take, and longer than anybody waits. */
  private static final long MOST_MILLIS = Duration.ofDays(365_250).toMillis();

  private final PreparedStatement statement;
  private int index;

  private Parameters(PreparedStatement statement) {
    this.statement = statement;
  }

  static Parameters of(PreparedStatement statement) {
    return new Parameters(statement);
  }

  Parameters add(long value) throws SQLException {
    statement.setLong(++index, value);
    return this;
  }

  Parameters add(int value) throws SQLException {
    statement.setInt(++index, value);
    return this;
  }

  Parameters add(boolean value) throws SQLException {
    statement.setBoolean(++index, value);
    return this;
  }

  Parameters add(String value) throws SQLException {
    statement.setString(++index, value);
    return this;
  }

  Parameters add(byte @Nullable [] value) throws SQLException {
    statement.setBytes(++index, value);
    return this;
  }

  Parameters add(OperationId id) throws SQLException {
    return add(id.toByteArray());
  }

  Parameters add(AttemptToken token) throws SQLException {
    return add(token.toByteArray());
  }

  Parameters add(Duration time) throws SQLException {
    return add(millis(time));
  }

  /** Operation, attempt, token. */
  Parameters addOwner(Reservation reservation) throws SQLException {
    return add(reservation.id()).add(reservation.attempt()).add(reservation.token());
  }

  /** Owner, fingerprint, note. */
  Parameters addAttempt(Reservation reservation) throws SQLException {
    addOwner(reservation);
    statement.setShort(++index, (short) reservation.fingerprint().version());
    return add(reservation.fingerprint().hash())
        .add(reservation.fingerprint().marks())
        .add(reservation.note().toByteArray());
  }

  /** Status, fields, body; nothing of them where there is no response. */
  Parameters add(int status, @Nullable StoredResponse response) throws SQLException {
    add(status);
    return response == null
        ? add((byte[]) null).add((byte[]) null)
        : add(FieldsFormat.write(response.headers(), response.trailers())).add(response.body());
  }

  static long millis(Duration time) {
    try {
      return Math.max(-MOST_MILLIS, Math.min(MOST_MILLIS, time.toMillis()));
    } catch (ArithmeticException e) {
      return time.isNegative() ? -MOST_MILLIS : MOST_MILLIS;
    }
  }
}
