package dev.idempotency.gateway.server;

import java.time.Duration;

/**
 * What the client's edge allows.
 *
 * @param headerBytes most bytes of a request's header section (431 beyond)
 * @param headerCount most field lines of a request (431 beyond)
 * @param targetBytes most bytes of a request line (414 beyond)
 * @param connections most connections at once; more are closed at once
 * @param idleTimeout how long a connection may rest between two requests
 * @param headTimeout most time from a request's first byte to the end of its head (408)
 * @param bodyTimeout longest silence within a request's body (408)
 */
public record ServerOptions(
    int headerBytes,
    int headerCount,
    int targetBytes,
    int connections,
    Duration idleTimeout,
    Duration headTimeout,
    Duration bodyTimeout) {}
