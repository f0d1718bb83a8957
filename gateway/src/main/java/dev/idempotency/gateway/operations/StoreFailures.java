package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import java.util.concurrent.CompletionException;

/** Tells the store's failures from bugs. */
final class StoreFailures {

  private StoreFailures() {}

  static boolean is(Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    return cause instanceof StoreUnavailableException;
  }
}
