package dev.idempotency.gateway.config;

import java.time.Duration;

/**
 * How much each caller may begin on a route, counted by each gateway alone. One of the two limits
 * is more than 0.
 *
 * @param newKeys most operations begun within the time; 0 to 1000000, 0: no limit
 * @param within the time; 1 s to 24 h
 * @param unfinished most operations unfinished at once; 0 to 1000000, 0: no limit
 */
public record Quota(int newKeys, Duration within, int unfinished) {}
