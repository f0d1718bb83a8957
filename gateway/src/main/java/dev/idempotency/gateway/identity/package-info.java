/**
 * Who calls: verifies tokens with keys that are fetched and rotated, and counts what each caller
 * does. Knows the ports of the centre and the library for tokens.
 */
@NullMarked
package dev.idempotency.gateway.identity;

import org.jspecify.annotations.NullMarked;
