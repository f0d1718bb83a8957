package dev.idempotency.gateway.config;

import dev.idempotency.gateway.idempotency.Durability;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What is done so that no record of a route is lost unnoticed, and none stays unknown.
 *
 * @param durability how far writes must have got before they count; none where the store is memory
 * @param guard for how long new operations are refused after the store may have lost records; 0 to
 *     1 h, zero: not at all
 * @param probe how the upstream is asked about operations whose outcome is unknown; not null
 *     exactly where the route says {@code unknown: probe}
 */
public record Safety(Durability durability, Duration guard, @Nullable Probe probe) {

  static final Safety NONE = new Safety(Durability.NONE, Duration.ZERO, null);
}
