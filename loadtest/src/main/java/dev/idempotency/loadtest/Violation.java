package dev.idempotency.loadtest;

/**
 * A promise that was not kept.
 *
 * @param rule which one
 * @param key the key of the operation
 * @param seen what was seen instead
 */
record Violation(Rule rule, String key, String seen) {}
