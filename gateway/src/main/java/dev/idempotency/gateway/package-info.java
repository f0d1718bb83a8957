/**
 * Wires the parts, starts them, drains and stops them. Nothing knows this package; it may block.
 */
@NullMarked
package dev.idempotency.gateway;

import org.jspecify.annotations.NullMarked;
