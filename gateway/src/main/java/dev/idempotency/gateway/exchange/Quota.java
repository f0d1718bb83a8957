package dev.idempotency.gateway.exchange;

import java.time.Duration;

/**
 * How many operations each caller may begin and have unfinished in this gateway.
 *
 * <p>Threading: safe from any thread, returns at once.
 */
public interface Quota {

  /**
   * Asks for a place for one more operation.
   *
   * @param caller the caller's scope, as one string that no other scope has
   */
  Answer take(String caller);

  /** What came of it. */
  sealed interface Answer {

    /** There is a place. */
    non-sealed interface Place extends Answer {

      /** The operation was not a new one: nothing is counted. */
      void giveBack();

      /** The operation has ended: it is counted as begun, and no more as unfinished. */
      void end();
    }

    /**
     * There is none.
     *
     * @param retryAfter when there may be one
     * @param reason for the client
     */
    record Spent(Duration retryAfter, String reason) implements Answer {}
  }
}
