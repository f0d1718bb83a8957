package dev.idempotency.gateway;

import dev.idempotency.gateway.transport.Transport;
import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.dns.DnsAddressResolverGroup;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.util.concurrent.EventExecutor;
import java.net.InetSocketAddress;

/**
 * The DNS resolver of each event loop, made when the loop first needs one: a gateway whose
 * upstreams are all addresses never loads it.
 */
final class NameResolvers extends AddressResolverGroup<InetSocketAddress> {

  private final Transport transport;

  NameResolvers(Transport transport) {
    this.transport = transport;
  }

  @Override
  protected AddressResolver<InetSocketAddress> newResolver(EventExecutor loop) {
    return new DnsAddressResolverGroup(
            new DnsNameResolverBuilder().datagramChannelType(transport.datagramChannel()))
        .getResolver(loop);
  }
}
