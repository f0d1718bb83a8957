package dev.idempotency.gateway.store;

import static dev.idempotency.gateway.store.Fixtures.await;
import static dev.idempotency.gateway.store.Fixtures.fingerprint;
import static dev.idempotency.gateway.store.Fixtures.reservation;
import static dev.idempotency.gateway.store.Fixtures.response;
import static dev.idempotency.gateway.store.Fixtures.rival;
import static dev.idempotency.gateway.store.Fixtures.shortLived;
import static dev.idempotency.gateway.store.Fixtures.withLease;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.Audit;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Note;
import dev.idempotency.gateway.idempotency.OpenOperation;
import dev.idempotency.gateway.idempotency.OpenOperations;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.StoredOperation.State;
import dev.idempotency.gateway.idempotency.StoredResponse;
import dev.idempotency.gateway.idempotency.WriteReply;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What every store promises. */
public abstract class StoreContractTest extends NoticesContract {

  private static final Duration SHORT = Duration.ofMillis(80);
  private static final Settlement UNKNOWN = new Settlement.Unknown();
  private static final long MARKS = 0xFEDC_BA98_7654_3210L;
  private static final Settlement DONE = new Settlement.Completed(response("done"));

  /** Lets at least that much of the store's time pass. */
  protected abstract void elapse(Duration time);

  @Test
  void operationWithoutRecordIsAcquired() {
    assertThat(await(store().reserve(reservation()))).isEqualTo(ReserveReply.ACQUIRED);
  }

  @Test
  void operationWithoutRecordIsNotFound() {
    assertThat(await(store().find(Fixtures.operation()))).isEmpty();
  }

  @Test
  void reservedByAnotherIsInFlight() {
    Reservation owner = reserved();
    StoredOperation seen = existing(store().reserve(rival(owner)));
    assertThat(seen.attempt()).isEqualTo(1);
    assertThat(seen.fingerprint()).isEqualTo(owner.fingerprint());
    assertThat(((StoredOperation.InFlight) seen.state()).leaseLeft())
        .isPositive()
        .isLessThanOrEqualTo(owner.lease());
  }

  @Test
  void reservedWithAnotherFingerprintSaysWhichOneIsThere() {
    Reservation owner = reserved();
    Reservation other =
        Reservation.first(owner.id(), fingerprint(2), owner.lease(), owner.retention());
    assertThat(existing(store().reserve(other)).fingerprint()).isEqualTo(fingerprint(1));
  }

  @Test
  void reservedByTheSameTokenIsAcquiredAgain() {
    Reservation owner = reserved();
    assertThat(await(store().reserve(owner))).isEqualTo(ReserveReply.ACQUIRED);
  }

  @Test
  void foundReservationIsInFlightAndUnchanged() {
    Reservation owner = reserved();
    assertThat(state(owner)).isInstanceOf(StoredOperation.InFlight.class);
    assertThat(await(store().settle(owner, DONE))).isEqualTo(WriteReply.DONE);
  }

  static Stream<StoredResponse> responses() {
    byte[] large = new byte[1 << 20];
    new Random(7).nextBytes(large);
    byte[] everyByte = new byte[256];
    IntStream.range(0, 256).forEach(i -> everyByte[i] = (byte) i);
    Headers repeated =
        Headers.of("X-B", "1", "x-a", "2", "X-B", "3", "Empty", "", "Obs", "caf\u00e9 \u00ff");
    return Stream.of(
        new StoredResponse(204, new Headers(), new byte[0], new Headers()),
        new StoredResponse(200, repeated, everyByte, Headers.of("Digest", "a=b", "Digest", "c")),
        new StoredResponse(
            999, Headers.of("Long", "v".repeat(70_000)), new byte[] {120}, new Headers()),
        new StoredResponse(201, Headers.of("Content-Type", "image/png"), large, new Headers()));
  }

  @ParameterizedTest
  @MethodSource("responses")
  void completedIsReplayedAsItWas(StoredResponse response) {
    Reservation owner = reserved();
    assertThat(await(store().settle(owner, new Settlement.Completed(response))))
        .isEqualTo(WriteReply.DONE);
    State state = existing(store().reserve(rival(owner))).state();
    StoredResponse kept = ((StoredOperation.Completed) state).response();
    assertThat(kept).isEqualTo(response);
    // Equality of fields ignores the case of names, a replay must not.
    assertThat(kept.headers().toString()).isEqualTo(response.headers().toString());
    assertThat(state(owner)).isEqualTo(state);
  }

  @Test
  void completedWithoutResponseIsNotKept() {
    Reservation owner = reserved();
    await(store().settle(owner, new Settlement.NotKept(200)));
    assertThat(existing(store().reserve(rival(owner))).state())
        .isEqualTo(new StoredOperation.NotKept(200));
  }

