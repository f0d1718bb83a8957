package dev.idempotency.gateway.idempotency;

import java.util.List;

/** Whether a store can be used, for readiness; answered from memory, from any thread. */
public interface StoreHealth {

  /** Whether commands are expected to succeed now. */
  boolean reachable();

  /** Why, in a few words for the log; without secrets. */
  String detail();

  /** What threatens the records, in no order; empty where all is well. */
  default List<StoreFinding> findings() {
    return List.of();
  }

  /** How many keys the store has thrown away for want of memory since it is watched. */
  default long evictions() {
    return 0;
  }
}
