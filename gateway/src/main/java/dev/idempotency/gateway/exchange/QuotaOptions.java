package dev.idempotency.gateway.exchange;

import java.time.Duration;

/**
 * What each caller may do on a route, counted by this gateway alone.
 *
 * @param newKeys most operations begun within the time; 0: no limit
 * @param within the time; more than zero
 * @param unfinished most operations unfinished at once; 0: no limit
 */
public record QuotaOptions(int newKeys, Duration within, int unfinished) {}
