package dev.idempotency.gateway.store.redis;

import static dev.idempotency.gateway.store.Fixtures.await;
import static dev.idempotency.gateway.store.Fixtures.reservation;
import static dev.idempotency.gateway.store.Fixtures.response;
import static dev.idempotency.gateway.store.Fixtures.rival;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.gateway.idempotency.Durability;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.WriteReply;
import dev.idempotency.gateway.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Writes that count only when a replica has them. */
class RedisDurabilityTest {

  private static final Durability ONE = Durability.replicas(1, false);
  private static final Duration DEADLINE = Duration.ofMillis(800);

  private static RedisServer primary;
  private static RedisServer replica;

  private LoopStore owner;

  @BeforeAll
  static void start() {
    primary = RedisServer.start("--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0");
    replica = RedisServer.start("--replicaof", "127.0.0.1", Integer.toString(primary.port()));
  }

  @AfterAll
  static void stop() {
    replica.close();
    primary.close();
  }

  @BeforeEach
  void connect() {
    replica.call("REPLICAOF", "127.0.0.1", Integer.toString(primary.port()));
    awaitInStep();
    owner =
        LoopStore.connected(
            LoopStore.options(primary.port()).withDeadline(DEADLINE),
            new RedisDemands(Set.of(ONE), false, Duration.ZERO));
  }

  @AfterEach
  void close() {
    replica.resume();
    owner.close();
  }

  private static void awaitInStep() {
    String mark = Long.toString(System.nanoTime());
    primary.call("SET", "mark", mark);
    Awaitility.await().ignoreExceptions().until(() -> mark.equals(replica.call("GET", "mark")));
    // It has the data before it has said so, and only who said so is asked.
    Awaitility.await().until(() -> primary.call("INFO", "replication").contains("state=online"));
  }

  private RedisIdempotencyStore store() {
    return owner.store();
  }

  private static Reservation durable() {
    return reservation().with(ONE);
  }

  private static boolean has(RedisServer server, Reservation reservation) {
    return server.call("EXISTS", "idem:" + reservation.id()).equals("1");
  }

  private static void assertMissed(CompletionStage<?> stage) {
    assertThatThrownBy(() -> await(stage))
        .isInstanceOfSatisfying(
            StoreUnavailableException.class,
            e -> assertThat(e.isSurelyNotExecuted()).as("surely not executed").isFalse())
        .hasMessageContaining("did not reach 1 replica within 320 ms (0 had it)");
  }

  @Test
  void reservationThatAReplicaHasIsAcquired() {
    for (int i = 0; i < 20; i++) {
      Reservation reservation = durable();
      assertThat(await(store().reserve(reservation))).isEqualTo(ReserveReply.ACQUIRED);
      assertThat(has(replica, reservation)).as("on the replica").isTrue();
    }
  }

