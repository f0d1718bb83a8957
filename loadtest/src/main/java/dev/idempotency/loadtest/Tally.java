package dev.idempotency.loadtest;

/**
 * What the upstream's ledger says of one key.
 *
 * @param effects how often the operation happened
 * @param attempts how many requests came
 */
record Tally(long effects, long attempts) {

  static final Tally NONE = new Tally(0, 0);

  /** What came on top of an earlier count. */
  Tally minus(Tally earlier) {
    return new Tally(effects - earlier.effects, attempts - earlier.attempts);
  }
}