  @Test
  void completedNeverChanges() {
    Reservation owner = completed();
    Settlement other = new Settlement.Completed(response("other"));
    assertThat(await(store().settle(owner, other))).isEqualTo(WriteReply.DONE);
    assertThat(await(store().settle(owner, UNKNOWN))).isEqualTo(WriteReply.DONE);
    assertThat(fenced(store().settle(rival(owner), other))).isEqualTo(doneState());
    assertThat(fenced(store().renew(owner))).isEqualTo(doneState());
    assertThat(fenced(store().release(owner))).isEqualTo(doneState());
    assertThat(existing(store().takeOver(owner.following(1))).state()).isEqualTo(doneState());
    assertThat(existing(store().reserve(owner)).state()).isEqualTo(doneState());
    assertThat(state(owner)).isEqualTo(doneState());
  }

  @Test
  void releasedIsAcquiredAnew() {
    Reservation owner = reserved();
    assertThat(await(store().release(owner))).isEqualTo(WriteReply.DONE);
    assertThat(await(store().find(owner.id()))).isEmpty();
    assertThat(await(store().release(owner))).isEqualTo(WriteReply.DONE);
    assertThat(await(store().reserve(rival(owner)))).isEqualTo(ReserveReply.ACQUIRED);
  }

  @Test
  void releasedIsGoneForATakeOver() {
    Reservation owner = reserved();
    await(store().release(owner));
    assertThat(await(store().takeOver(owner.following(1)))).isEqualTo(ReserveReply.GONE);
    assertThat(await(store().find(owner.id()))).isEmpty();
  }

  @Test
  void unknownIsToldToDuplicatesAndCanBeReleased() {
    Reservation owner = unknown();
    assertThat(existing(store().reserve(rival(owner))).state())
        .isEqualTo(new StoredOperation.OutcomeUnknown(false));
    assertThat(existing(store().reserve(owner)).state())
        .isEqualTo(new StoredOperation.OutcomeUnknown(false));
    assertThat(await(store().release(owner))).isEqualTo(WriteReply.DONE);
    assertThat(await(store().find(owner.id()))).isEmpty();
  }

  @Test
  void unknownIsCompletedByItsAttempt() {
    Reservation owner = unknown();
    assertThat(await(store().settle(owner, DONE))).isEqualTo(WriteReply.DONE);
    assertThat(state(owner)).isEqualTo(doneState());
  }

  @Test
  void unknownIsNotReservedAgainByRenewal() {
    assertThat(fenced(store().renew(unknown())))
        .isEqualTo(new StoredOperation.OutcomeUnknown(false));
  }

  @Test
  void unknownIsTakenOverByTheNextAttemptOnly() {
    Reservation owner = unknown();
    Reservation next = owner.following(1);
    assertThat(existing(store().takeOver(owner.following(2))).attempt()).isEqualTo(1);
    assertThat(existing(store().takeOver(otherContent(next))).attempt()).isEqualTo(1);
    assertThat(await(store().takeOver(next))).isEqualTo(ReserveReply.ACQUIRED);
    assertThat(await(store().takeOver(next))).isEqualTo(ReserveReply.ACQUIRED);
    assertThat(existing(store().takeOver(owner.following(1))).attempt()).isEqualTo(2);
    assertThat(await(store().find(owner.id())).map(StoredOperation::attempt)).contains(2L);
  }

  @Test
  void sameAttemptOfTheKeyBegunAnewIsNotTakenOverByWhoSawTheOneBefore() {
    Reservation owner = unknown();
    StoredOperation seen = existing(store().reserve(rival(owner)));
    assertThat(seen.holder()).isEqualTo(owner.token());
    await(store().release(owner));
    Reservation anew = rival(owner);
    await(store().reserve(anew));
    await(store().settle(anew, UNKNOWN));
    StoredOperation current =
        existing(store().takeOver(owner.following(seen.attempt(), seen.holder())));
    assertThat(current.attempt()).isEqualTo(1);
    assertThat(current.holder()).isEqualTo(anew.token());
    assertThat(state(anew)).isEqualTo(new StoredOperation.OutcomeUnknown(false));
    Reservation next = owner.following(current.attempt(), current.holder());
    assertThat(await(store().takeOver(next))).isEqualTo(ReserveReply.ACQUIRED);
    assertThat(await(store().takeOver(next))).isEqualTo(ReserveReply.ACQUIRED);
  }

  @Test
  void holderIsToldUntilTheOperationIsFinished() {
    Reservation owner = reserved();
    assertThat(await(store().find(owner.id())).orElseThrow().holder()).isEqualTo(owner.token());
    await(store().settle(owner, UNKNOWN));
    assertThat(await(store().find(owner.id())).orElseThrow().holder()).isEqualTo(owner.token());
    assertThat(open(Duration.ZERO, 1_000).get(owner.id()).operation().holder())
        .isEqualTo(owner.token());
    await(store().settle(owner, DONE));
    assertThat(await(store().find(owner.id())).orElseThrow().holder()).isNull();
  }

  @Test
  void liveLeaseIsNotTakenOver() {
    Reservation owner = reserved();
    assertThat(existing(store().takeOver(owner.following(1))).state())
        .isInstanceOf(StoredOperation.InFlight.class);
    assertThat(await(store().settle(owner, DONE))).isEqualTo(WriteReply.DONE);
  }

