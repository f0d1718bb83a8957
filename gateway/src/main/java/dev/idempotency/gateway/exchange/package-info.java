/**
 * One request to one response: the keyed story and the pass-through story. Knows no network
 * library; every object here belongs to one event loop.
 */
@NullMarked
package dev.idempotency.gateway.exchange;

import org.jspecify.annotations.NullMarked;
