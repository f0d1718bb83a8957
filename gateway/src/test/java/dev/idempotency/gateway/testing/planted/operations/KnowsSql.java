package dev.idempotency.gateway.testing.planted.operations;

import java.sql.Connection;
import org.postgresql.PGConnection;

final class KnowsSql {
  final Connection connection;
  final PGConnection driver;

  KnowsSql(Connection connection, PGConnection driver) {
    this.connection = connection;
    this.driver = driver;
  }
}
