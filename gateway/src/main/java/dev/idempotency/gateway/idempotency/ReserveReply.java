package dev.idempotency.gateway.idempotency;

/** What a store answers to a reservation or a take-over. */
public sealed interface ReserveReply {

  /** The caller's attempt is the current one, and its lease runs from now on. */
  record Acquired() implements ReserveReply {}

  /** Somebody else's record is there. */
  record Existing(StoredOperation operation) implements ReserveReply {}

  /** There is no record to take over: it was released or its retention ended. */
  record Gone() implements ReserveReply {}

  ReserveReply ACQUIRED = new Acquired();
  ReserveReply GONE = new Gone();
}
