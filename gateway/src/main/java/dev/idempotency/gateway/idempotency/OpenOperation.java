package dev.idempotency.gateway.idempotency;

import java.time.Duration;
import java.util.Objects;

/**
 * An operation that is not finished.
 *
 * @param id its name
 * @param operation its record, with the holder's token
 * @param overdue for how long its outcome has been unknown, by its owner's word or by the end of
 *     its lease, by the store's clock; zero where its lease is alive
 */
public record OpenOperation(OperationId id, StoredOperation operation, Duration overdue) {

  public OpenOperation {
    Objects.requireNonNull(operation.holder(), "holder");
  }

  /** The token of its record, which tells it from a later one of the same attempt. */
  public AttemptToken holder() {
    return Objects.requireNonNull(operation.holder());
  }
}
