package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Takes out of a response what must not be stored.
 *
 * <p>Threading: safe from any thread, returns at once. Failure: never throws.
 */
public interface Redactor {

  /**
   * The body without what must not be stored; null where that can't be told, so that nothing of it
   * may be stored.
   *
   * @param headers the response's
   * @param body as the upstream sent it; not changed
   */
  byte @Nullable [] redact(Headers headers, byte[] body);

  /** What is taken out, for people: JSON pointers. */
  String described();
}
