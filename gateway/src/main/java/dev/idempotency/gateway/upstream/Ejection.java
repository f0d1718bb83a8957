package dev.idempotency.gateway.upstream;

import java.time.Duration;

/**
 * When an address is passed over because requests to it fail.
 *
 * @param failures how many failures in a row: connections that could not be made, responses that
 *     did not come or came broken; 0: never
 * @param time for how long, at first; doubled each time, up to ten times as long
 */
public record Ejection(int failures, Duration time) {}
