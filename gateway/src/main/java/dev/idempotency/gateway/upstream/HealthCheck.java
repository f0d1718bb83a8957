package dev.idempotency.gateway.upstream;

import java.time.Duration;

/**
 * How each address of an upstream is asked whether it is well: a GET that a status from 200 to 399
 * answers well.
 *
 * @param path the path with its query
 * @param interval between two questions
 * @param timeout most time for the answer
 * @param healthy how many good answers in a row bring an address back
 * @param unhealthy how many bad ones in a row take it out
 */
public record HealthCheck(
    String path, Duration interval, Duration timeout, int healthy, int unhealthy) {}
