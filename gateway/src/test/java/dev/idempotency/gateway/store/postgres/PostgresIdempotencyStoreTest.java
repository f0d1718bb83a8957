package dev.idempotency.gateway.store.postgres;

import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.store.RuleModel;
import dev.idempotency.gateway.store.StoreContractTest;
import dev.idempotency.gateway.testing.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
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
}
