package dev.idempotency.gateway.idempotency;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An attempt's claim on an operation: what the owner sends with each of its commands.
 *
 * @param id the operation
 * @param fingerprint what the request asks for; {@link Fingerprint#OPEN} while its body is on its
 *     way
 * @param token this attempt's mark
 * @param attempt the number of the attempt, from 1 on: the fencing token
 * @param lease how long the reservation is believed to have a living owner, counted by the store's
 *     clock from the moment it executes the command; at least 1 ms
 * @param retention how long the record lives after it was last written; at least the lease
 * @param durability how far its writes must have got before they count
 * @param note what the record says of its origin while the operation is not finished
 * @param follows for a take-over, the token of the record that was seen; null where only its
 *     attempt is known. The same key released and begun anew has the same attempt again
 */
public record Reservation(
    OperationId id,
    Fingerprint fingerprint,
    AttemptToken token,
    long attempt,
    Duration lease,
    Duration retention,
    Durability durability,
    Note note,
    @Nullable AttemptToken follows) {

  public Reservation {
    if (attempt < 1) {
      throw new IllegalArgumentException("attempt " + attempt + ", expected: 1 or more");
    }
    if (lease.toMillis() < 1) {
      throw new IllegalArgumentException("lease " + lease + ", expected: 1 ms or more");
    }
    if (retention.compareTo(lease) < 0) {
      throw new IllegalArgumentException("retention " + retention + " is shorter than the lease");
    }
  }

  /** Done as soon as the store has executed it, and with nothing to say of its origin. */
  public Reservation(
      OperationId id,
      Fingerprint fingerprint,
      AttemptToken token,
      long attempt,
      Duration lease,
      Duration retention) {
    this(id, fingerprint, token, attempt, lease, retention, Durability.NONE, Note.NONE, null);
  }

  /** The first attempt of an operation, with a token of its own. */
  public static Reservation first(
      OperationId id, Fingerprint fingerprint, Duration lease, Duration retention) {
    return first(id, fingerprint, lease, retention, Durability.NONE, Note.NONE);
  }

  /** The first attempt of an operation, with a token of its own. */
  public static Reservation first(
      OperationId id,
      Fingerprint fingerprint,
      Duration lease,
      Duration retention,
      Durability durability,
      Note note) {
    return new Reservation(
        id, fingerprint, AttemptToken.next(), 1, lease, retention, durability, note, null);
  }

  /** The same attempt, now that the request is whole. */
  public Reservation with(Fingerprint known) {
    return new Reservation(id, known, token, attempt, lease, retention, durability, note, follows);
  }

  /** The same attempt, whose writes must get that far. */
  public Reservation with(Durability wanted) {
    return new Reservation(
        id, fingerprint, token, attempt, lease, retention, wanted, note, follows);
  }

  /** The same attempt, whose record says where it comes from. */
  public Reservation with(Note origin) {
    return new Reservation(
        id, fingerprint, token, attempt, lease, retention, durability, origin, follows);
  }

  /** The attempt after {@code attempt}, with a token of its own. */
  public Reservation following(long attempt) {
    return following(attempt, null);
  }

  /** The attempt after {@code attempt} of the record of that holder, with a token of its own. */
  public Reservation following(long attempt, @Nullable AttemptToken holder) {
    return new Reservation(
        id,
        fingerprint,
        AttemptToken.next(),
        attempt + 1,
        lease,
        retention,
        durability,
        note,
        holder);
  }
}