  @Test
  void lapsedLeaseIsUnknown() {
    Reservation owner = lapsed();
    assertThat(existing(store().reserve(rival(owner))).state())
        .isEqualTo(new StoredOperation.OutcomeUnknown(true));
    assertThat(state(owner)).isEqualTo(new StoredOperation.OutcomeUnknown(true));
  }

  @Test
  void lapsedLeaseIsTakenOver() {
    Reservation owner = lapsed();
    Reservation next = withLease(owner.following(1), Fixtures.LEASE);
    assertThat(await(store().takeOver(next))).isEqualTo(ReserveReply.ACQUIRED);
    assertThat(existing(store().reserve(rival(owner))).state())
        .isInstanceOf(StoredOperation.InFlight.class);
  }

  @Test
  void lapsedAttemptThatIsStillCurrentCompletes() {
    Reservation owner = lapsed();
    assertThat(await(store().settle(owner, DONE))).isEqualTo(WriteReply.DONE);
    assertThat(state(owner)).isEqualTo(doneState());
  }

  @Test
  void lapsedLeaseIsRenewedByItsOwner() {
    Reservation owner = lapsed();
    assertThat(await(store().renew(withLease(owner, Fixtures.LEASE)))).isEqualTo(WriteReply.DONE);
    assertThat(state(owner)).isInstanceOf(StoredOperation.InFlight.class);
  }

  @Test
  void renewedLeaseOutlivesTheFirst() {
    Reservation owner = withLease(reservation(), SHORT);
    await(store().reserve(owner));
    assertThat(await(store().renew(withLease(owner, Fixtures.LEASE)))).isEqualTo(WriteReply.DONE);
    elapse(SHORT.multipliedBy(2));
    assertThat(state(owner)).isInstanceOf(StoredOperation.InFlight.class);
  }

  @Test
  void staleHolderWritesNothing() {
    Reservation stale = unknown();
    Reservation current = stale.following(1);
    await(store().takeOver(current));
    assertThat(fenced(store().settle(stale, DONE))).isInstanceOf(StoredOperation.InFlight.class);
    assertThat(fenced(store().renew(stale))).isInstanceOf(StoredOperation.InFlight.class);
    assertThat(fenced(store().release(stale))).isInstanceOf(StoredOperation.InFlight.class);
    assertThat(await(store().settle(current, DONE))).isEqualTo(WriteReply.DONE);
    assertThat(state(stale)).isEqualTo(doneState());
  }

  @Test
  void strangerWithTheSameAttemptWritesNothing() {
    Reservation owner = reserved();
    Reservation stranger = rival(owner);
    assertThat(fenced(store().settle(stranger, DONE))).isInstanceOf(StoredOperation.InFlight.class);
    assertThat(fenced(store().release(stranger))).isInstanceOf(StoredOperation.InFlight.class);
    assertThat(fenced(store().renew(stranger))).isInstanceOf(StoredOperation.InFlight.class);
    assertThat(await(store().renew(owner))).isEqualTo(WriteReply.DONE);
  }

  @Test
  void lostRecordIsWrittenAgainByRenewal() {
    Reservation owner = reservation();
    assertThat(await(store().renew(owner))).isEqualTo(WriteReply.DONE);
    assertThat(state(owner)).isInstanceOf(StoredOperation.InFlight.class);
  }

  @Test
  void lostRecordIsWrittenAgainByItsCompletion() {
    Reservation owner = reservation();
    assertThat(await(store().settle(owner, DONE))).isEqualTo(WriteReply.DONE);
    assertThat(state(owner)).isEqualTo(doneState());
  }

  @Test
  void completedIsNewAfterItsRetention() {
    Reservation owner = shortLived(reservation(), SHORT, SHORT);
    await(store().reserve(owner));
    await(store().settle(owner, DONE));
    elapse(SHORT.plusMillis(20));
    assertThat(await(store().find(owner.id()))).isEmpty();
    assertThat(await(store().reserve(rival(owner)))).isEqualTo(ReserveReply.ACQUIRED);
  }

  @Test
  void reservationIsGoneAfterLeaseAndRetention() {
    Reservation owner = shortLived(reservation(), SHORT, SHORT);
    await(store().reserve(owner));
    elapse(SHORT.multipliedBy(2).plusMillis(20));
    assertThat(await(store().takeOver(owner.following(1)))).isEqualTo(ReserveReply.GONE);
    assertThat(await(store().find(owner.id()))).isEmpty();
  }

  @Test
  void openFingerprintIsKeptAndRead() {
    Reservation owner = opened();
    assertThat(existing(store().reserve(rival(owner).with(fingerprint(1)))).fingerprint())
        .isEqualTo(Fingerprint.OPEN);
    await(store().settle(owner, new Settlement.NotKept(413)));
    StoredOperation done = await(store().find(owner.id())).orElseThrow();
    assertThat(done.fingerprint()).isEqualTo(Fingerprint.OPEN);
    assertThat(done.state()).isEqualTo(new StoredOperation.NotKept(413));
  }

