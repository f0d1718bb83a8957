package dev.idempotency.gateway.idempotency;

import dev.idempotency.gateway.http.RequestHead;

/**
 * Makes fingerprints.
 *
 * <p>Threading: safe from any thread, returns at once. Failure: never throws for any request; what
 * it cannot read as data it hashes as raw bytes. Time and memory are linear in the request.
 */
public interface Fingerprinter {

  /**
   * The fingerprint of a request.
   *
   * @param body the whole content as it was sent, before any content coding is undone; not changed
   */
  Fingerprint fingerprint(RequestHead head, byte[] body);
}
