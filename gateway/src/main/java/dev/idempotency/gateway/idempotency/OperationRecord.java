package dev.idempotency.gateway.idempotency;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An operation's record and its legal transitions, as pure functions of the record, the command and
 * the store's time in milliseconds. "No record" is null. Stores either run these or agree with
 * them.
 */
public sealed interface OperationRecord {

  long attempt();

  AttemptToken token();

  Fingerprint fingerprint();

  /** When the record disappears, in milliseconds of the store's clock. */
  long expiresAt();

  /** Where it comes from; {@link Note#NONE} where it is finished. */
  default Note note() {
    return Note.NONE;
  }

  /** The record as a caller sees it at {@code now}. */
  StoredOperation seenAt(long now);

  /**
   * When its outcome became or becomes unknown, in milliseconds of the store's clock, by which the
   * index of operations that are not finished is ordered; -1 where it is finished.
   */
  default long openSince() {
    return -1;
  }

  /** The right to forward, under a lease. */
  record Reserved(
      long attempt,
      AttemptToken token,
      Fingerprint fingerprint,
      long leaseUntil,
      long expiresAt,
      Note note)
      implements OperationRecord {

    @Override
    public long openSince() {
      return leaseUntil;
    }

    @Override
    public StoredOperation seenAt(long now) {
      long left = leaseUntil - now;
      return new StoredOperation(
          attempt,
          fingerprint,
          left > 0
              ? new StoredOperation.InFlight(Duration.ofMillis(left))
              : new StoredOperation.OutcomeUnknown(true),
          note,
          token);
    }
  }

  /** Something was sent and its owner does not know what came of it. */
  record Unknown(
      long attempt,
      AttemptToken token,
      Fingerprint fingerprint,
      long openSince,
      long expiresAt,
      Note note)
      implements OperationRecord {

    @Override
    public StoredOperation seenAt(long now) {
      return new StoredOperation(
          attempt, fingerprint, new StoredOperation.OutcomeUnknown(false), note, token);
    }
  }

  /** Done, with its response. */
  record Completed(
      long attempt,
      AttemptToken token,
      Fingerprint fingerprint,
      StoredResponse response,
      long expiresAt)
      implements OperationRecord {

    @Override
    public StoredOperation seenAt(long now) {
      return new StoredOperation(attempt, fingerprint, new StoredOperation.Completed(response));
    }
  }

  /** Done, without its response. */
  record NotKept(
      long attempt, AttemptToken token, Fingerprint fingerprint, int status, long expiresAt)
      implements OperationRecord {

    @Override
    public StoredOperation seenAt(long now) {
      return new StoredOperation(attempt, fingerprint, new StoredOperation.NotKept(status));
    }
  }

  /**
   * What a command makes of a record.
   *
   * @param next the record afterwards; the same object where nothing changes, null where none is
   *     left
   * @param reply what the caller is told
   */
  record Step<R>(@Nullable OperationRecord next, R reply) {}

  /** {@link IdempotencyStore#reserve}. */
  static Step<ReserveReply> reserve(
      @Nullable OperationRecord current, Reservation reservation, long now) {
    if (current == null || current.expiresAt() <= now) {
      return new Step<>(reserved(reservation, now), ReserveReply.ACQUIRED);
    }
    if (current instanceof Reserved && owns(reservation, current)) {
      return new Step<>(reserved(reservation, now), ReserveReply.ACQUIRED);
    }
    return new Step<>(current, new ReserveReply.Existing(current.seenAt(now)));
  }

  /** {@link IdempotencyStore#takeOver}. */
  static Step<ReserveReply> takeOver(
      @Nullable OperationRecord current, Reservation reservation, long now) {
    if (current == null || current.expiresAt() <= now) {
      return new Step<>(null, ReserveReply.GONE);
    }
    StoredOperation seen = current.seenAt(now);
    boolean retried = current instanceof Reserved && owns(reservation, current);
    boolean free =
        seen.state() instanceof StoredOperation.OutcomeUnknown
            && current.attempt() == reservation.attempt() - 1
            && (reservation.follows() == null || reservation.follows().equals(current.token()))
            // An open one is of a request that never was whole: any may follow it.
            && (current.fingerprint().isOpen()
                || current.fingerprint().equals(reservation.fingerprint()));
    return retried || free
        ? new Step<>(reserved(reservation, now), ReserveReply.ACQUIRED)
        : new Step<>(current, new ReserveReply.Existing(seen));
  }

