package dev.idempotency.gateway.idempotency;

/** Whether a store can be used, for readiness; answered from memory, from any thread. */
public interface StoreHealth {

  /** Whether commands are expected to succeed now. */
  boolean reachable();

  /** Why, in a few words for the log; without secrets. */
  String detail();
}
