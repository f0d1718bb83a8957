package dev.idempotency.gateway.idempotency;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.idempotency.OperationRecord.Completed;
import dev.idempotency.gateway.idempotency.OperationRecord.NotKept;
import dev.idempotency.gateway.idempotency.OperationRecord.Reserved;
import dev.idempotency.gateway.idempotency.OperationRecord.Step;
import dev.idempotency.gateway.idempotency.OperationRecord.Unknown;
import dev.idempotency.gateway.store.Fixtures;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The legal transitions of a record; the store's time is in milliseconds. */
class OperationRecordTest {

  private static final long NOW = 100_000;
  private static final long LATER = NOW + 60_000;
  private static final Reservation OWNER =
      Reservation.first(
          Fixtures.operation(),
          Fixtures.fingerprint(1),
          Duration.ofSeconds(10),
          Duration.ofHours(1));
  private static final Reservation RIVAL = Fixtures.rival(OWNER);
  private static final Reservation NEXT = OWNER.following(1);

  /** The owner's token under another number. */
  private static final Reservation RENUMBERED =
      new Reservation(
          OWNER.id(), OWNER.fingerprint(), OWNER.token(), 2, OWNER.lease(), OWNER.retention());

  private static final StoredResponse RESPONSE = Fixtures.response("made");

  private static Reserved reserved(long leaseUntil) {
    return new Reserved(1, OWNER.token(), OWNER.fingerprint(), leaseUntil, LATER, Note.NONE);
  }

  private static Unknown unknown() {
    return new Unknown(1, OWNER.token(), OWNER.fingerprint(), NOW, LATER, Note.NONE);
  }

  private static Completed completed() {
    return new Completed(1, OWNER.token(), OWNER.fingerprint(), RESPONSE, LATER);
  }

  private static NotKept notKept() {
    return new NotKept(1, OWNER.token(), OWNER.fingerprint(), 200, LATER);
  }

  static Stream<OperationRecord> records() {
    return Stream.of(reserved(NOW + 1), reserved(NOW), unknown(), completed(), notKept());
  }

  static Stream<OperationRecord> settled() {
    return Stream.of(completed(), notKept());
  }

  @ParameterizedTest
  @CsvSource({"1, true", "0, false", "-1, false"})
  void leaseIsAliveUntilItsLastMillisecond(long left, boolean alive) {
    StoredOperation.State state = reserved(NOW + left).seenAt(NOW).state();
    assertThat(state instanceof StoredOperation.InFlight).isEqualTo(alive);
    if (!alive) {
      assertThat(state).isEqualTo(new StoredOperation.OutcomeUnknown(true));
    }
  }

  @Test
  void nothingThereIsReservedForLeaseAndRetention() {
    Step<ReserveReply> step = OperationRecord.reserve(null, OWNER, NOW);
    assertThat(step.reply()).isEqualTo(ReserveReply.ACQUIRED);
    assertThat(step.next())
        .isEqualTo(
            new Reserved(
                1,
                OWNER.token(),
                OWNER.fingerprint(),
                NOW + 10_000,
                NOW + 10_000 + 3_600_000,
                Note.NONE));
  }

  @ParameterizedTest
  @MethodSource("records")
  void recordOfAnotherIsNotReserved(OperationRecord record) {
    Step<ReserveReply> step = OperationRecord.reserve(record, RIVAL, NOW);
    assertThat(step.next()).isSameAs(record);
    assertThat(step.reply()).isEqualTo(new ReserveReply.Existing(record.seenAt(NOW)));
  }

  @ParameterizedTest
  @MethodSource("records")
  void recordWhoseRetentionEndedIsNone(OperationRecord record) {
    assertThat(OperationRecord.reserve(record, RIVAL, LATER).reply())
        .isEqualTo(ReserveReply.ACQUIRED);
    assertThat(OperationRecord.takeOver(record, NEXT, LATER))
        .isEqualTo(new Step<>(null, ReserveReply.GONE));
    assertThat(OperationRecord.release(record, RIVAL, LATER))
        .isEqualTo(new Step<>(null, WriteReply.DONE));
  }

