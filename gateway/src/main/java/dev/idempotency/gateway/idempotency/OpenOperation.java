package dev.idempotency.gateway.idempotency;

import java.time.Duration;

/**
 * An operation that is not finished.
 *
 * @param id its name
 * @param holder the token of its record, which tells it from a later one of the same attempt
 * @param operation its record
 * @param overdue for how long its outcome has been unknown, by its owner's word or by the end of
 *     its lease, by the store's clock; zero where its lease is alive
 */
public record OpenOperation(
    OperationId id, AttemptToken holder, StoredOperation operation, Duration overdue) {}