  @Test
  void renewalWritesTheFingerprintThatIsKnownByNow() {
    Reservation owner = opened();
    assertThat(await(store().renew(owner.with(fingerprint(1))))).isEqualTo(WriteReply.DONE);
    assertThat(await(store().find(owner.id())).map(StoredOperation::fingerprint))
        .contains(fingerprint(1));
  }

  @Test
  void renewalWithAnOpenFingerprintLeavesTheOneThatIsKnown() {
    Reservation owner = opened();
    await(store().renew(owner.with(fingerprint(1))));
    assertThat(await(store().renew(owner))).isEqualTo(WriteReply.DONE);
    assertThat(await(store().find(owner.id())).map(StoredOperation::fingerprint))
        .contains(fingerprint(1));
  }

  @Test
  void unknownWithAnOpenFingerprintIsTakenOverByAnyRequest() {
    Reservation owner = opened();
    await(store().settle(owner, UNKNOWN));
    Reservation next = owner.following(1).with(fingerprint(2));
    assertThat(await(store().takeOver(next))).isEqualTo(ReserveReply.ACQUIRED);
    assertThat(await(store().find(owner.id())).map(StoredOperation::fingerprint))
        .contains(fingerprint(2));
  }

  @Test
  void settlementOfAnOpenReservationWritesTheFingerprintThatIsKnownByNow() {
    for (Settlement settlement : List.of(DONE, new Settlement.NotKept(200), UNKNOWN)) {
      Reservation owner = opened();
      await(store().settle(owner.with(fingerprint(1)), settlement));
      assertThat(await(store().find(owner.id())).map(StoredOperation::fingerprint))
          .contains(fingerprint(1));
    }
  }

  @Test
  void openReservationWhoseLeaseRanOutIsTakenOverByAnyRequestAndFencesItsOwner() {
    Reservation owner = withLease(reservation().with(Fingerprint.OPEN), SHORT);
    await(store().reserve(owner));
    elapse(SHORT.plusMillis(5));
    Reservation next = owner.following(1).with(fingerprint(2));
    assertThat(await(store().takeOver(next))).isEqualTo(ReserveReply.ACQUIRED);
    assertThat(await(store().renew(owner.with(fingerprint(1)))))
        .isInstanceOf(WriteReply.Fenced.class);
    assertThat(await(store().settle(owner.with(fingerprint(1)), DONE)))
        .isInstanceOf(WriteReply.Fenced.class);
    assertThat(await(store().find(owner.id())).map(StoredOperation::fingerprint))
        .contains(fingerprint(2));
  }

  @Test
  void lapsedReservationOfAKnownRequestIsNotTakenOverByAnOpenOne() {
    Reservation owner = lapsed();
    Reservation next = owner.following(1).with(Fingerprint.OPEN);
    assertThat(existing(store().takeOver(next)).attempt()).isEqualTo(1);
  }

  @Test
  void openReservationOfALiveLeaseIsNotTakenOver() {
    Reservation owner = opened();
    assertThat(existing(store().takeOver(owner.following(1))).attempt()).isEqualTo(1);
  }

  @Test
  void openReservationIsGoneAfterLeaseAndRetention() {
    Reservation owner = shortLived(reservation().with(Fingerprint.OPEN), SHORT, SHORT);
    await(store().reserve(owner));
    elapse(SHORT.multipliedBy(2).plusMillis(20));
    assertThat(await(store().find(owner.id()))).isEmpty();
    assertThat(await(store().reserve(rival(owner)))).isEqualTo(ReserveReply.ACQUIRED);
  }

  @Test
  void unknownWithAKnownFingerprintIsNotTakenOverByAnOpenOne() {
    Reservation owner = unknown();
    Reservation next = owner.following(1).with(Fingerprint.OPEN);
    assertThat(existing(store().takeOver(next)).fingerprint()).isEqualTo(owner.fingerprint());
  }

  @Test
  void marksOfTheFingerprintAreKeptInEveryState() {
    for (Settlement settlement : List.of(DONE, new Settlement.NotKept(200), UNKNOWN)) {
      Reservation owner = marked(reservation());
      await(store().reserve(owner));
      assertMarked(owner);
      await(store().renew(owner));
      assertMarked(owner);
      await(store().settle(owner, settlement));
      assertMarked(owner);
    }
  }

  @Test
  void marksComeWithTheFingerprintThatIsKnownLater() {
    Reservation owner = opened();
    await(store().renew(marked(owner)));
    assertMarked(owner);
    await(store().renew(owner));
    assertMarked(owner);
  }

  @Test
  void takeOverWritesTheMarksOfItsFingerprint() {
    Reservation owner = unknown();
    await(store().takeOver(marked(owner.following(1))));
    assertMarked(owner);
  }