  @Test
  void unknownAndLapsedAreTakenOverByTheNextAttemptOfTheSameRequestOnly() {
    for (OperationRecord record : List.of(unknown(), reserved(NOW))) {
      assertThat(OperationRecord.takeOver(record, NEXT, NOW).reply())
          .isEqualTo(ReserveReply.ACQUIRED);
      for (Reservation wrong :
          List.of(
              OWNER.following(2),
              RIVAL,
              new Reservation(
                  OWNER.id(),
                  Fixtures.fingerprint(2),
                  AttemptToken.next(),
                  2,
                  OWNER.lease(),
                  OWNER.retention()))) {
        assertThat(OperationRecord.takeOver(record, wrong, NOW).next()).isSameAs(record);
      }
    }
  }

  @Test
  void aliveAndSettledAreNotTakenOver() {
    for (OperationRecord record : List.of(reserved(NOW + 1), completed(), notKept())) {
      assertThat(OperationRecord.takeOver(record, NEXT, NOW).next()).isSameAs(record);
    }
  }

  @Test
  void leaseThatRanOutIsRenewedAsLongAsNobodyTookOver() {
    assertThat(OperationRecord.renew(reserved(NOW - 1), OWNER, NOW).reply())
        .isEqualTo(WriteReply.DONE);
    assertThat(OperationRecord.renew(null, OWNER, NOW).next()).isInstanceOf(Reserved.class);
    assertThat(OperationRecord.renew(unknown(), OWNER, NOW).reply())
        .isInstanceOf(WriteReply.Fenced.class);
  }

  static Stream<Settlement> settlements() {
    return Stream.of(
        new Settlement.Completed(RESPONSE), new Settlement.NotKept(200), new Settlement.Unknown());
  }

  @ParameterizedTest
  @MethodSource("settlements")
  void everyOtherAttemptIsFenced(Settlement settlement) {
    for (Reservation other : List.of(RIVAL, NEXT, RENUMBERED)) {
      records()
          .forEach(
              record -> {
                WriteReply fenced = new WriteReply.Fenced(record.seenAt(NOW));
                isUnchanged(record, OperationRecord.settle(record, other, settlement, NOW), fenced);
                isUnchanged(record, OperationRecord.renew(record, other, NOW), fenced);
                isUnchanged(record, OperationRecord.release(record, other, NOW), fenced);
              });
    }
  }

  @ParameterizedTest
  @MethodSource("settled")
  void settledRecordNeverChanges(OperationRecord record) {
    settlements()
        .forEach(
            settlement ->
                isUnchanged(
                    record,
                    OperationRecord.settle(record, OWNER, settlement, NOW),
                    WriteReply.DONE));
    isUnchanged(
        record,
        OperationRecord.release(record, OWNER, NOW),
        new WriteReply.Fenced(record.seenAt(NOW)));
  }

  @ParameterizedTest
  @MethodSource("settlements")
  void ownerSettlesWhatIsOpenEvenIfItIsLateOrLost(Settlement settlement) {
    for (@Nullable OperationRecord open :
        new @Nullable OperationRecord[] {reserved(NOW + 1), reserved(NOW - 1), unknown(), null}) {
      Step<WriteReply> step = OperationRecord.settle(open, OWNER, settlement, NOW);
      assertThat(step.reply()).isEqualTo(WriteReply.DONE);
      OperationRecord next = java.util.Objects.requireNonNull(step.next());
      assertThat(next.expiresAt()).isEqualTo(NOW + 3_600_000);
      assertThat(next.attempt()).isEqualTo(1);
      assertThat(next.fingerprint()).isEqualTo(OWNER.fingerprint());
    }
  }

  @Test
  void ownerReleasesWhatIsOpen() {
    for (OperationRecord open : List.of(reserved(NOW + 1), reserved(NOW - 1), unknown())) {
      assertThat(OperationRecord.release(open, OWNER, NOW))
          .isEqualTo(new Step<>(null, WriteReply.DONE));
    }
  }

