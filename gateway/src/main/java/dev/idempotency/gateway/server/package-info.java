/** The client's edge: HTTP/1.1 requests in, responses out, under back-pressure. */
@NullMarked
package dev.idempotency.gateway.server;

import org.jspecify.annotations.NullMarked;
