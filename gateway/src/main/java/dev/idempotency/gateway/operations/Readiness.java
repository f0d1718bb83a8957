package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.idempotency.StoreFinding;
import java.util.List;

/**
 * Whether the gateway should be sent requests.
 *
 * <p>Threading: asked from any thread, answers at once. Failure: never throws.
 */
@FunctionalInterface
public interface Readiness {

  /** How things are now. */
  State now();

  /**
   * How things are.
   *
   * @param ready whether requests should come here
   * @param storeUp whether the store is believed to answer
   * @param storeDetail why, in a few words without secrets
   * @param findings what threatens the records; does not make the gateway unready
   * @param draining whether the gateway is about to stop
   */
  record State(
      boolean ready,
      boolean storeUp,
      String storeDetail,
      List<StoreFinding> findings,
      boolean draining) {

    /** With nothing that threatens the records. */
    public State(boolean ready, boolean storeUp, String storeDetail, boolean draining) {
      this(ready, storeUp, storeDetail, List.of(), draining);
    }
  }
}
