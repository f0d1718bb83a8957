package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.StoreHealth;
import java.util.concurrent.CompletionStage;

/**
 * The way of commands to Redis, be it one server or many.
 *
 * <p>Threading: from any thread; stages of commands complete on the event loop.
 */
interface Link extends StoreHealth {

  /** Connects in the background, and again whenever that is needed. */
  void open();

  /** Sends a command, or fails it; its stage ends within the deadline and an eighth of it. */
  <R> CompletionStage<R> send(Call<R> call);

  /**
   * For how many milliseconds the server of that key has surely forgotten nothing; {@link
   * Long#MAX_VALUE} where that is not watched. On the event loop.
   */
  long sinceLoss(byte[] key);

  /** Ends it; what is under way fails. */
  CompletionStage<Void> close();
}
