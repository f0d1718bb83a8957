package dev.idempotency.gateway.server;

import dev.idempotency.gateway.http.Tunnel;
import dev.idempotency.gateway.transport.ChannelTunnel;
import io.netty.channel.Channel;
import java.time.Duration;

/**
 * A client's connection that has become a tunnel. It may rest for longer than one for requests, and
 * is only closed by a server that stops when its time is up.
 */
final class TunnelConnection implements ClientConnection {

  private final ChannelTunnel tunnel;
  private final Duration idleTimeout;

  TunnelConnection(HttpServer server, Channel channel, Duration idleTimeout) {
    this.tunnel = ChannelTunnel.takeOver(channel, () -> server.closed(this));
    this.idleTimeout = idleTimeout;
  }

  Tunnel tunnel() {
    return tunnel;
  }

  @Override
  public void beat(long now) {
    if (now - tunnel.movedAt() > idleTimeout.toNanos()) {
      tunnel.close();
    }
  }

  @Override
  public void drain() {}

  @Override
  public void close() {
    tunnel.close();
  }
}
