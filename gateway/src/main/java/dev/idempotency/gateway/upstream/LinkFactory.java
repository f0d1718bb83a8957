package dev.idempotency.gateway.upstream;

import io.netty.channel.Channel;
import io.netty.util.concurrent.Promise;
import org.jspecify.annotations.Nullable;

/**
 * Makes links out of channels: fills their pipelines, and sees through what comes between the
 * connect and the first exchange, such as a TLS handshake with its choice of a protocol.
 *
 * <p>Threading: event loop of the channel only.
 */
interface LinkFactory {

  /**
   * Prepares a channel that was registered and is about to connect.
   *
   * @param address where it goes to, as it was configured
   * @param owner whom the link tells
   * @param ready gets the link as soon as exchanges can begin once the channel is connected, or why
   *     there is none; until then surely no byte of a request has left. Who waits for it sets the
   *     time limit, and closes the channel when that is over
   */
  void prepare(
      Channel channel, UpstreamOptions.Address address, LinkOwner owner, Promise<Link> ready);

  /**
   * The one that does what the options say.
   *
   * @param tls null for a clear upstream
   */
  static LinkFactory of(UpstreamOptions options, @Nullable UpstreamTls tls) {
    if ((tls == null) != (options.tls() == null)) {
      throw new IllegalArgumentException(options.name() + ": TLS was not started");
    }
    LinkFactory http1 = Http1Connection::prepare;
    LinkFactory http2 = Http2Link::prepare;
    if (tls != null) {
      return new TlsLinks(tls, http1, http2);
    }
    return options.http2() ? http2 : http1;
  }
}
