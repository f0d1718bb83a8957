package dev.idempotency.gateway.store;

import static dev.idempotency.gateway.store.Fixtures.await;
import static dev.idempotency.gateway.store.Fixtures.reservation;
import static dev.idempotency.gateway.store.Fixtures.response;
import static dev.idempotency.gateway.store.Fixtures.rival;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.PiecedResponse;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ResponsePieces;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.SettlementNotices.Registration;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What every store promises to those who wait, and of the pieces of large responses. */
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

  @Test
  void piecesAreReadAsTheyWereWritten() {
    Reservation owner = reservation();
    byte[] large = new byte[ResponsePieces.SIZE];
    new Random(7).nextBytes(large);
    await(store().put(owner, 0, large));
    await(store().put(owner, 1, new byte[] {1, 2, 3}));
    await(store().put(owner, 1, new byte[] {1, 2, 4}));
    assertThat(await(store().get(owner.id(), owner.token(), 0))).isEqualTo(large);
    assertThat(await(store().get(owner.id(), owner.token(), 1))).containsExactly(1, 2, 4);
  }

  @Test
  void pieceThatIsNotThereCanNotBeRead() {
    Reservation owner = reservation();
    await(store().put(owner, 0, new byte[] {1}));
    isMissing(owner, 1);
    isMissing(rival(owner), 0);
    isMissing(reservation(), 0);
  }

  @Test
  void piecesThatAreDroppedAreGone() {
    Reservation owner = reservation();
    Reservation other = rival(owner);
    await(store().put(owner, 0, new byte[] {1}));
    await(store().put(owner, 1, new byte[] {2}));
    await(store().put(other, 0, new byte[] {3}));
    await(store().drop(owner, 3));
    isMissing(owner, 0);
    isMissing(owner, 1);
    assertThat(await(store().get(other.id(), other.token(), 0))).containsExactly(3);
  }

  @Test
  void recordOfAResponseInPiecesIsReadAsItWasWritten() {
    Reservation owner = reservation();
    await(store().reserve(owner));
    StoredResponse head =
        new StoredResponse(
            201, Headers.of("X-A", "caf\u00e9", "x-a", ""), new byte[0], Headers.of("T", "1"));
    PiecedResponse response = new PiecedResponse(head, owner.token(), 3, 3_000_000_000L);
    await(store().settle(owner, new Settlement.Completed(response.packed())));
    StoredOperation found = await(store().find(owner.id())).orElseThrow();
    StoredResponse stored = ((StoredOperation.Completed) found.state()).response();
    assertThat(PiecedResponse.of(stored)).isEqualTo(response);
    // Nobody who does not know of pieces takes it for a response.
    assertThat(stored.isSealed()).isTrue();
  }

  private void isMissing(Reservation owner, int index) {
    assertThatThrownBy(() -> await(store().get(owner.id(), owner.token(), index)))
        .isInstanceOfSatisfying(
            StoreUnavailableException.class,
            missing -> assertThat(missing.isUnreadable()).isTrue());
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
