/**
 * The contract as pure rules: keys, scopes, fingerprints, records and their legal transitions, and
 * the ports that stores and fingerprinters fill.
 */
@NullMarked
package dev.idempotency.gateway.idempotency;

import org.jspecify.annotations.NullMarked;
