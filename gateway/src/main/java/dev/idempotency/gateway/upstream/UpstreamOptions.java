package dev.idempotency.gateway.upstream;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where an upstream is and how it is used.
 *
 * @param name the upstream's name in the configuration
 * @param addresses one or more
 * @param tls how TLS is spoken; null for a clear upstream
 * @param http2 whether HTTP/2 is spoken: under TLS by ALPN, else by prior knowledge (RFC 9113 §3)
 * @param connectTimeout most time for the TCP and the TLS handshake
 * @param responseTimeout longest silence while a response is awaited
 * @param lateResponse how much longer a connection is kept for a response that is overdue
 * @param idleTimeout how long a connection rests in the pool; shorter than the upstream's own
 * @param connectionLife how old a connection may get, give or take a tenth; zero: any age
 * @param resolveInterval most time between two look-ups of a name, whatever its TTL
 * @param maxConnections most connections of one event loop
 * @param maxWaiting most requests of one event loop that wait for a connection
 * @param acquireTimeout most time that a request waits for a connection
 * @param ejection when an address is passed over
 * @param healthCheck how addresses are asked; null: not at all
 */
public record UpstreamOptions(
    String name,
    List<Address> addresses,
    @Nullable TlsOptions tls,
    boolean http2,
    Duration connectTimeout,
    Duration responseTimeout,
    Duration lateResponse,
    Duration idleTimeout,
    Duration connectionLife,
    Duration resolveInterval,
    int maxConnections,
    int maxWaiting,
    Duration acquireTimeout,
    Ejection ejection,
    @Nullable HealthCheck healthCheck) {

  public UpstreamOptions {
    addresses = List.copyOf(addresses);
  }

  /**
   * A place of an upstream; a name may stand for several.
   *
   * @param host host name or address; an IPv6 address without brackets
   * @param port 1 to 65535
   */
  public record Address(String host, int port) {}
}
