package dev.idempotency.gateway.server;

import dev.idempotency.gateway.http.AddressRanges;
import dev.idempotency.gateway.http.PathRule;
import java.time.Duration;
import java.util.Set;

/**
 * What the client's edge allows, on all listeners.
 *
 * @param headerBytes most bytes of a request's header section (431 beyond)
 * @param headerCount most field lines of a request (431 beyond)
 * @param targetBytes most bytes of a request line (414 beyond)
 * @param connections most connections at once of one listener; more are closed at once
 * @param connectionsPerAddress most connections at once of one client address; 0: no limit
 * @param idleTimeout how long a connection may rest between two requests
 * @param headTimeout most time from a request's first byte to the end of its head (408), and for
 *     the TLS handshake
 * @param bodyTimeout longest silence within a request's body (408)
 * @param bodyRate least bytes per second of a request's body, after a grace of bodyTimeout (408);
 *     0: no limit
 * @param tunnelTimeout how long no byte may go either way through a WebSocket
 * @param paths which ambiguous paths are let through
 * @param hosts the hosts that requests may name, in small letters without port (421 beyond); empty:
 *     any
 * @param trustedProxies whose word on the client's address is believed
 * @param http2 what HTTP/2 clients are allowed besides
 */
public record ServerOptions(
    int headerBytes,
    int headerCount,
    int targetBytes,
    int connections,
    int connectionsPerAddress,
    Duration idleTimeout,
    Duration headTimeout,
    Duration bodyTimeout,
    long bodyRate,
    Duration tunnelTimeout,
    PathRule paths,
    Set<String> hosts,
    AddressRanges trustedProxies,
    Http2Options http2) {}
