package dev.idempotency.gateway.config;

import java.time.Duration;

/**
 * How duplicates wait for an operation in flight.
 *
 * @param patience how long each waits; zero where it is refused at once
 * @param longest how long those wait at most that ask for it themselves ({@code Prefer: wait}, RFC
 *     7240); patience to 5 min, zero: asking changes nothing
 * @param perKey how many may wait for one operation, over all event loops; 1 to 100000
 */
public record Waiting(Duration patience, Duration longest, int perKey) {}
