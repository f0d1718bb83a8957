package dev.idempotency.gateway;

import dev.idempotency.gateway.transport.Transport;
import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.dns.DnsAddressResolverGroup;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import io.netty.util.concurrent.EventExecutor;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * The DNS resolver of each event loop, made when the loop first needs one: a gateway whose
 * upstreams are all addresses never loads it.
 *
 * <p>Answers are kept as long as their TTL says and no longer than the given time, so that asking
 * often costs next to nothing. IPv4 and IPv6 addresses both count, and the hosts file comes first.
 */
final class NameResolvers extends AddressResolverGroup<InetSocketAddress> {

  private final Transport transport;
  private final int mostSeconds;
  private final Supplier<DnsServerAddressStreamProvider> servers;

  /**
   * @param most how long an answer is kept whatever its TTL; whole seconds count
   */
  NameResolvers(Transport transport, Duration most) {
    // Later, because it reads the machine's configuration.
    this(transport, most, DnsServerAddressStreamProviders::platformDefault);
  }

  NameResolvers(
      Transport transport, Duration most, Supplier<DnsServerAddressStreamProvider> servers) {
    this.transport = transport;
    this.mostSeconds = (int) Math.min(Integer.MAX_VALUE, most.toSeconds());
    this.servers = servers;
  }

  @Override
  protected AddressResolver<InetSocketAddress> newResolver(EventExecutor loop) {
    return new DnsAddressResolverGroup(
            new DnsNameResolverBuilder()
                .datagramChannelType(transport.datagramChannel())
                .nameServerProvider(servers.get())
                .ttl(0, mostSeconds)
                // All addresses are wanted, not those of the family that was faster.
                .completeOncePreferredResolved(false))
        .getResolver(loop);
  }
}