  // ---- fingerprints that are open

  private static final Reservation OPENER = OWNER.with(Fingerprint.OPEN);

  private static Reserved opened(long leaseUntil) {
    return new Reserved(1, OWNER.token(), Fingerprint.OPEN, leaseUntil, LATER, Note.NONE);
  }

  private static Unknown openUnknown() {
    return new Unknown(1, OWNER.token(), Fingerprint.OPEN, NOW, LATER, Note.NONE);
  }

  @Test
  void openUnknownAndLapsedAreTakenOverByAnyRequest() {
    for (OperationRecord record : List.of(openUnknown(), opened(NOW))) {
      for (Fingerprint any :
          List.of(Fixtures.fingerprint(1), Fixtures.fingerprint(2), Fingerprint.OPEN)) {
        Step<ReserveReply> step = OperationRecord.takeOver(record, NEXT.with(any), NOW);
        assertThat(step.reply()).isEqualTo(ReserveReply.ACQUIRED);
        OperationRecord next = java.util.Objects.requireNonNull(step.next());
        assertThat(next.fingerprint()).isEqualTo(any);
        assertThat(next.attempt()).isEqualTo(2);
      }
      assertThat(OperationRecord.takeOver(record, OWNER.following(2), NOW).next()).isSameAs(record);
    }
  }

  @Test
  void openReservationOfALiveLeaseIsNotTakenOver() {
    OperationRecord record = opened(NOW + 1);
    assertThat(OperationRecord.takeOver(record, NEXT, NOW).next()).isSameAs(record);
  }

  @Test
  void openRequestTakesOverNoRecordThatIsKnown() {
    for (OperationRecord record : List.of(unknown(), reserved(NOW))) {
      assertThat(OperationRecord.takeOver(record, NEXT.with(Fingerprint.OPEN), NOW).next())
          .isSameAs(record);
    }
  }

  @Test
  void renewalMakesAFingerprintKnownAndNeverOpenAgain() {
    Step<WriteReply> sealed = OperationRecord.renew(opened(NOW + 1), OWNER, NOW);
    OperationRecord known = java.util.Objects.requireNonNull(sealed.next());
    assertThat(known.fingerprint()).isEqualTo(OWNER.fingerprint());
    Step<WriteReply> late = OperationRecord.renew(known, OPENER, NOW + 1);
    assertThat(late.reply()).isEqualTo(WriteReply.DONE);
    assertThat(java.util.Objects.requireNonNull(late.next()).fingerprint())
        .isEqualTo(OWNER.fingerprint());
    assertThat(OperationRecord.renew(null, OPENER, NOW).next())
        .isEqualTo(
            new Reserved(
                1, OWNER.token(), Fingerprint.OPEN, NOW + 10_000, NOW + 3_610_000, Note.NONE));
  }

  @ParameterizedTest
  @MethodSource("settlements")
  void settlementWritesTheFingerprintThatIsKnownByNow(Settlement settlement) {
    for (OperationRecord record : List.of(opened(NOW + 1), opened(NOW - 1), openUnknown())) {
      for (Reservation owner : List.of(OWNER, OPENER)) {
        Step<WriteReply> step = OperationRecord.settle(record, owner, settlement, NOW);
        assertThat(java.util.Objects.requireNonNull(step.next()).fingerprint())
            .isEqualTo(owner.fingerprint());
      }
    }
  }

  @Test
  void openRecordThatExpiredIsNone() {
    assertThat(OperationRecord.takeOver(openUnknown(), NEXT, LATER))
        .isEqualTo(new Step<>(null, ReserveReply.GONE));
    assertThat(OperationRecord.reserve(opened(NOW), RIVAL, LATER).reply())
        .isEqualTo(ReserveReply.ACQUIRED);
  }

  private static void isUnchanged(OperationRecord record, Step<WriteReply> step, WriteReply reply) {
    assertThat(step.next()).isSameAs(record);
    assertThat(step.reply()).isEqualTo(reply);
  }
}