  @Test
  void lostRecordIsWrittenAgainWithItsMarks() {
    Reservation renewed = marked(reservation());
    await(store().renew(renewed));
    assertMarked(renewed);
    Reservation settled = marked(reservation());
    await(store().settle(settled, DONE));
    assertMarked(settled);
  }

  private static Reservation marked(Reservation reservation) {
    return reservation.with(new Fingerprint(1, fingerprint(1).hash(), MARKS));
  }

  private void assertMarked(Reservation reservation) {
    Fingerprint found = await(store().find(reservation.id())).orElseThrow().fingerprint();
    assertThat(found).isEqualTo(fingerprint(1));
    assertThat(found.marks()).isEqualTo(MARKS);
    assertThat(existing(store().reserve(rival(reservation))).fingerprint().marks())
        .isEqualTo(MARKS);
  }

  @Test
  void racingCallersGetOneReservation() {
    Reservation first = reservation();
    List<CompletableFuture<ReserveReply>> replies =
        IntStream.range(0, 200)
            .parallel()
            .mapToObj(i -> store().reserve(rival(first)).toCompletableFuture())
            .toList();
    assertThat(replies.stream().map(Fixtures::await))
        .filteredOn(ReserveReply.ACQUIRED::equals)
        .hasSize(1);
  }

  @Test
  void racingSuccessorsGetOneTakeOver() {
    Reservation owner = unknown();
    List<CompletableFuture<ReserveReply>> replies =
        IntStream.range(0, 50)
            .parallel()
            .mapToObj(i -> store().takeOver(owner.following(1)).toCompletableFuture())
            .toList();
    assertThat(replies.stream().map(Fixtures::await))
        .filteredOn(ReserveReply.ACQUIRED::equals)
        .hasSize(1);
  }

  @Test
  void operationsDoNotTouchEachOther() {
    Reservation one = reserved();
    Reservation two = completed();
    assertThat(await(store().release(one))).isEqualTo(WriteReply.DONE);
    assertThat(state(two)).isEqualTo(doneState());
  }

  private Reservation reserved() {
    Reservation owner = reservation();
    assertThat(await(store().reserve(owner))).isEqualTo(ReserveReply.ACQUIRED);
    return owner;
  }

  // ---- operations that are not finished

  private static final Audit AUDIT = new Audit("alice", "the bank says so");
  private static final Duration ALIVE_TOO = Duration.ofMillis(-1);

  private Map<OperationId, OpenOperation> open(Duration least, int page) {
    Map<OperationId, OpenOperation> found = new LinkedHashMap<>();
    String cursor = "";
    do {
      OpenOperations.Page next = await(store().list(new OpenOperations.Query(cursor, least, page)));
      for (OpenOperation operation : next.operations()) {
        assertThat(found.put(operation.id(), operation)).as("listed twice").isNull();
      }
      cursor = next.next();
    } while (!cursor.isEmpty());
    return found;
  }

  private ResolveReply resolve(Reservation owner, Resolution.Action action) {
    return await(store().resolve(resolution(owner, action)));
  }

  private static Resolution resolution(Reservation owner, Resolution.Action action) {
    return Resolution.of(owner.id(), owner.attempt(), action, owner.retention(), AUDIT);
  }

  @Test
  void unknownAndLapsedAreListedAndLiveOnesOnlyWhenAskedFor() {
    Reservation unknown = unknown();
    Reservation lapsed = lapsed();
    Reservation alive = reserved();
    Reservation done = completed();
    Reservation released = reserved();
    await(store().release(released));
    Map<OperationId, OpenOperation> overdue = open(Duration.ZERO, 1_000);
    assertThat(overdue)
        .containsKeys(unknown.id(), lapsed.id())
        .doesNotContainKeys(alive.id(), done.id(), released.id());
    assertThat(overdue.get(lapsed.id()).operation().state())
        .isEqualTo(new StoredOperation.OutcomeUnknown(true));
    assertThat(overdue.get(lapsed.id()).overdue()).isPositive().isLessThan(Duration.ofMinutes(1));
    Map<OperationId, OpenOperation> all = open(ALIVE_TOO, 1_000);
    assertThat(all)
        .containsKeys(unknown.id(), lapsed.id(), alive.id())
        .doesNotContainKeys(done.id(), released.id());
    assertThat(all.get(alive.id()).overdue()).isZero();
    for (Reservation owner : List.of(unknown, lapsed, alive)) {
      assertThat(all.get(owner.id()).holder()).isEqualTo(owner.token());
    }
    assertThat(open(Duration.ofMinutes(1), 1_000)).doesNotContainKeys(unknown.id(), lapsed.id());
  }

  @Test
  void pagesAreCompleteWhateverTheirSize() {
    Set<OperationId> mine = new HashSet<>();
    for (int i = 0; i < 25; i++) {
      mine.add(unknown().id());
    }
    for (int page : new int[] {1, 7, 1_000}) {
      assertThat(open(Duration.ZERO, page)).containsKeys(mine.toArray(new OperationId[0]));
    }
    OpenOperations.Query senseless = new OpenOperations.Query("senseless", Duration.ZERO, 1_000);
    assertThat(await(store().list(senseless)).operations()).isNotEmpty();
  }

