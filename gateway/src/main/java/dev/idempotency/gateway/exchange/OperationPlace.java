package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.exchange.Quota.Answer;
import org.jspecify.annotations.Nullable;

/** The place that one request takes of its caller's quota; given back once, however it ends. */
final class OperationPlace {

  /** Of a route without a quota. */
  private static final OperationPlace FREE = new OperationPlace(null, "");

  private final @Nullable Quota quota;
  private final String caller;
  private Answer.@Nullable Place taken;

  private OperationPlace(@Nullable Quota quota, String caller) {
    this.quota = quota;
    this.caller = caller;
  }

  static OperationPlace of(Claimant claimant) {
    Quota quota = claimant.route().callers().quota();
    return quota == null ? FREE : new OperationPlace(quota, claimant.scope());
  }

  /** Takes a place, unless one is taken already; says where none is left. */
  Answer.@Nullable Spent take() {
    if (quota == null || taken != null) {
      return null;
    }
    Answer answer = quota.take(caller);
    if (answer instanceof Answer.Spent spent) {
      return spent;
    }
    taken = (Answer.Place) answer;
    return null;
  }

  /** The operation was not a new one, or never began. */
  void giveBack() {
    Answer.Place place = taken;
    if (place != null) {
      taken = null;
      place.giveBack();
    }
  }

  /** The operation has ended. */
  void end() {
    Answer.Place place = taken;
    if (place != null) {
      taken = null;
      place.end();
    }
  }
}
