/** The store in Redis: any number of gateways share one set of records. */
@NullMarked
package dev.idempotency.gateway.store.redis;

import org.jspecify.annotations.NullMarked;
