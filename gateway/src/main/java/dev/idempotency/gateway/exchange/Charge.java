package dev.idempotency.gateway.exchange;

import org.jspecify.annotations.Nullable;

/**
 * A part of the budget that an array of bytes takes, given back when its last holder lets go.
 *
 * <p>Threading: event loop of the exchange only.
 */
final class Charge {

  private final BodyBudget budget;
  private int bytes;
  private int holders = 1;

  private Charge(BodyBudget budget, int bytes) {
    this.budget = budget;
    this.bytes = bytes;
  }

  /** A charge with one holder, or null where so much is not left. */
  static @Nullable Charge of(BodyBudget budget, int bytes) {
    return budget.take(bytes) ? new Charge(budget, bytes) : null;
  }

  /** Takes more; false where so much is not left, and then nothing changes. */
  boolean growTo(int whole) {
    if (!budget.take(whole - bytes, whole)) {
      return false;
    }
    bytes = whole;
    return true;
  }

  boolean isShared() {
    return holders > 1;
  }

  /** One more holder, who releases for itself. */
  Charge share() {
    holders++;
    return this;
  }

  /** One holder lets go. */
  void release() {
    if (--holders == 0) {
      budget.giveBack(bytes);
    }
  }
}
