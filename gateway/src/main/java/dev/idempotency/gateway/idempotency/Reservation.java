package dev.idempotency.gateway.idempotency;

import java.time.Duration;

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
 */
public record Reservation(
    OperationId id,
    Fingerprint fingerprint,
    AttemptToken token,
    long attempt,
    Duration lease,
    Duration retention) {

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

  /** The first attempt of an operation, with a token of its own. */
  public static Reservation first(
      OperationId id, Fingerprint fingerprint, Duration lease, Duration retention) {
    return new Reservation(id, fingerprint, AttemptToken.next(), 1, lease, retention);
  }

  /** The same attempt, now that the request is whole. */
  public Reservation with(Fingerprint known) {
    return new Reservation(id, known, token, attempt, lease, retention);
  }

  /** The attempt after {@code attempt}, with a token of its own. */
  public Reservation following(long attempt) {
    return new Reservation(id, fingerprint, AttemptToken.next(), attempt + 1, lease, retention);
  }
}
