/**
 * The command {@code gateway operations}: asks the admin listener of a running gateway what
 * operators ask, and prints the answers. Knows the admin API from outside and nothing of the
 * gateway; runs in a process of its own and may block there.
 */
@NullMarked
package dev.idempotency.gateway.cli;

import org.jspecify.annotations.NullMarked;
