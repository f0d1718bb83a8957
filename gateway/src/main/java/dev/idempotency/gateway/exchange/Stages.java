package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** Listens to the store's stages, so that no exception is lost in a callback. */
final class Stages {

  private Stages() {}

  /** Calls one of the two; what they throw is a bug and is reported. */
  static <T> void when(
      CompletionStage<T> stage,
      Consumer<? super T> replied,
      Consumer<StoreUnavailableException> failed,
      ExchangeListener listener) {
    stage.whenComplete(
        (reply, error) -> {
          try {
            if (error == null) {
              replied.accept(reply);
            } else {
              StoreUnavailableException cause = translated(error);
              listener.storeFailed(String.valueOf(cause.getMessage()));
              failed.accept(cause);
            }
          } catch (Throwable e) { // also an Error: the stage would swallow it
            listener.bug(e);
          }
        });
  }

  private static StoreUnavailableException translated(Throwable error) {
    Throwable cause =
        error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    return cause instanceof StoreUnavailableException e
        ? e
        : new StoreUnavailableException("the store failed: " + cause, cause);
  }
}
