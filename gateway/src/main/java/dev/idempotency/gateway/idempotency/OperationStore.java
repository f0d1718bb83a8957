package dev.idempotency.gateway.idempotency;

/** Everything that a store does. */
public interface OperationStore
    extends IdempotencyStore, OpenOperations, SettlementNotices, ResponsePieces {}
