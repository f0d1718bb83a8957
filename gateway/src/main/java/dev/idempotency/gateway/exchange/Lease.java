package dev.idempotency.gateway.exchange;

import java.time.Duration;

/**
 * What an owner knows of its lease, by its own monotonic clock.
 *
 * <p>The store counts the lease from the moment it executes the command; the owner counts from the
 * moment it sent the command, which is earlier. So the owner never believes in a lease that the
 * store has seen end, however slow the way is and whatever the clocks say.
 */
final class Lease {

  private final long nanos;
  private long goodUntil;
  private boolean asking;
  private boolean lost;
  private long nextTry;

  Lease(Duration length, long sentAt) {
    this.nanos = length.toNanos();
    this.goodUntil = sentAt + nanos;
    this.nextTry = sentAt;
  }

  /** Whether the lease is alive and will be for a quarter of its length. */
  boolean isSure(long now) {
    return !lost && goodUntil - now > nanos / 4;
  }

  /** Whether it is time to renew: two thirds are left, or less, and no renewal is under way. */
  boolean isDue(long now) {
    return !lost && !asking && now - nextTry >= 0 && goodUntil - now <= nanos / 3 * 2;
  }

  /** A renewal was sent. */
  void asked() {
    asking = true;
  }

  /** A renewal that was sent at that time has been granted. */
  void renewed(long sentAt) {
    asking = false;
    goodUntil = Math.max(goodUntil, sentAt + nanos);
  }

  /** Another attempt holds the record: there is nothing left to renew. */
  void lost() {
    asking = false;
    lost = true;
  }

  /** A renewal failed; it is due again after a tenth of the lease. */
  void failed(long now) {
    asking = false;
    nextTry = now + nanos / 10;
  }
}
