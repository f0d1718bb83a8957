package dev.idempotency.gateway.store;

import static dev.idempotency.gateway.store.Fixtures.await;
import static dev.idempotency.gateway.store.Fixtures.reservation;
import static dev.idempotency.gateway.store.Fixtures.response;
import static dev.idempotency.gateway.store.Fixtures.rival;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.SettlementNotices.Registration;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What every store promises to those who wait for a record to change. */
abstract class NoticesContract {

  private static final Duration PATIENCE = Duration.ofSeconds(40);

  /** The store under test. */
  protected abstract OperationStore store();

  @Test
  void watchThatBeganIsToldOnceWithoutReason() {
    AtomicInteger told = new AtomicInteger();
    Registration watch = watched(reservation(), told);
    watch.end();
  }

  @Test
  void settlementIsTold() {
    Reservation owner = reservation();
    await(store().reserve(owner));
    AtomicInteger told = new AtomicInteger();
    Registration watch = watched(owner, told);
    await(store().settle(owner, new Settlement.Completed(response("done"))));
    awaitTold(told, 2);
    watch.end();
  }

  @Test
  void unknownOutcomeIsTold() {
    Reservation owner = reservation();
    await(store().reserve(owner));
    AtomicInteger told = new AtomicInteger();
    Registration watch = watched(owner, told);
    await(store().settle(owner, new Settlement.Unknown()));
    awaitTold(told, 2);
    watch.end();
  }

  @Test
  void releaseIsToldToAllWhoWatch() {
    Reservation owner = reservation();
    await(store().reserve(owner));
    AtomicInteger one = new AtomicInteger();
    AtomicInteger other = new AtomicInteger();
    Registration first = watched(owner, one);
    Registration second = watched(owner, other);
    await(store().release(owner));
    awaitTold(one, 2);
    awaitTold(other, 2);
    first.end();
    second.end();
  }

  @Test
  void watchThatEndedIsToldNothing() {
    Reservation owner = reservation();
    await(store().reserve(owner));
    AtomicInteger ended = new AtomicInteger();
    AtomicInteger other = new AtomicInteger();
    Registration first = watched(owner, ended);
    Registration second = watched(owner, other);
    first.end();
    first.end();
    await(store().release(owner));
    awaitTold(other, 2);
    assertThat(ended.get()).isEqualTo(1);
    second.end();
  }

  @Test
  void watchTellsNothingOfOtherOperations() {
    Reservation owner = reservation();
    Reservation another = reservation();
    await(store().reserve(owner));
    await(store().reserve(another));
    AtomicInteger told = new AtomicInteger();
    Registration watch = watched(owner, told);
    await(store().release(another));
    await(store().reserve(rival(owner)));
    await(store().renew(owner));
    assertThat(told.get()).isEqualTo(1);
    await(store().release(owner));
    awaitTold(told, 2);
    assertThat(told.get()).isEqualTo(2);
    watch.end();
  }

  private Registration watched(Reservation owner, AtomicInteger told) {
    Registration watch = store().watch(owner.id(), told::incrementAndGet);
    awaitTold(told, 1);
    return watch;
  }

  private static void awaitTold(AtomicInteger told, int times) {
    Awaitility.await()
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(2))
        .until(() -> told.get() >= times);
  }
}
