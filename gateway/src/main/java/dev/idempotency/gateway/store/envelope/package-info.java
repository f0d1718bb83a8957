/** Puts responses away compressed and encrypted, in front of whatever store keeps them. */
@NullMarked
package dev.idempotency.gateway.store.envelope;

import org.jspecify.annotations.NullMarked;
