package dev.idempotency.gateway.testing.planted.upstream;

/** Breaks a law: lives by the clock of its machine. */
final class ReadsTheClock {

  private ReadsTheClock() {}

  static long deadline() {
    return System.currentTimeMillis() + 1_000;
  }
}
