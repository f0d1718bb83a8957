/**
 * The file, the flags and the environment as records. Everything is validated before anything is
 * started: what leaves this package is complete, and every default is filled in.
 */
@NullMarked
package dev.idempotency.gateway.config;

import org.jspecify.annotations.NullMarked;
