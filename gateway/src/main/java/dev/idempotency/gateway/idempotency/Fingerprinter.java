package dev.idempotency.gateway.idempotency;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.RequestHead;

/**
 * Makes fingerprints.
 *
 * <p>Threading: safe from any thread, returns at once. Failure: never throws for any request; what
 * it cannot read as data it hashes as raw bytes. Time and memory are linear in the request.
 */
public interface Fingerprinter {

  /**
   * The fingerprints of a request.
   *
   * @param body the whole content as it was sent, before any content coding is undone; not changed,
   *     and needed for as long as the fingerprints are asked
   * @return {@link Fingerprints#TOO_LARGE} where undoing the content coding gives too many bytes
   */
  Fingerprints fingerprint(RequestHead head, byte[] body);

  /**
   * Begins the fingerprint of a request whose body comes in pieces and is not kept. The body counts
   * as the bytes that came, however they were cut.
   */
  Running begin(RequestHead head);

  /** A fingerprint in the making. One request's, and one thread's at a time. */
  interface Running {

    /**
     * No record is there to be compared with, so that earlier rules need not be followed. Called
     * before the first {@link #add}, or not at all.
     */
    default void beginsAnew() {}

    /** The next bytes of the body; the chunk stays the caller's. */
    void add(Chunk chunk);

    /** The body is complete. Called once. */
    Fingerprints end();
  }
}
