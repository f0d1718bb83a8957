package dev.idempotency.loadtest;

/** What a run takes for a failure of the service rather than of the contract. */
enum Strictness {
  /** Nothing is to go wrong: every operation is answered and happens exactly once. */
  NOTHING_FAILS,
  /**
   * Things are being broken on purpose: no answer, 5xx, 409 {@code outcome-unknown} and 429 are
   * counted as failures; what is answered must still be right, and nothing may happen twice.
   */
  FAILURES_ALLOWED
}
