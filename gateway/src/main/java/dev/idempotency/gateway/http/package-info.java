/** Values of HTTP: heads, headers, problem details and the hop-by-hop rule. Knows only the JDK. */
@NullMarked
package dev.idempotency.gateway.http;

import org.jspecify.annotations.NullMarked;
