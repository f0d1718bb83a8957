package dev.idempotency.gateway.store.postgres;

import java.sql.Connection;
import java.sql.SQLException;

/** What is done over one connection; may run on any thread but an event loop. */
@FunctionalInterface
interface Command<R> {
  R run(Connection connection) throws SQLException;
}
