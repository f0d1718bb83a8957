package dev.idempotency.gateway.identity;

import java.util.concurrent.CompletableFuture;

/**
 * Where a JSON Web Key Set is.
 *
 * <p>Threading: called from any thread, returns at once, completes on a thread of its own. Failure:
 * the stage fails with an exception whose message is for the log.
 */
interface KeySetSource {

  /** Most bytes that a set may have. */
  int MOST_BYTES = 1 << 20;

  /** The set's bytes, at most {@link #MOST_BYTES}. */
  CompletableFuture<byte[]> fetch();

  /** For the log, without secrets. */
  String place();
}
