/** The upstream's edge: pools of connections, requests out, responses in, nothing sent twice. */
@NullMarked
package dev.idempotency.gateway.upstream;

import org.jspecify.annotations.NullMarked;
