/** The store in PostgreSQL, for those whose truth is SQL. */
@NullMarked
package dev.idempotency.gateway.store.postgres;

import org.jspecify.annotations.NullMarked;
