package dev.idempotency.gateway;

import dev.idempotency.gateway.config.Configuration;
import dev.idempotency.gateway.config.HostAndPort;
import dev.idempotency.gateway.config.Listener;
import dev.idempotency.gateway.config.Upstream;
import dev.idempotency.gateway.http.AddressRanges;
import dev.idempotency.gateway.server.Http2Options;
import dev.idempotency.gateway.server.ListenerOptions;
import dev.idempotency.gateway.server.ServerOptions;
import dev.idempotency.gateway.upstream.Ejection;
import dev.idempotency.gateway.upstream.HealthCheck;
import dev.idempotency.gateway.upstream.UpstreamOptions;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The configuration in the words of the two network edges. */
final class EdgeOptions {

  /** How much longer than its time-out a response is still welcome for the record. */
  private static final int LATE_FACTOR = 10;

  private static final Duration LONGEST_LATE = Duration.ofMinutes(5);

  private EdgeOptions() {}

  static ServerOptions server(Configuration configuration) {
    Configuration.Limits limits = configuration.limits();
    return new ServerOptions(
        limits.headerSize(),
        limits.headerCount(),
        limits.targetSize(),
        limits.connections(),
        limits.connectionsPerAddress(),
        limits.idleTimeout(),
        limits.headTimeout(),
        limits.bodyTimeout(),
        limits.bodyRate(),
        limits.tunnelTimeout(),
        configuration.paths(),
        configuration.hosts(),
        AddressRanges.of(configuration.trustedProxies()),
        new Http2Options(limits.http2Streams(), limits.http2Window(), limits.http2Resets()));
  }

  /**
   * @param address where the listener's host is
   */
  static ListenerOptions listener(Listener listener, InetSocketAddress address) {
    Listener.Tls tls = listener.tls();
    return new ListenerOptions(
        address,
        tls == null
            ? null
            : new dev.idempotency.gateway.server.TlsOptions(
                tls.certificate(),
                tls.key(),
                tls.clientAuthorities(),
                tls.demandsCertificate(),
                tls.protocols(),
                tls.reload()),
        listener.http2());
  }

  /** One loop's part of an upstream. */
  static UpstreamOptions upstream(Upstream upstream, int threads) {
    Duration late = upstream.responseTimeout().multipliedBy(LATE_FACTOR);
    return new UpstreamOptions(
        upstream.name(),
        addresses(upstream.addresses()),
        tls(upstream.tls()),
        upstream.http2(),
        upstream.connectTimeout(),
        upstream.responseTimeout(),
        late.compareTo(LONGEST_LATE) < 0 ? late : LONGEST_LATE,
        upstream.idleTimeout(),
        upstream.connectionLife(),
        upstream.resolve(),
        share(upstream.maxConnections(), threads),
        upstream.maxWaiting() == 0 ? 0 : share(upstream.maxWaiting(), threads),
        upstream.acquireTimeout(),
        new Ejection(upstream.ejection().failures(), upstream.ejection().time()),
        healthCheck(upstream.healthCheck()));
  }

  private static List<UpstreamOptions.Address> addresses(List<HostAndPort> places) {
    return places.stream()
        .map(place -> new UpstreamOptions.Address(place.host(), place.port()))
        .toList();
  }

  private static dev.idempotency.gateway.upstream.@Nullable TlsOptions tls(
      Upstream.@Nullable Tls tls) {
    return tls == null
        ? null
        : new dev.idempotency.gateway.upstream.TlsOptions(
            tls.authorities(), tls.certificate(), tls.key(), tls.serverName());
  }

  private static @Nullable HealthCheck healthCheck(Upstream.@Nullable HealthCheck check) {
    return check == null
        ? null
        : new HealthCheck(
            check.path(), check.interval(), check.timeout(), check.healthy(), check.unhealthy());
  }

  /** One loop's part of a limit, rounded up. */
  private static int share(int whole, int threads) {
    return (whole + threads - 1) / threads;
  }
}
