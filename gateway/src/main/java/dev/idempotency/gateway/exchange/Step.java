package dev.idempotency.gateway.exchange;

/**
 * The steps of an exchange with a key, between any two of which a process may die. The names are
 * for tests that make it die there.
 */
public enum Step {
  /** The store is about to be asked for the operation. */
  RESERVING,
  /** The operation is this exchange's. */
  RESERVED,
  /** The lease is sure, and the request is about to be sent. */
  SENDING,
  /** The request, or its head, was handed to the connection. */
  SENT,
  /** The store has let the lease run anew. */
  RENEWED,
  /** The response is whole, and the record is about to be written. */
  RESPONDED,
  /** The record is written, and the client knows nothing yet. */
  SETTLED,
  /** The response was handed to the client's connection. */
  ANSWERED
}
