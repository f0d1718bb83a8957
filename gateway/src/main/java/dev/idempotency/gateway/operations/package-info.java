/**
 * What the people who run the gateway see: metrics, the log, the access log, health and readiness.
 */
@NullMarked
package dev.idempotency.gateway.operations;

import org.jspecify.annotations.NullMarked;
