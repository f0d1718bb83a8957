package dev.idempotency.gateway.operations;

/**
 * What an operator is answered.
 *
 * @param action as the metric names it; one of few
 */
record OperatorAnswer(String action, AdminResponse response) {}
