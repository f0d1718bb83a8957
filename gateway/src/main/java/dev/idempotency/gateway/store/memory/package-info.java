/** The store inside the process: nothing to install, nothing survives a restart. */
@NullMarked
package dev.idempotency.gateway.store.memory;

import org.jspecify.annotations.NullMarked;
