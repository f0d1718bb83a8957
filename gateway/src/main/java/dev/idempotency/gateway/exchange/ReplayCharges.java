package dev.idempotency.gateway.exchange;

import org.jspecify.annotations.Nullable;

/**
 * The charges of responses that are replayed: where many who waited get the same bytes at once,
 * these count once.
 *
 * <p>Threading: event loop of the exchanges only.
 */
final class ReplayCharges {

  private final BodyBudget budget;
  private boolean many;
  private byte @Nullable [] body;
  private @Nullable Charge charge;

  ReplayCharges(BodyBudget budget) {
    this.budget = budget;
  }

  /** Until {@link #end} the same array is charged once. */
  void begin() {
    many = true;
  }

  void end() {
    many = false;
    body = null;
    if (charge != null) {
      charge.release();
      charge = null;
    }
  }

  /** A charge for that array, or null where so much is not left. */
  @Nullable Charge of(byte[] bytes) {
    Charge known = charge;
    if (known != null && body == bytes) {
      return known.share();
    }
    Charge made = Charge.of(budget, bytes.length);
    if (many && made != null && known == null) {
      charge = made.share();
      body = bytes;
    }
    return made;
  }
}