  @Test
  void manyReservationsShareFewQuestions() {
    long before = waits();
    List<CompletableFuture<ReserveReply>> replies = new ArrayList<>();
    List<Reservation> all = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      all.add(durable());
    }
    owner
        .loop()
        .submit(() -> all.forEach(one -> replies.add(store().reserve(one).toCompletableFuture())))
        .syncUninterruptibly();
    assertThat(replies).allSatisfy(one -> assertThat(await(one)).isEqualTo(ReserveReply.ACQUIRED));
    assertThat(waits() - before).isBetween(1L, 10L);
  }

  private static long waits() {
    for (String line : primary.call("INFO", "commandstats").lines().toList()) {
      if (line.startsWith("cmdstat_wait:calls=")) {
        return Long.parseLong(line.substring(line.indexOf('=') + 1, line.indexOf(',')));
      }
    }
    return 0;
  }

  @Test
  void reservationThatNoReplicaHasIsNotAcquired() {
    replica.pause();
    Reservation reservation = durable();
    assertMissed(store().reserve(reservation));
    // It may be there; whoever was refused takes it back.
    assertThat(await(store().release(reservation))).isEqualTo(WriteReply.DONE);
    assertThat(has(primary, reservation)).isFalse();
  }

  @Test
  void takeOverAndRenewalThatNoReplicaHasDoNotCount() {
    Reservation reservation = durable();
    await(store().reserve(reservation));
    replica.pause();
    assertMissed(store().renew(reservation));
    await(store().settle(reservation, new Settlement.Unknown()));
    assertMissed(store().takeOver(reservation.following(1)));
  }

  @Test
  void otherRoutesDoNotWaitForTheReplica() {
    replica.pause();
    CompletionStage<ReserveReply> waiting = store().reserve(durable());
    assertThat(await(store().reserve(reservation()))).isEqualTo(ReserveReply.ACQUIRED);
    assertThat(waiting.toCompletableFuture()).isNotDone();
    assertMissed(waiting);
  }

  @Test
  void duplicatesAreAnsweredWithoutAReplica() {
    Reservation reservation = durable();
    await(store().reserve(reservation));
    await(store().settle(reservation, new Settlement.Completed(response("done"))));
    replica.pause();
    assertThat(await(store().reserve(rival(reservation).with(ONE))))
        .isInstanceOf(ReserveReply.Existing.class);
  }

  @Test
  void commandsBehindOneThatIsNotConfirmedHaveTheirOwnTime() {
    replica.pause();
    List<CompletionStage<ReserveReply>> stages = new ArrayList<>();
    stages.add(store().reserve(durable()));
    stages.add(store().reserve(durable()));
    stages.add(store().reserve(durable()));
    stages.forEach(RedisDurabilityTest::assertMissed);
    replica.resume();
    awaitAcquired();
  }

  private void awaitAcquired() {
    Awaitility.await()
        .ignoreExceptions()
        .until(() -> await(store().reserve(durable())).equals(ReserveReply.ACQUIRED));
  }

  @Test
  void replicaThatIsGoneIsMissedUntilItIsBack() {
    replica.call("REPLICAOF", "NO", "ONE");
    Awaitility.await()
        .until(() -> primary.call("INFO", "replication").contains("connected_slaves:0"));
    assertMissed(store().reserve(durable()));
    replica.call("REPLICAOF", "127.0.0.1", Integer.toString(primary.port()));
    awaitInStep();
    awaitAcquired();
  }

  @Test
  void routesOfSeveralLevelsAreEachConfirmedByTheirOwn() {
    CompletionStage<ReserveReply> two =
        store().reserve(reservation().with(Durability.replicas(2, false)));
    assertThat(await(store().reserve(durable()))).isEqualTo(ReserveReply.ACQUIRED);
    assertThatThrownBy(() -> await(two)).hasMessageContaining("2 replicas within 320 ms (1 had it");
  }

  @Test
  void completionWaitsForAReplicaOnlyWhereItIsAsked() {
    Reservation plain = durable();
    Reservation asked = reservation().with(Durability.replicas(1, true));
    await(store().reserve(plain));
    await(store().reserve(asked));
    replica.pause();
    Settlement done = new Settlement.Completed(response("done"));
    assertThat(await(store().settle(plain, done))).isEqualTo(WriteReply.DONE);
    assertMissed(store().settle(asked, done));
    // Tried again it finds its own record, which is no surer for that.
    assertMissed(store().settle(asked, done));
    replica.resume();
    Awaitility.await()
        .ignoreExceptions()
        .until(() -> await(store().settle(asked, done)).equals(WriteReply.DONE));
    assertThat(has(replica, asked)).isTrue();
  }

  @Test
  void forgottenScriptsAreSentAgainAndConfirmed() {
    primary.call("SCRIPT", "FLUSH");
    Reservation reservation = durable();
    assertThat(await(store().reserve(reservation))).isEqualTo(ReserveReply.ACQUIRED);
    assertThat(has(replica, reservation)).isTrue();
  }

  @Test
  void reservationWhoseConnectionBreaksWhileItWaitsIsSentAgainAndConfirmed() {
    replica.pause();
    Reservation reservation = durable();
    CompletionStage<ReserveReply> waiting = store().reserve(reservation);
    Awaitility.await().until(() -> has(primary, reservation));
    primary.call("CLIENT", "KILL", "TYPE", "normal");
    replica.resume();
    assertThat(await(waiting)).isEqualTo(ReserveReply.ACQUIRED);
    Awaitility.await().until(() -> has(replica, reservation));
  }
}
