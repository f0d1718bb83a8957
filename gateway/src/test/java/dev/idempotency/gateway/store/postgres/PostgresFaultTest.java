package dev.idempotency.gateway.store.postgres;

import static dev.idempotency.gateway.store.Fixtures.await;
import static dev.idempotency.gateway.store.Fixtures.reservation;
import static dev.idempotency.gateway.store.Fixtures.response;
import static dev.idempotency.gateway.store.Fixtures.rival;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.idempotency.gateway.idempotency.Durability;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.WriteReply;
import dev.idempotency.gateway.testing.FaultProxy;
import dev.idempotency.gateway.testing.PostgresServer;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class PostgresFaultTest {

  private static final Duration SHORT = Duration.ofMillis(400);
  private static final Duration LONG = Duration.ofSeconds(20);

  private static PostgresServer server;

  private final String schema = PostgresServer.ownSchema();
  private final FaultProxy proxy = FaultProxy.to(server.host(), server.port());
  private final Deque<LoopDatabase> stores = new ArrayDeque<>();

  @BeforeAll
  static void start() {
    server = PostgresServer.start(Map.of());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @AfterEach
  void end() {
    server.resume();
    stores.forEach(LoopDatabase::close);
    proxy.close();
  }

  private PostgresStoreOptions options(int port) {
    return PostgresStoreOptions.of(
        "postgresql://postgres@127.0.0.1:" + port + "/postgres?schema=" + schema);
  }

  private PostgresIdempotencyStore connected(Duration deadline) {
    stores.add(LoopDatabase.connected(options(proxy.port()).withDeadline(deadline)));
    return stores.getLast().store();
  }

  private static StoreUnavailableException failure(CompletionStage<?> stage, String... words) {
    StoreUnavailableException failure =
        catchThrowableOfType(StoreUnavailableException.class, () -> await(stage));
    assertThat(failure).isNotNull();
    for (String word : words) {
      assertThat(failure).hasMessageContaining(word);
    }
    return failure;
  }

  private boolean hasRecord(Reservation reservation) {
    return !server
        .sql("SELECT 1 FROM " + schema + ".operation WHERE id = '\\x" + reservation.id() + "'")
        .isEmpty();
  }

  private void awaitAcquired(PostgresIdempotencyStore store, Reservation reservation) {
    Awaitility.await()
        .ignoreExceptions()
        .until(() -> await(store.reserve(reservation)).equals(ReserveReply.ACQUIRED));
  }

  @Test
  void reservationWhoseReplyWasLostIsInDoubtAndItsOwnerKnowsIt() {
    PostgresIdempotencyStore store = connected(LONG);
    Reservation reservation = reservation();
    await(store.find(reservation.id()));
    proxy.swallowNextReply();
    StoreUnavailableException failure = failure(store.reserve(reservation));
    assertThat(failure.isSurelyNotExecuted()).isFalse();
    assertThat(hasRecord(reservation)).isTrue();
    stores.getLast().awaitReachable();
    assertThat(await(store.reserve(reservation))).isEqualTo(ReserveReply.ACQUIRED);
    assertThat(await(store.reserve(rival(reservation)))).isInstanceOf(ReserveReply.Existing.class);
  }

  @Test
  void completionWhoseReplyWasLostIsDoneOnce() {
    PostgresIdempotencyStore store = connected(LONG);
    Reservation reservation = reservation();
    await(store.reserve(reservation));
    proxy.swallowNextReply();
    Settlement completed = new Settlement.Completed(response("done"));
    failure(store.settle(reservation, completed));
    stores.getLast().awaitReachable();
    assertThat(await(store.settle(reservation, completed))).isEqualTo(WriteReply.DONE);
  }

  @Test
  void cutConnectionFailsItsCommandsAndTheNextOneServes() {
    PostgresIdempotencyStore store = connected(LONG);
    server.pause();
    List<CompletableFuture<ReserveReply>> replies = new ArrayList<>();
    long before = proxy.sent();
    replies.add(store.reserve(reservation()).toCompletableFuture());
    Awaitility.await().until(() -> proxy.sent() > before);
    for (int i = 1; i < 20; i++) {
      replies.add(store.reserve(reservation()).toCompletableFuture());
    }
    proxy.resetAll();
    server.resume();
    List<Throwable> failures = new ArrayList<>();
    for (CompletableFuture<ReserveReply> reply : replies) {
      failures.add(reply.handle((acquired, failure) -> failure).join());
    }
    // What was still to be sent may have found the next connection.
    assertThat(failures.subList(0, 1)).doesNotContainNull();
    assertThat(failures)
        .allSatisfy(
            failure ->
                assertThat(failure)
                    .satisfiesAnyOf(
                        it -> assertThat(it).isNull(),
                        it -> assertThat(it).isInstanceOf(StoreUnavailableException.class)));
    stores.getLast().awaitReachable();
    awaitAcquired(store, reservation());
  }

  @Test
  void databaseThatIsAwayAtTheStartComesByItself() {
    proxy.refuse();
    stores.add(LoopDatabase.started(options(proxy.port()).withDeadline(SHORT)));
    Awaitility.await().until(() -> stores.getLast().store().detail().contains("refused"));
    StoreUnavailableException failure =
        failure(stores.getLast().store().reserve(reservation()), "cannot be reached");
    assertThat(failure.isSurelyNotExecuted()).isTrue();
    proxy.pass();
    stores.getLast().awaitReachable();
    awaitAcquired(stores.getLast().store(), reservation());
  }

  @Test
  void stoppedDatabaseFailsCommandsAndComesBackWithItsRecords() {
    PostgresIdempotencyStore store = connected(SHORT);
    Reservation before = reservation();
    awaitAcquired(store, before);
    server.stop();
    stores.getLast().awaitUnreachable();
    failure(store.reserve(reservation()), "PostgreSQL");
    server.restart();
    stores.getLast().awaitReachable();
    Awaitility.await()
        .ignoreExceptions()
        .until(() -> await(store.reserve(rival(before))) instanceof ReserveReply.Existing);
  }

  @Test
  void frozenDatabaseFailsCommandsWithinTheDeadlineThenAtOnceAndComesBack() {
    PostgresIdempotencyStore store = connected(SHORT);
    await(store.find(reservation().id()));
    server.pause();
    StoreUnavailableException failure = failure(store.reserve(reservation()), "did not answer");
    assertThat(failure.isSurelyNotExecuted()).isFalse();
    stores.getLast().awaitUnreachable();
    CompletableFuture<ReserveReply> refused = store.reserve(reservation()).toCompletableFuture();
    assertThat(refused).isCompletedExceptionally();
    server.resume();
    stores.getLast().awaitReachable();
    awaitAcquired(store, reservation());
  }

  @Test
  void commandThatFailedInABlackHoleIsNotSentLater() {
    PostgresIdempotencyStore store = connected(SHORT);
    await(store.find(reservation().id()));
    proxy.blackHole();
    Reservation failed = reservation();
    failure(store.reserve(failed));
    stores.getLast().awaitUnreachable();
    proxy.pass();
    stores.getLast().awaitReachable();
    awaitAcquired(store, reservation());
    assertThat(hasRecord(failed)).isFalse();
  }

  @Test
  void lockedRowFailsItsCommandAndLeavesTheStoreReachable() throws Exception {
    PostgresIdempotencyStore store = connected(Duration.ofSeconds(1));
    Reservation owner = reservation();
    awaitAcquired(store, owner);
    try (Connection other = server.connect();
        Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      statement.execute("SELECT 1 FROM " + schema + ".operation FOR UPDATE");
      StoreUnavailableException failure =
          failure(store.settle(owner, new Settlement.NotKept(200)), "57014");
      assertThat(failure.isSurelyNotExecuted()).isTrue();
      assertThat(store.reachable()).isTrue();
      assertThat(await(store.reserve(reservation()))).isEqualTo(ReserveReply.ACQUIRED);
    }
    assertThat(await(store.settle(owner, new Settlement.NotKept(200)))).isEqualTo(WriteReply.DONE);
  }

  @Test
  void tooManyCommandsUnderWayAreRefusedAtOnce() {
    PostgresIdempotencyStore store = connected(LONG);
    Reservation reservation = reservation();
    await(store.find(reservation.id()));
    server.pause();
    List<CompletableFuture<ReserveReply>> waiting = new ArrayList<>();
    for (int i = 0; i <= Lanes.LONGEST; i++) {
      waiting.add(store.reserve(reservation).toCompletableFuture());
    }
    StoreUnavailableException failure = failure(store.reserve(reservation), "too slow");
    assertThat(failure.isSurelyNotExecuted()).isTrue();
    server.resume();
    assertThat(waiting)
        .filteredOn(reply -> !reply.isCompletedExceptionally())
        .hasSizeGreaterThanOrEqualTo(Lanes.LONGEST)
        .allSatisfy(reply -> assertThat(await(reply)).isEqualTo(ReserveReply.ACQUIRED));
  }

  @Test
  void accountWithoutARightSaysSo() {
    connected(LONG);
    server.sql("CREATE ROLE poor_" + schema + " LOGIN");
    stores.add(LoopDatabase.started(options(server.port()).withLogin("poor_" + schema, null)));
    Awaitility.await().until(() -> stores.getLast().store().detail().contains("permission denied"));
    assertThat(stores.getLast().store().reachable()).isFalse();
    server.sql(
        "GRANT USAGE ON SCHEMA %1$s TO poor_%1$s; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %1$s TO poor_%1$s"
            .formatted(schema));
    stores.getLast().awaitReachable();
    assertThat(await(stores.getLast().store().reserve(reservation())))
        .isEqualTo(ReserveReply.ACQUIRED);
  }

  @Test
  void gatewaysThatStartAtOnceMakeTheTablesTogether() {
    for (int i = 0; i < 4; i++) {
      stores.add(LoopDatabase.started(options(server.port()).withDeadline(LONG)));
    }
    stores.forEach(LoopDatabase::awaitReachable);
    Reservation reservation = reservation();
    List<ReserveReply> replies =
        stores.stream().map(store -> await(store.store().reserve(rival(reservation)))).toList();
    assertThat(replies).filteredOn(ReserveReply.ACQUIRED::equals).hasSize(1);
  }

  @Test
  void reservationThatNoStandbyCanHaveIsNotMade() {
    PostgresIdempotencyStore store = connected(LONG);
    Reservation reservation = reservation().with(Durability.replicas(1, true));
    StoreUnavailableException failure =
        failure(store.reserve(reservation), "0 standbys", "synchronous_standby_names");
    assertThat(failure.isSurelyNotExecuted()).isTrue();
    assertThat(hasRecord(reservation)).isFalse();
    assertThat(await(store.reserve(reservation.with(Durability.disk(true)))))
        .isEqualTo(ReserveReply.ACQUIRED);
    failure(store.settle(reservation, new Settlement.NotKept(200)), "0 standbys");
  }

  @Test
  void reservationThatNoStandbyHasYetIsInDoubt() {
    PostgresIdempotencyStore store = connected(Duration.ofSeconds(1));
    Reservation reservation = reservation().with(Durability.replicas(1, false));
    server.sql("ALTER SYSTEM SET synchronous_standby_names TO 'ANY 1 (nobody)'");
    server.sql("SELECT pg_reload_conf()");
    try {
      Awaitility.await()
          .until(
              () -> server.sql("SHOW synchronous_standby_names").get(0).equals("ANY 1 (nobody)"));
      StoreUnavailableException failure = failure(store.reserve(reservation));
      assertThat(failure.isSurelyNotExecuted()).isFalse();
    } finally {
      server.sql("ALTER SYSTEM RESET synchronous_standby_names");
      server.sql("SELECT pg_reload_conf()");
    }
    stores.getLast().awaitReachable();
  }

  @Test
  void waitForAStandbyThatSomebodyCancelsIsNoSuccess() throws Exception {
    PostgresIdempotencyStore store = connected(LONG);
    Reservation reservation = reservation().with(Durability.replicas(1, false));
    server.sql("ALTER SYSTEM SET synchronous_standby_names TO 'ANY 1 (nobody)'");
    server.sql("SELECT pg_reload_conf()");
    try {
      Awaitility.await()
          .until(
              () -> server.sql("SHOW synchronous_standby_names").get(0).equals("ANY 1 (nobody)"));
      CompletionStage<ReserveReply> reply = store.reserve(reservation);
      Awaitility.await()
          .until(
              () ->
                  !server
                      .sql(
                          "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event ="
                              + " 'SyncRep'")
                      .isEmpty());
      assertThat(failure(reply, "standbys").isSurelyNotExecuted()).isFalse();
    } finally {
      server.sql("ALTER SYSTEM RESET synchronous_standby_names");
      server.sql("SELECT pg_reload_conf()");
    }
  }

  @Test
  void closedStoreRefuses() {
    PostgresIdempotencyStore store = connected(LONG);
    stores.getLast().database().close();
    Awaitility.await().until(() -> !store.reachable());
    failure(store.reserve(reservation()), "closed");
    Awaitility.await().until(() -> proxy.open() == 0);
  }
}