  /** {@link IdempotencyStore#renew}. */
  static Step<WriteReply> renew(
      @Nullable OperationRecord current, Reservation reservation, long now) {
    if (current == null || current.expiresAt() <= now) {
      return new Step<>(reserved(reservation, now), WriteReply.DONE);
    }
    return current instanceof Reserved && owns(reservation, current)
        ? new Step<>(reserved(knowing(reservation, current), now), WriteReply.DONE)
        : new Step<>(current, new WriteReply.Fenced(current.seenAt(now)));
  }

  /** A renewal that was sent before the fingerprint was known does not make it unknown again. */
  private static Reservation knowing(Reservation reservation, OperationRecord current) {
    return reservation.fingerprint().isOpen()
        ? reservation.with(current.fingerprint())
        : reservation;
  }

  /** {@link IdempotencyStore#settle}. */
  static Step<WriteReply> settle(
      @Nullable OperationRecord current, Reservation reservation, Settlement settlement, long now) {
    if (current == null || current.expiresAt() <= now) {
      return new Step<>(settled(reservation, settlement, now), WriteReply.DONE);
    }
    if (!owns(reservation, current)) {
      return new Step<>(current, new WriteReply.Fenced(current.seenAt(now)));
    }
    boolean open = current instanceof Reserved || current instanceof Unknown;
    return new Step<>(open ? settled(reservation, settlement, now) : current, WriteReply.DONE);
  }

  /** {@link IdempotencyStore#release}. */
  static Step<WriteReply> release(
      @Nullable OperationRecord current, Reservation reservation, long now) {
    if (current == null || current.expiresAt() <= now) {
      return new Step<>(null, WriteReply.DONE);
    }
    boolean open = current instanceof Reserved || current instanceof Unknown;
    return open && owns(reservation, current)
        ? new Step<>(null, WriteReply.DONE)
        : new Step<>(current, new WriteReply.Fenced(current.seenAt(now)));
  }

  /** {@link OpenOperations#resolve}. */
  static Step<ResolveReply> resolve(
      @Nullable OperationRecord current, Resolution resolution, long now) {
    if (current == null || current.expiresAt() <= now) {
      return new Step<>(null, ResolveReply.GONE);
    }
    if (current.attempt() == resolution.attempt()
        && current.token().equals(resolution.token())
        && !(current instanceof Reserved)) {
      // Sent again: what is there is its own work.
      return new Step<>(current, ResolveReply.DONE);
    }
    StoredOperation seen = current.seenAt(now);
    return resolution.isFor(current.attempt(), current.token())
            && seen.state() instanceof StoredOperation.OutcomeUnknown
        ? new Step<>(resolved(current, resolution, now), ResolveReply.DONE)
        : new Step<>(current, new ResolveReply.Refused(seen));
  }

  private static @Nullable OperationRecord resolved(
      OperationRecord current, Resolution resolution, long now) {
    long attempt = current.attempt();
    Fingerprint fingerprint = current.fingerprint();
    long expiresAt = now + resolution.retention().toMillis();
    Resolution.Action action = resolution.action();
    if (action instanceof Resolution.Complete complete) {
      return new Completed(
          attempt, resolution.token(), fingerprint, complete.response(), expiresAt);
    }
    if (action instanceof Resolution.Release) {
      return null;
    }
    if (current instanceof Unknown && action instanceof Resolution.MarkUnknown) {
      return current;
    }
    // Its former owner stays the holder: should its response come after all, that is the outcome.
    return new Unknown(
        attempt,
        current.token(),
        fingerprint,
        current.openSince(),
        action instanceof Resolution.Extend ? expiresAt : current.expiresAt(),
        current.note());
  }

  private static boolean owns(Reservation reservation, OperationRecord current) {
    return current.attempt() == reservation.attempt()
        && current.token().equals(reservation.token());
  }

  private static Reserved reserved(Reservation reservation, long now) {
    long leaseUntil = now + reservation.lease().toMillis();
    return new Reserved(
        reservation.attempt(),
        reservation.token(),
        reservation.fingerprint(),
        leaseUntil,
        // The record outlives its lease by the whole retention.
        leaseUntil + reservation.retention().toMillis(),
        reservation.note());
  }

  private static OperationRecord settled(Reservation reservation, Settlement settlement, long now) {
    long attempt = reservation.attempt();
    AttemptToken token = reservation.token();
    Fingerprint fingerprint = reservation.fingerprint();
    long expiresAt = now + reservation.retention().toMillis();
    if (settlement instanceof Settlement.Completed completed) {
      return new Completed(attempt, token, fingerprint, completed.response(), expiresAt);
    }
    if (settlement instanceof Settlement.NotKept notKept) {
      return new NotKept(attempt, token, fingerprint, notKept.status(), expiresAt);
    }
    return new Unknown(attempt, token, fingerprint, now, expiresAt, reservation.note());
  }
}
