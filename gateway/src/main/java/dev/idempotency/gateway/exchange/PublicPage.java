package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.Response;

/**
 * What the gateway says of itself to everybody.
 *
 * <p>Threading: called on all event loops at once, returns at once. Failure: never throws.
 */
public interface PublicPage {

  /**
   * The page for one request, with header fields of its own.
   *
   * @param request the request's fields
   */
  Response answer(Headers request);
}