  @Test
  void noteSaysWhereAnOperationComesFromUntilItIsFinished() {
    Note note = new Note("create-order", "0af7651916cd43dd8448eb211c80319c", "kéy", "/orders/ä");
    Reservation owner = reservation().with(note);
    await(store().reserve(owner));
    assertThat(await(store().find(owner.id())).orElseThrow().note()).isEqualTo(note);
    await(store().renew(owner));
    assertThat(open(ALIVE_TOO, 1_000).get(owner.id()).operation().note()).isEqualTo(note);
    await(store().settle(owner, UNKNOWN));
    assertThat(open(Duration.ZERO, 1_000).get(owner.id()).operation().note()).isEqualTo(note);
    await(store().settle(owner, DONE));
    assertThat(await(store().find(owner.id())).orElseThrow().note()).isEqualTo(Note.NONE);
  }

  @Test
  void noteOfALapsedReservationOutlivesThatItIsMarked() {
    Note note = Note.of("create-order");
    Reservation owner = withLease(reservation(), SHORT).with(note);
    await(store().reserve(owner));
    elapse(SHORT.plusMillis(5));
    assertThat(resolve(owner, new Resolution.MarkUnknown())).isEqualTo(ResolveReply.DONE);
    StoredOperation marked = await(store().find(owner.id())).orElseThrow();
    assertThat(marked.note()).isEqualTo(note);
    assertThat(marked.state()).isEqualTo(new StoredOperation.OutcomeUnknown(false));
    assertThat(marked.fingerprint()).isEqualTo(owner.fingerprint());
  }

  @Test
  void countsAreByAge() {
    // What has expired may be counted until it is removed, which may happen between two counts.
    Awaitility.await().untilAsserted(this::countGrowsByWhatIsOpened);
  }

  private void countGrowsByWhatIsOpened() {
    List<Duration> ages = List.of(ALIVE_TOO, Duration.ZERO, Duration.ofHours(1));
    List<Long> before = await(store().count(ages));
    unknown();
    lapsed();
    reserved();
    completed();
    List<Long> after = await(store().count(ages));
    // Others may lapse meanwhile.
    assertThat(after.get(0) - before.get(0)).isGreaterThanOrEqualTo(3);
    assertThat(after.get(1) - before.get(1)).isGreaterThanOrEqualTo(2);
    assertThat(after.get(2)).isZero();
  }

  @Test
  void probeIsClaimedByOneAtATime() {
    Reservation owner = unknown();
    assertThat(tries(claim(owner, Duration.ofMinutes(1)))).isZero();
    OpenOperations.ProbeClaim second = claim(owner, Duration.ofMinutes(1));
    assertThat(((OpenOperations.ProbeClaim.Busy) second).left())
        .isPositive()
        .isLessThanOrEqualTo(Duration.ofMinutes(1));
  }

  @Test
  void probeIsClaimedAgainWhenTheTimeIsOverAndTriesAreCounted() {
    Reservation owner = unknown();
    for (int tries = 0; tries < 3; tries++) {
      assertThat(tries(claim(owner, SHORT))).isEqualTo(tries);
      elapse(SHORT.plusMillis(5));
    }
    // The same key anew is another operation.
    await(store().release(owner));
    Reservation next = rival(owner);
    await(store().reserve(next));
    assertThat(tries(claim(owner, SHORT))).isZero();
  }

  @Test
  void pauseBetweenProbesDoublesUpToTheLongest() {
    Reservation owner = unknown();
    Duration longest = Duration.ofMinutes(1);
    await(store().claimProbe(owner.id(), 1, null, Duration.ofMillis(1), longest));
    elapse(Duration.ofMillis(5));
    await(store().claimProbe(owner.id(), 1, null, Duration.ofSeconds(20), longest));
    assertThat(left(claim(owner, SHORT))).isBetween(Duration.ofSeconds(30), Duration.ofSeconds(40));
    Reservation other = unknown();
    await(store().claimProbe(other.id(), 1, null, Duration.ofHours(1), longest));
    assertThat(left(claim(other, SHORT))).isBetween(Duration.ofSeconds(50), longest);
  }

  @Test
  void claimSaysForHowLongTheOutcomeHasBeenUnknown() {
    Reservation owner = lapsed();
    elapse(SHORT);
    assertThat(((OpenOperations.ProbeClaim.Claimed) claim(owner, SHORT)).overdue())
        .isBetween(SHORT, Duration.ofMinutes(1));
    assertThat(((OpenOperations.ProbeClaim.Claimed) claim(reserved(), SHORT)).overdue()).isZero();
  }

  private OpenOperations.ProbeClaim claim(Reservation owner, Duration hold) {
    return await(store().claimProbe(owner.id(), 1, null, hold, hold));
  }

