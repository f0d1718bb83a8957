package dev.idempotency.gateway.operations;

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
   * @param draining whether the gateway is about to stop
   */
  record State(boolean ready, boolean storeUp, String storeDetail, boolean draining) {}
}
