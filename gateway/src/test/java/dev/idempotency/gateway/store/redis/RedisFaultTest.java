package dev.idempotency.gateway.store.redis;

import static dev.idempotency.gateway.store.Fixtures.await;
import static dev.idempotency.gateway.store.Fixtures.reservation;
import static dev.idempotency.gateway.store.Fixtures.response;
import static dev.idempotency.gateway.store.Fixtures.rival;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.WriteReply;
import dev.idempotency.gateway.testing.FaultProxy;
import dev.idempotency.gateway.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RedisFaultTest {

  private static final Duration SHORT = Duration.ofMillis(200);
  private static final Duration LONG = Duration.ofSeconds(40);

  private final RedisServer redis = RedisServer.start();
  private final FaultProxy proxy = FaultProxy.to(redis);
  private final Deque<LoopStore> stores = new ArrayDeque<>();

  @AfterEach
  void end() {
    stores.forEach(LoopStore::close);
    proxy.close();
    redis.close();
  }

  private RedisIdempotencyStore connected(Duration deadline) {
    stores.add(LoopStore.connected(LoopStore.options(proxy.port()).withDeadline(deadline)));
    return stores.element().store();
  }

  private static void assertUnavailable(CompletionStage<?> stage, String... words) {
    ThrowingCallable waiting = () -> await(stage);
    assertThatThrownBy(waiting)
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContainingAll(words);
  }

  private boolean hasRecord(Reservation reservation) {
    return redis.call("EXISTS", "idem:" + reservation.id()).equals("1");
  }

  @Test
  void reservationWhoseReplyWasLostIsAcquired() {
    RedisIdempotencyStore store = connected(LONG);
    Reservation reservation = reservation();
    proxy.swallowNextReply();
    assertThat(await(store.reserve(reservation))).isEqualTo(ReserveReply.ACQUIRED);
    assertThat(proxy.hasSwallowed()).isTrue();
    assertThat(proxy.accepted()).isEqualTo(2);
    assertThat(await(store.reserve(rival(reservation)))).isInstanceOf(ReserveReply.Existing.class);
  }

  @Test
  void takeOverWhoseReplyWasLostIsAcquired() {
    RedisIdempotencyStore store = connected(LONG);
    Reservation reservation = reservation();
    await(store.reserve(reservation));
    await(store.settle(reservation, new Settlement.Unknown()));
    proxy.swallowNextReply();
    assertThat(await(store.takeOver(reservation.following(1)))).isEqualTo(ReserveReply.ACQUIRED);
  }

  @Test
  void completionWhoseReplyWasLostIsDoneOnce() {
    RedisIdempotencyStore store = connected(LONG);
    Reservation reservation = reservation();
    await(store.reserve(reservation));
    proxy.swallowNextReply();
    Settlement completed = new Settlement.Completed(response("done"));
    assertThat(await(store.settle(reservation, completed))).isEqualTo(WriteReply.DONE);
    assertThat(await(store.settle(reservation, completed))).isEqualTo(WriteReply.DONE);
  }

  @Test
  void commandsOfABrokenConnectionAreAllAnsweredByTheNext() {
    RedisIdempotencyStore store = connected(LONG);
    redis.pause();
    List<CompletableFuture<ReserveReply>> replies = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      replies.add(store.reserve(reservation()).toCompletableFuture());
    }
    proxy.resetAll();
    redis.resume();
    assertThat(replies)
        .allSatisfy(reply -> assertThat(await(reply)).isEqualTo(ReserveReply.ACQUIRED));
  }

  @Test
  void storeThatIsAwayAtTheStartComesByItself() {
    redis.stop();
    stores.add(LoopStore.started(LoopStore.options(redis.port()).withDeadline(SHORT)));
    assertUnavailable(stores.element().store().reserve(reservation()), "cannot be reached");
    assertThat(stores.element().store().reachable()).isFalse();
    redis.restart();
    stores.element().awaitReachable();
    assertThat(await(stores.element().store().reserve(reservation())))
        .isEqualTo(ReserveReply.ACQUIRED);
  }

  @Test
  void stoppedServerFailsCommandsAndComesBackByItself() {
    RedisIdempotencyStore store = connected(SHORT);
    redis.stop();
    stores.element().awaitUnreachable();
    assertUnavailable(store.reserve(reservation()), "Redis");
    redis.restart();
    stores.element().awaitReachable();
    assertThat(await(store.reserve(reservation()))).isEqualTo(ReserveReply.ACQUIRED);
  }

  @Test
  void refusedConnectionSaysSo() {
    RedisIdempotencyStore store = connected(SHORT);
    proxy.refuse();
    Awaitility.await().until(() -> store.detail().contains("refused"));
    assertUnavailable(store.find(reservation().id()), "Connection refused");
    proxy.pass();
    stores.element().awaitReachable();
  }

  @Test
  void frozenServerFailsCommandsWithinTheDeadlineAndComesBack() {
    RedisIdempotencyStore store = connected(SHORT);
    redis.pause();
    assertUnavailable(store.reserve(reservation()), "did not answer within 200 ms");
    stores.element().awaitUnreachable();
    redis.resume();
    stores.element().awaitReachable();
    assertThat(await(store.reserve(reservation()))).isEqualTo(ReserveReply.ACQUIRED);
  }

  @Test
  void commandThatFailedInABlackHoleIsNotSentLater() {
    RedisIdempotencyStore store = connected(SHORT);
    proxy.blackHole();
    Reservation failed = reservation();
    assertUnavailable(store.reserve(failed), "did not answer");
    stores.element().awaitUnreachable();
    proxy.pass();
    stores.element().awaitReachable();
    assertThat(await(store.reserve(reservation()))).isEqualTo(ReserveReply.ACQUIRED);
    assertThat(hasRecord(failed)).isFalse();
  }

  @Test
  void slowServerIsWaitedForWithinTheDeadline() {
    RedisIdempotencyStore store = connected(LONG);
    proxy.delay(Duration.ofMillis(300));
    assertThat(await(store.reserve(reservation()))).isEqualTo(ReserveReply.ACQUIRED);
    assertThat(proxy.accepted()).isEqualTo(1);
  }

  @Test
  void serverSlowerThanTheDeadlineFailsCommandsButKeepsItsConnection() {
    RedisIdempotencyStore store = connected(Duration.ofSeconds(1));
    proxy.delay(Duration.ofMillis(1_200));
    Reservation reservation = reservation();
    assertUnavailable(store.reserve(reservation), "did not answer");
    Awaitility.await().until(() -> hasRecord(reservation));
    proxy.pass();
    Awaitility.await()
        .ignoreExceptions()
        .until(() -> await(store.reserve(reservation)).equals(ReserveReply.ACQUIRED));
    assertThat(proxy.accepted()).isEqualTo(1);
  }

  @Test
  void replicaRefusesAndIsUnreachableUntilItIsPromoted() {
    RedisIdempotencyStore store = connected(SHORT);
    redis.call("REPLICAOF", "127.0.0.1", "1");
    assertUnavailable(store.reserve(reservation()), "READONLY");
    Awaitility.await().until(() -> store.detail().contains("READONLY"));
    assertThat(store.reachable()).isFalse();
    redis.call("REPLICAOF", "NO", "ONE");
    stores.element().awaitReachable();
    assertThat(await(store.reserve(reservation()))).isEqualTo(ReserveReply.ACQUIRED);
  }

  @Test
  void serverWithoutMemoryRefusesAndStaysReachable() {
    RedisIdempotencyStore store = connected(LONG);
    redis.call("CONFIG", "SET", "maxmemory", "1");
    assertUnavailable(store.reserve(reservation()), "OOM");
    assertThat(store.reachable()).isTrue();
    redis.call("CONFIG", "SET", "maxmemory", "0");
    assertThat(await(store.reserve(reservation()))).isEqualTo(ReserveReply.ACQUIRED);
  }

  @Test
  void serverThatCannotSaveIsUnreachable() {
    redis.call("CONFIG", "SET", "min-replicas-to-write", "1");
    stores.add(LoopStore.started(LoopStore.options(proxy.port()).withDeadline(SHORT)));
    Awaitility.await().until(() -> stores.element().store().detail().contains("NOREPLICAS"));
    assertUnavailable(stores.element().store().reserve(reservation()), "NOREPLICAS");
    redis.call("CONFIG", "SET", "min-replicas-to-write", "0");
    stores.element().awaitReachable();
  }

  @Test
  void wrongPasswordIsUnreachableAndNotRepeated() {
    redis.call("CONFIG", "SET", "requirepass", "right");
    stores.add(LoopStore.started(RedisStoreOptions.of("redis://:wr0ng@127.0.0.1:" + redis.port())));
    Awaitility.await().until(() -> stores.element().store().detail().contains("WRONGPASS"));
    assertThat(stores.element().store().detail()).doesNotContain("wr0ng");
    assertUnavailable(stores.element().store().reserve(reservation()), "WRONGPASS");
  }

  @Test
  void databaseAndPasswordOfTheUrlAreUsed() {
    redis.call("CONFIG", "SET", "requirepass", "p@ss/word");
    stores.add(
        LoopStore.connected(
            RedisStoreOptions.of("redis://:p%40ss%2Fword@localhost:" + redis.port() + "/5")));
    assertThat(await(stores.element().store().reserve(reservation())))
        .isEqualTo(ReserveReply.ACQUIRED);
  }

  @Test
  void tooManyCommandsUnderWayAreRefusedAtOnce() {
    RedisIdempotencyStore store = connected(LONG);
    redis.pause();
    List<CompletableFuture<?>> waiting = new ArrayList<>();
    Reservation reservation = reservation();
    for (int i = 0; i < RedisLink.LIMIT; i++) {
      waiting.add(store.reserve(reservation).toCompletableFuture());
    }
    assertUnavailable(store.reserve(reservation), "too slow");
    redis.resume();
    assertThat(waiting)
        .allSatisfy(reply -> assertThat(await(reply)).isEqualTo(ReserveReply.ACQUIRED));
  }

  @Test
  void closedStoreFailsWhatIsUnderWayAndWhatComes() {
    RedisIdempotencyStore store = connected(LONG);
    redis.pause();
    CompletionStage<ReserveReply> underWay = store.reserve(reservation());
    await(store.close());
    assertUnavailable(underWay, "closed");
    assertUnavailable(store.reserve(reservation()), "closed");
    assertThat(store.reachable()).isFalse();
    redis.resume();
    Awaitility.await().until(() -> proxy.open() == 0);
  }
}
