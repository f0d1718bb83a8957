package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.idempotency.StoredResponse;
import java.util.Locale;

/** What an upstream said about an operation when it was asked. */
sealed interface ProbeFinding {

  /** It was done, and this is its response. */
  record Completed(StoredResponse response) implements ProbeFinding {}

  /** It never happened. */
  record Never() implements ProbeFinding {}

  /**
   * Nothing that helps.
   *
   * @param why for the log
   */
  record Nothing(String why) implements ProbeFinding {}

  /** For metrics: {@code completed}, {@code never} or {@code nothing}. */
  default String label() {
    return getClass().getSimpleName().toLowerCase(Locale.ROOT);
  }
}