  private static int tries(OpenOperations.ProbeClaim claim) {
    return ((OpenOperations.ProbeClaim.Claimed) claim).tries();
  }

  private static Duration left(OpenOperations.ProbeClaim claim) {
    return ((OpenOperations.ProbeClaim.Busy) claim).left();
  }

  @Test
  void probeOfWhatIsFinishedGoneOrAnotherAttemptIsNotClaimed() {
    OpenOperations.ProbeClaim none = new OpenOperations.ProbeClaim.Busy(Duration.ZERO);
    assertThat(await(store().claimProbe(completed().id(), 1, null, SHORT, SHORT))).isEqualTo(none);
    assertThat(await(store().claimProbe(Fixtures.operation(), 1, null, SHORT, SHORT)))
        .isEqualTo(none);
    assertThat(await(store().claimProbe(unknown().id(), 2, null, SHORT, SHORT))).isEqualTo(none);
  }

  @Test
  void probeOfTheKeyBegunAnewIsNotClaimedByWhoSawTheOneBefore() {
    Reservation owner = unknown();
    await(store().release(owner));
    Reservation anew = rival(owner);
    await(store().reserve(anew));
    await(store().settle(anew, UNKNOWN));
    Duration hold = Duration.ofMinutes(1);
    assertThat(await(store().claimProbe(owner.id(), 1, owner.token(), hold, hold)))
        .isEqualTo(new OpenOperations.ProbeClaim.Busy(Duration.ZERO));
    // Nor does that keep anybody from it.
    assertThat(tries(await(store().claimProbe(owner.id(), 1, anew.token(), hold, hold)))).isZero();
  }

  @Test
  void resolvedAsCompletedIsReplayedAndFencesItsFormerOwner() {
    for (Reservation owner : List.of(unknown(), lapsed())) {
      Resolution resolution = resolution(owner, new Resolution.Complete(response("found")));
      assertThat(await(store().resolve(resolution))).isEqualTo(ResolveReply.DONE);
      State found = new StoredOperation.Completed(response("found"));
      assertThat(existing(store().reserve(rival(owner))).state()).isEqualTo(found);
      assertThat(state(owner)).isEqualTo(found);
      assertThat(existing(store().reserve(rival(owner))).fingerprint())
          .isEqualTo(owner.fingerprint());
      assertThat(fenced(store().settle(owner, DONE))).isEqualTo(found);
      assertThat(fenced(store().renew(owner))).isEqualTo(found);
      assertThat(await(store().resolve(resolution))).isEqualTo(ResolveReply.DONE);
      assertThat(open(ALIVE_TOO, 1_000)).doesNotContainKey(owner.id());
    }
  }

  @Test
  void resolvedAsReleasedIsNewAgain() {
    Reservation owner = unknown();
    assertThat(resolve(owner, new Resolution.Release())).isEqualTo(ResolveReply.DONE);
    assertThat(open(ALIVE_TOO, 1_000)).doesNotContainKey(owner.id());
    assertThat(await(store().reserve(rival(owner)))).isEqualTo(ReserveReply.ACQUIRED);
    assertThat(await(store().history(owner.id())))
        .extracting(OpenOperations.Entry::what)
        .containsExactly("release");
  }

  @Test
  void lateResponseOfTheHolderCountsAfterTheLapseWasMarked() {
    Reservation owner = lapsed();
    assertThat(resolve(owner, new Resolution.MarkUnknown())).isEqualTo(ResolveReply.DONE);
    assertThat(await(store().settle(owner, DONE))).isEqualTo(WriteReply.DONE);
    assertThat(state(owner)).isEqualTo(doneState());
    assertThat(open(ALIVE_TOO, 1_000)).doesNotContainKey(owner.id());
  }

  @Test
  void extendedStaysUnknownForLonger() {
    Reservation owner = Fixtures.shortLived(reservation(), SHORT, SHORT);
    await(store().reserve(owner));
    await(store().settle(owner, UNKNOWN));
    Resolution longer =
        Resolution.of(owner.id(), 1, new Resolution.Extend(), Duration.ofMinutes(5), AUDIT);
    assertThat(await(store().resolve(longer))).isEqualTo(ResolveReply.DONE);
    elapse(SHORT.multipliedBy(3));
    assertThat(state(owner)).isEqualTo(new StoredOperation.OutcomeUnknown(false));
  }

  @Test
  void whatIsNotUnknownOrAnotherAttemptIsNotResolved() {
    Resolution.Action complete = new Resolution.Complete(response("wrong"));
    for (Resolution.Action action :
        List.of(complete, new Resolution.Release(), new Resolution.MarkUnknown())) {
      Reservation alive = reserved();
      ResolveReply refused = resolve(alive, action);
      assertThat(((ResolveReply.Refused) refused).current().state())
          .isInstanceOf(StoredOperation.InFlight.class);
      Reservation done = completed();
      assertThat(((ResolveReply.Refused) resolve(done, action)).current().state())
          .isEqualTo(doneState());
      assertThat(resolve(unknown().following(1), action)).isInstanceOf(ResolveReply.Refused.class);
      assertThat(resolve(reservation(), action)).isEqualTo(ResolveReply.GONE);
      assertThat(await(store().history(done.id()))).isEmpty();
    }
  }

