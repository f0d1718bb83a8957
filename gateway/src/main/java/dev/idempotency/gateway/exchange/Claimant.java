package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.OperationId;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Who claims an operation, and by which key.
 *
 * @param route where
 * @param caller whose key it is
 * @param key the key; null where none is known, so that only the request itself can name the
 *     operation
 */
record Claimant(Route route, Caller caller, @Nullable IdempotencyKey key) {

  /** The same with the key that was found meanwhile. */
  Claimant with(IdempotencyKey found) {
    return new Claimant(route, caller, found);
  }

  /** Whether the request itself names the operation. */
  boolean isDerived() {
    return key == null;
  }

  /**
   * Whether it may: the route wants it, and says who calls. Callers that nobody can tell apart
   * would get each other's answers.
   */
  boolean mayDerive() {
    List<@Nullable String> identity = caller.identity();
    return route.keys().derives() && identity.stream().anyMatch(Claimant::says);
  }

  private static boolean says(@Nullable String part) {
    return part != null && !part.isBlank();
  }

  /**
   * The name of the operation.
   *
   * @param request what is asked for, by the rule of today; another rule or secret derives another
   *     name
   */
  OperationId id(Fingerprint request) {
    return key == null
        ? OperationId.derived(route.name(), caller.identity(), request)
        : OperationId.of(route.name(), caller.identity(), key);
  }

  /** How long its record lives; at least the lease, as a reservation demands. */
  Duration retention() {
    if (key != null) {
      return route.retention();
    }
    Duration window = route.keys().derived();
    return window.compareTo(route.lease()) < 0 ? route.lease() : window;
  }
}
