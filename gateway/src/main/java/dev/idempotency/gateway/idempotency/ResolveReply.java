package dev.idempotency.gateway.idempotency;

/** What a store answers to a {@link Resolution}. */
public sealed interface ResolveReply {

  /** The record is as the resolution wants it. */
  record Done() implements ResolveReply {}

  /** The operation is not unknown, or another attempt holds it: nothing was written. */
  record Refused(StoredOperation current) implements ResolveReply {}

  /** There is no record. */
  record Gone() implements ResolveReply {}

  ResolveReply DONE = new Done();
  ResolveReply GONE = new Gone();
}