  @Test
  void sameAttemptOfTheKeyBegunAnewIsNotResolvedByWhatWasSeenBefore() {
    Reservation owner = unknown();
    OpenOperations.ProbeClaim.Claimed claim =
        (OpenOperations.ProbeClaim.Claimed) claim(owner, SHORT);
    assertThat(claim.holder()).isEqualTo(owner.token());
    await(store().release(owner));
    Reservation next = rival(owner);
    await(store().reserve(next));
    await(store().settle(next, UNKNOWN));
    Resolution late =
        Resolution.of(
            owner.id(), 1, claim.holder(), new Resolution.Release(), owner.retention(), AUDIT);
    assertThat(await(store().resolve(late))).isInstanceOf(ResolveReply.Refused.class);
    assertThat(state(next)).isEqualTo(new StoredOperation.OutcomeUnknown(false));
    Resolution right =
        Resolution.of(
            owner.id(), 1, next.token(), new Resolution.Release(), owner.retention(), AUDIT);
    assertThat(await(store().resolve(right))).isEqualTo(ResolveReply.DONE);
  }

  @Test
  void ownerWhoseLapsedLeaseWasMarkedMaySendNothingMore() {
    Reservation owner = lapsed();
    assertThat(resolve(owner, new Resolution.MarkUnknown())).isEqualTo(ResolveReply.DONE);
    assertThat(fenced(store().renew(owner))).isEqualTo(new StoredOperation.OutcomeUnknown(false));
  }

  @Test
  void historyTellsWhoDidWhatAndWhy() {
    Reservation owner = unknown();
    resolve(owner, new Resolution.Extend());
    resolve(owner, new Resolution.Complete(response("found")));
    List<OpenOperations.Entry> history = await(store().history(owner.id()));
    assertThat(history)
        .extracting(OpenOperations.Entry::what)
        .containsExactly("extend", "complete");
    assertThat(history).allSatisfy(entry -> assertThat(entry.audit()).isEqualTo(AUDIT));
    assertThat(history).allSatisfy(entry -> assertThat(entry.attempt()).isEqualTo(1));
    assertThat(history.get(0).at()).isPositive().isLessThanOrEqualTo(history.get(1).at());
    assertThat(await(store().history(reserved().id()))).isEmpty();
  }

  @Test
  void historyKeepsTheLatest32Entries() {
    Reservation owner = unknown();
    for (int i = 1; i <= 40; i++) {
      Audit audit = new Audit("bob", "number " + i);
      await(
          store()
              .resolve(
                  Resolution.of(owner.id(), 1, new Resolution.Extend(), owner.retention(), audit)));
    }
    List<OpenOperations.Entry> history = await(store().history(owner.id()));
    assertThat(history).hasSize(32);
    assertThat(history.get(31).audit().why()).isEqualTo("number 40");
  }

  @Test
  void operationWhoseRetentionEndedIsListedNoMore() {
    Reservation owner = Fixtures.shortLived(reservation(), SHORT, SHORT);
    await(store().reserve(owner));
    elapse(SHORT.multipliedBy(3));
    assertThat(open(ALIVE_TOO, 1_000)).doesNotContainKey(owner.id());
  }

  private Reservation opened() {
    Reservation owner = reservation().with(Fingerprint.OPEN);
    assertThat(await(store().reserve(owner))).isEqualTo(ReserveReply.ACQUIRED);
    return owner;
  }

  private Reservation unknown() {
    Reservation owner = reserved();
    assertThat(await(store().settle(owner, UNKNOWN))).isEqualTo(WriteReply.DONE);
    return owner;
  }

  private Reservation completed() {
    Reservation owner = reserved();
    assertThat(await(store().settle(owner, DONE))).isEqualTo(WriteReply.DONE);
    return owner;
  }

  private Reservation lapsed() {
    Reservation owner = withLease(reservation(), SHORT);
    assertThat(await(store().reserve(owner))).isEqualTo(ReserveReply.ACQUIRED);
    elapse(SHORT.plusMillis(5));
    return owner;
  }

  private static Reservation otherContent(Reservation reservation) {
    return new Reservation(
        reservation.id(),
        fingerprint(2),
        reservation.token(),
        reservation.attempt(),
        reservation.lease(),
        reservation.retention());
  }

  private static State doneState() {
    return new StoredOperation.Completed(response("done"));
  }

  private State state(Reservation reservation) {
    Optional<StoredOperation> found = await(store().find(reservation.id()));
    return found.orElseThrow().state();
  }

  private static StoredOperation existing(CompletionStage<ReserveReply> reply) {
    return ((ReserveReply.Existing) await(reply)).operation();
  }

  private static State fenced(CompletionStage<WriteReply> reply) {
    return ((WriteReply.Fenced) await(reply)).current().state();
  }
}
