package dev.idempotency.gateway.store.postgres;

import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ResponsePieces;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import io.netty.channel.EventLoop;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** The pieces of long responses, a row each. */
final class Pieces {

  private final PostgresDatabase database;
  private final EventLoop loop;

  Pieces(PostgresDatabase database, EventLoop loop) {
    this.database = database;
    this.loop = loop;
  }

  @SuppressWarnings("NullAway") // a stage of nothing
  CompletionStage<Void> put(Reservation reservation, int index, byte[] bytes) {
    Duration life = reservation.lease().plus(reservation.retention()).plus(ResponsePieces.MARGIN);
    return database
        .submit(
            loop,
            reservation.id().hashCode(),
            connection -> {
              try (PreparedStatement statement =
                  connection.prepareStatement(database.sql().putPiece)) {
                Parameters unused =
                    Parameters.of(statement)
                        .add(reservation.id())
                        .add(reservation.token())
                        .add(index)
                        .add(bytes)
                        .add(life);
                return statement.executeUpdate();
              }
            })
        .thenApply(rows -> null);
  }

  @SuppressWarnings("NullAway") // a stage of nothing
  CompletionStage<Void> drop(Reservation reservation, int count) {
    return database
        .submit(
            loop,
            reservation.id().hashCode(),
            connection -> {
              try (PreparedStatement statement =
                  connection.prepareStatement(database.sql().dropPieces)) {
                Parameters unused =
                    Parameters.of(statement)
                        .add(reservation.id())
                        .add(reservation.token())
                        .add(count);
                return statement.executeUpdate();
              }
            })
        .thenApply(rows -> null);
  }

  CompletionStage<byte[]> get(OperationId id, AttemptToken token, int index) {
    return database.submit(
        loop,
        id.hashCode(),
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(database.sql().getPiece)) {
            Parameters unused = Parameters.of(statement).add(id).add(token).add(index);
            try (ResultSet row = statement.executeQuery()) {
              if (!row.next()) {
                throw StoreUnavailableException.unreadable(
                    "piece " + index + " of the response is not in PostgreSQL");
              }
              return row.getBytes(1);
            }
          }
        });
  }
}
