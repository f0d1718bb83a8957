package dev.idempotency.gateway.idempotency;

import dev.idempotency.gateway.http.RequestHead;

/**
 * Finds the key in a request's body.
 *
 * <p>Threading: safe from any thread, returns at once. Failure: never throws for any body; what
 * can't be read in one way only is {@link IdempotencyKey.Reading.Malformed}.
 */
public interface KeyInBody {

  /**
   * The key, absent where the body has none.
   *
   * @param body the whole content as it was sent; not changed
   */
  IdempotencyKey.Reading find(RequestHead head, byte[] body);
}
