package dev.idempotency.gateway.store.postgres;

import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.Durability;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoreHealth;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.StoredResponse;
import dev.idempotency.gateway.idempotency.WriteReply;
import io.netty.channel.EventLoop;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Keeps records in PostgreSQL: one row per operation, judged by the server's clock, changed by the
 * functions of the migrations only. Each command is one statement and one round trip.
 *
 * <h2>Threading</h2>
 *
 * <p>A store belongs to one event loop: its commands are called there, and their stages complete
 * there. Threads of the {@link PostgresDatabase} wait for the server. Health may be asked from any
 * thread.
 *
 * <h2>Failure</h2>
 *
 * <p>Each stage ends within the deadline. While PostgreSQL cannot be reached or does not answer,
 * commands fail at once; the connections come back by themselves. What the server has refused was
 * surely not executed; what got no answer may have been.
 */
public final class PostgresIdempotencyStore implements OperationStore, StoreHealth {

  private final PostgresDatabase database;
  private final EventLoop loop;
  private final Sql sql;
  private final OpenRows open;
  private final Pieces pieces;

  private PostgresIdempotencyStore(PostgresDatabase database, EventLoop loop) {
    this.database = database;
    this.loop = loop;
    this.sql = database.sql();
    this.open = new OpenRows(database, loop);
    this.pieces = new Pieces(database, loop);
  }

  /** The store of that loop; with the first of them, the database is connected to. */
  public static PostgresIdempotencyStore on(PostgresDatabase database, EventLoop loop) {
    database.start();
    return new PostgresIdempotencyStore(database, loop);
  }

  @Override
  public boolean reachable() {
    return database.reachable();
  }

  @Override
  public String detail() {
    return database.detail();
  }

  @Override
  public CompletionStage<ReserveReply> reserve(Reservation reservation) {
    return attempt(sql.reserve, reservation, Seen::reserve);
  }

  @Override
  public CompletionStage<ReserveReply> takeOver(Reservation reservation) {
    AttemptToken seen = reservation.follows();
    return send(
        reservation.id(),
        sql.takeOver,
        reservation.durability(),
        to ->
            to.addAttempt(reservation)
                .add(reservation.lease())
                .add(reservation.retention())
                .add(seen == null ? null : seen.toByteArray()),
        Seen::reserve);
  }

  @Override
  public CompletionStage<WriteReply> renew(Reservation reservation) {
    return attempt(sql.renew, reservation, Seen::write);
  }

  private <R> CompletionStage<R> attempt(String text, Reservation reservation, Reader<R> reader) {
    return send(
        reservation.id(),
        text,
        reservation.durability(),
        to -> to.addAttempt(reservation).add(reservation.lease()).add(reservation.retention()),
        reader);
  }

  @Override
  public CompletionStage<WriteReply> settle(Reservation reservation, Settlement settlement) {
    Durability wanted = reservation.durability();
    StoredResponse response =
        settlement instanceof Settlement.Completed completed ? completed.response() : null;
    return send(
        reservation.id(),
        sql.settle,
        wanted.completions() ? wanted : Durability.NONE,
        to ->
            to.addAttempt(reservation)
                .add(reservation.retention())
                .add(state(settlement))
                .add(status(settlement), response),
        Seen::write);
  }

  private static String state(Settlement settlement) {
    if (settlement instanceof Settlement.Completed) {
      return "C";
    }
    return settlement instanceof Settlement.NotKept ? "N" : "U";
  }

  private static int status(Settlement settlement) {
    if (settlement instanceof Settlement.Completed completed) {
      return completed.response().status();
    }
    return settlement instanceof Settlement.NotKept notKept ? notKept.status() : 0;
  }

  @Override
  public CompletionStage<WriteReply> release(Reservation reservation) {
    return send(
        reservation.id(),
        sql.release,
        Durability.NONE,
        to -> to.addOwner(reservation),
        Seen::write);
  }

  @Override
  public CompletionStage<Optional<StoredOperation>> find(OperationId id) {
    return send(id, sql.find, Durability.NONE, to -> to.add(id), Seen::find);
  }

  @Override
  public CompletionStage<ResolveReply> resolve(Resolution resolution) {
    Resolution.Action action = resolution.action();
    StoredResponse response =
        action instanceof Resolution.Complete complete ? complete.response() : null;
    AttemptToken holder = resolution.holder();
    return send(
        resolution.id(),
        sql.resolve,
        Durability.NONE,
        to ->
            to.add(resolution.id())
                .add(resolution.attempt())
                .add(holder == null ? null : holder.toByteArray())
                .add(resolution.token())
                .add(OpenRows.mark(action))
                .add(resolution.retention())
                .add(action.word())
                .add(resolution.audit().who())
                .add(resolution.audit().why())
                .add(response == null ? 0 : response.status(), response),
        Seen::resolve);
  }

  private <R> CompletionStage<R> send(
      OperationId id, String text, Durability wanted, Filling filling, Reader<R> reader) {
    return database.submit(
        loop,
        id.hashCode(),
        connection -> {
          Assurance.require(connection, wanted);
          try (PreparedStatement statement = connection.prepareStatement(text)) {
            Parameters unused = filling.fill(Parameters.of(statement));
            return read(statement, wanted, reader);
          }
        });
  }

  private static <R> R read(PreparedStatement statement, Durability wanted, Reader<R> reader)
      throws SQLException {
    try (ResultSet row = statement.executeQuery()) {
      if (!wanted.isNone() && Assurance.isCutShort(statement)) {
        throw new StoreUnavailableException("PostgreSQL stopped waiting for its standbys");
      }
      return reader.read(row);
    }
  }

  /** Fills in the parameters of a statement. */
  private interface Filling {
    @Nullable Parameters fill(Parameters to) throws SQLException;
  }

  /** Reads the answer from its rows. */
  private interface Reader<R> {
    R read(ResultSet row) throws SQLException;
  }

  @Override
  public CompletionStage<Page> list(Query query) {
    return open.list(query);
  }

  @Override
  public CompletionStage<List<Long>> count(List<Duration> ages) {
    return open.count(ages);
  }

  @Override
  public CompletionStage<ProbeClaim> claimProbe(
      OperationId id,
      long attempt,
      @Nullable AttemptToken holder,
      Duration first,
      Duration longest) {
    return open.claimProbe(id, attempt, holder, first, longest);
  }

  @Override
  public CompletionStage<List<Entry>> history(OperationId id) {
    return open.history(id);
  }

  @Override
  public Registration watch(OperationId id, Runnable changed) {
    return database.watch(loop, id, changed);
  }

  @Override
  public CompletionStage<Void> put(Reservation reservation, int index, byte[] bytes) {
    return pieces.put(reservation, index, bytes);
  }

  @Override
  public CompletionStage<byte[]> get(OperationId id, AttemptToken token, int index) {
    return pieces.get(id, token, index);
  }

  @Override
  public CompletionStage<Void> drop(Reservation reservation, int count) {
    return pieces.drop(reservation, count);
  }
}
