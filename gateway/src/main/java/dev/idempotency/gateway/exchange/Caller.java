package dev.idempotency.gateway.exchange;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Who makes a request.
 *
 * @param identity the parts of the identity, in the order of the route's scope; null for one that
 *     is not there
 */
record Caller(List<@Nullable String> identity) {

  /** Somebody who has nothing here. */
  static final Caller ANYBODY = new Caller(List.of());
}
