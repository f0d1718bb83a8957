package dev.idempotency.gateway.store.redis;

import io.lettuce.core.api.StatefulRedisConnection;
import java.util.concurrent.CompletionStage;

/** Where a connector connects to; on the event loop. */
interface Target {

  /** For the log and for errors, at the beginning of a sentence. */
  String name();

  /** A new connection, its hands shaken; never throws. */
  CompletionStage<StatefulRedisConnection<byte[], byte[]>> connect();

  /** A name under the prefix that no operation has, to see whether the server takes writes. */
  byte[] probeKey();

  /** Whether a server that says this about the probe can be used all the same. */
  default boolean isSignOfLife(String error) {
    return false;
  }
}
