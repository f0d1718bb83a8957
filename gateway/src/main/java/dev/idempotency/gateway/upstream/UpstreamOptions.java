package dev.idempotency.gateway.upstream;

import java.time.Duration;

/**
 * Where an upstream is and how it is used.
 *
 * @param name the upstream's name in the configuration
 * @param host host name or address; an IPv6 address without brackets
 * @param port 1 to 65535
 * @param connectTimeout most time for the TCP handshake
 * @param responseTimeout longest silence while a response is awaited
 * @param lateResponse how much longer a connection is kept for a response that is overdue
 * @param idleTimeout how long a connection rests in the pool; shorter than the upstream's own
 * @param maxConnections most connections of one event loop
 * @param maxWaiting most requests of one event loop that wait for a connection
 * @param acquireTimeout most time that a request waits for a connection
 */
public record UpstreamOptions(
    String name,
    String host,
    int port,
    Duration connectTimeout,
    Duration responseTimeout,
    Duration lateResponse,
    Duration idleTimeout,
    int maxConnections,
    int maxWaiting,
    Duration acquireTimeout) {}
