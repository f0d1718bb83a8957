package dev.idempotency.gateway.idempotency;

/** What a route does with a duplicate of an operation whose outcome is unknown. */
public enum UnknownPolicy {
  /** Never forwards it until somebody resolves it or the retention ends. */
  HOLD,
  /** Forwards it as the next attempt: the upstream dedupes by the key itself. */
  RETRY,
  /** Asks the upstream what became of it, and goes by the answer. */
  PROBE
}
