package dev.idempotency.gateway.idempotency;

/** How the owner of an attempt leaves the record behind, other than by releasing it. */
public sealed interface Settlement {

  /** The outcome is known and its response is kept. */
  record Completed(StoredResponse response) implements Settlement {}

  /**
   * The outcome is known, the response is not kept: it is too large, or the request was not seen
   * whole.
   *
   * @param status the status that the client was told
   */
  record NotKept(int status) implements Settlement {}

  /** The request went out and what became of it is not known. */
  record Unknown() implements Settlement {}
}
