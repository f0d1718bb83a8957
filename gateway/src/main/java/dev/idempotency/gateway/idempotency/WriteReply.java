package dev.idempotency.gateway.idempotency;

/** What a store answers to a write by the owner of an attempt. */
public sealed interface WriteReply {

  /** The record is as the owner wanted it. */
  record Done() implements WriteReply {}

  /**
   * Another attempt holds the record, or it is already settled: nothing was written.
   *
   * @param current the record as it is
   */
  record Fenced(StoredOperation current) implements WriteReply {}

  WriteReply DONE = new Done();
}
