/**
 * A demo upstream: a service that takes orders, counts what really happened per key and misbehaves
 * when it is asked to. Quick start, tests and load tests stand on it. Knows Netty and nothing of
 * the gateway's rules, as a real upstream would.
 */
@NullMarked
package dev.idempotency.gateway.demo;

import org.jspecify.annotations.NullMarked;
