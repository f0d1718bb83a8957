package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.OperationId;

/**
 * Who claims an operation, and by which key.
 *
 * @param route where
 * @param caller whose key it is
 * @param key the key
 */
record Claimant(Route route, Caller caller, IdempotencyKey key) {

  /** The caller's scope, as one string that no other scope has. */
  String scope() {
    return OperationId.ofScope(route.name(), caller.identity()).toString();
  }

  /** The name of the operation. */
  OperationId id() {
    return OperationId.of(route.name(), caller.identity(), key);
  }
}
