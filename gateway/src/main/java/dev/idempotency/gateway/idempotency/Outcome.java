package dev.idempotency.gateway.idempotency;

/** What became of an attempt. */
public enum Outcome {
  /** The operation ran; its response is kept. */
  COMPLETED,
  /** Nothing happened; the same key may be tried again. */
  RELEASED,
  /** It is not known whether something happened. */
  UNKNOWN
}
