/**
 * A load generator that checks while it measures: requests start at a fixed rate whatever the
 * answers do, each answer is compared with what the contract promises, and at the end the
 * upstream's ledger says whether every operation happened exactly once.
 */
@NullMarked
package dev.idempotency.loadtest;

import org.jspecify.annotations.NullMarked;
