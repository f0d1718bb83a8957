package dev.idempotency.gateway.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.WriteReply;
import dev.idempotency.gateway.store.Fixtures;
import dev.idempotency.gateway.store.RuleModel;
import dev.idempotency.gateway.store.StoreContractTest;
import dev.idempotency.gateway.testing.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class PostgresIdempotencyStoreTest extends StoreContractTest {

  private static Connection connection;
  private static LoopDatabase owner;

  @BeforeAll
  static void connect() throws SQLException {
    PostgresServer server = PostgresServer.shared();
    connection = server.connect();
    owner =
        LoopDatabase.connected(
            PostgresStoreOptions.of(server.urlOfOwnSchema()).withDeadline(Duration.ofSeconds(10)));
  }

  @AfterAll
  static void disconnect() throws SQLException {
    owner.close();
    connection.close();
  }

  @Override
  protected OperationStore store() {
    return owner.store();
  }

  @Override
  protected void elapse(Duration time) {
    long until = serverMillis() + time.toMillis() + 1;
    Awaitility.await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2))
        .until(() -> serverMillis() >= until);
  }

  private static long serverMillis() {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)")) {
      row.next();
      return row.getLong(1);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void randomCommandsGiveTheRepliesOfTheRules() {
    new RuleModel(store(), this::elapse, System.nanoTime()).run(600);
  }

  /** A renewal that came after the release would write the record again, and block the key. */
  @Test
  void releaseBehindARenewalLeavesNothing() {
    for (int i = 0; i < 200; i++) {
      Reservation reservation = Fixtures.reservation();
      Fixtures.await(store().reserve(reservation));
      CompletionStage<WriteReply> renewed = store().renew(reservation);
      CompletionStage<WriteReply> released = store().release(reservation);
      assertThat(Fixtures.await(renewed)).isEqualTo(WriteReply.DONE);
      assertThat(Fixtures.await(released)).isEqualTo(WriteReply.DONE);
      assertThat(Fixtures.await(store().find(reservation.id()))).isEmpty();
    }
  }
}
