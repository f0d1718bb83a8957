/**
 * What both network edges share: the choice of transport, header fields and chunks as the codec has
 * them.
 */
@NullMarked
package dev.idempotency.gateway.transport;

import org.jspecify.annotations.NullMarked;
