package dev.idempotency.gateway.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A server, or several that are the same, that requests are forwarded to. Time-outs are 1 ms to 24
 * h.
 *
 * @param name what routes call it
 * @param addresses where it is; one or more, no two the same
 * @param tls how TLS is spoken; null for plain HTTP
 * @param http2 whether HTTP/2 is spoken: by ALPN under TLS, by prior knowledge without
 * @param connectTimeout how long a connection may take to be made
 * @param responseTimeout how long the upstream may stay silent after the request went out
 * @param idleTimeout how long an unused connection is kept; less than the upstream keeps it
 * @param connectionLife how old a connection may get; up to 24 h, zero for any age
 * @param resolve most time between two look-ups of a name; 1 s to 1 h
 * @param maxConnections most connections, in use and idle; 1 to 65535
 * @param maxWaiting most requests that wait for a connection; 0 to 1000000
 * @param acquireTimeout how long a request waits for a connection
 * @param ejection when an address is passed over
 * @param healthCheck how each address is asked; null: not at all
 */
public record Upstream(
    String name,
    List<HostAndPort> addresses,
    @Nullable Tls tls,
    boolean http2,
    Duration connectTimeout,
    Duration responseTimeout,
    Duration idleTimeout,
    Duration connectionLife,
    Duration resolve,
    int maxConnections,
    int maxWaiting,
    Duration acquireTimeout,
    Ejection ejection,
    @Nullable HealthCheck healthCheck) {

  public Upstream {
    addresses = List.copyOf(addresses);
  }

  /**
   * How the upstream is spoken to under TLS; its certificate is always verified. The files could be
   * read when the configuration was; what they hold has not been looked at.
   *
   * @param authorities PEM file of those that are trusted; null: those of the JVM
   * @param certificate PEM file of the gateway's own certificate; null where it shows none
   * @param key PEM file of that certificate's private key; null with it
   * @param serverName the name that the certificate must have; null: the host of the URL
   */
  public record Tls(
      @Nullable Path authorities,
      @Nullable Path certificate,
      @Nullable Path key,
      @Nullable String serverName) {

    /** The JVM's authorities, no certificate of its own. */
    static final Tls DEFAULT = new Tls(null, null, null, null);
  }

  /**
   * When an address is passed over because requests to it fail.
   *
   * @param failures how many in a row; 0 to 1000, 0: never
   * @param time for how long, at first
   */
  public record Ejection(int failures, Duration time) {}

  /**
   * How each address is asked whether it is well.
   *
   * @param path what is asked for, with its query
   * @param interval between two questions; 100 ms to 1 h
   * @param timeout most time for the answer; at most the interval
   * @param healthy good answers in a row that bring an address back; 1 to 100
   * @param unhealthy bad answers in a row that take it out; 1 to 100
   */
  public record HealthCheck(
      String path, Duration interval, Duration timeout, int healthy, int unhealthy) {}

  /** What URLs of it begin with. */
  public String scheme() {
    return tls == null ? "http" : "https";
  }

  /** The same at other places, with TLS of the default kind where the URLs ask for it. */
  Upstream at(List<UpstreamUrl> urls) {
    return new Upstream(
        name,
        urls.stream().map(UpstreamUrl::address).toList(),
        urls.get(0).tls() ? Tls.DEFAULT : null,
        http2,
        connectTimeout,
        responseTimeout,
        idleTimeout,
        connectionLife,
        resolve,
        maxConnections,
        maxWaiting,
        acquireTimeout,
        ejection,
        healthCheck);
  }
}
