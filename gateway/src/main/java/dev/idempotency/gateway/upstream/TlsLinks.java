package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.transport.Transport;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.concurrent.Promise;

/** Links over TLS: the handshake first, then what ALPN has chosen (RFC 7301). */
final class TlsLinks implements LinkFactory {

  private final UpstreamTls tls;
  private final LinkFactory http1;
  private final LinkFactory http2;

  /**
   * @param http2 for connections on which the upstream has chosen HTTP/2
   */
  TlsLinks(UpstreamTls tls, LinkFactory http1, LinkFactory http2) {
    this.tls = tls;
    this.http1 = http1;
    this.http2 = http2;
  }

  @Override
  public void prepare(
      Channel channel, UpstreamOptions.Address address, LinkOwner owner, Promise<Link> ready) {
    SslHandler handler = tls.handler(address, channel.alloc());
    channel.pipeline().addLast(handler, new Handshake(handler, address, owner, ready));
  }

  /** Waits for the handshake; afterwards it looks after the end. */
  private final class Handshake extends ChannelInboundHandlerAdapter {

    private final SslHandler handler;
    private final UpstreamOptions.Address address;
    private final LinkOwner owner;
    private final Promise<Link> ready;
    private boolean handshaken;

    Handshake(
        SslHandler handler, UpstreamOptions.Address address, LinkOwner owner, Promise<Link> ready) {
      this.handler = handler;
      this.address = address;
      this.owner = owner;
      this.ready = ready;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
      if (event instanceof SslHandshakeCompletionEvent completion) {
        if (completion.isSuccess()) {
          handshaken(ctx.channel());
        } else {
          failed(completion.cause());
        }
      } else if (event instanceof SslCloseCompletionEvent completion && completion.isSuccess()) {
        // The upstream sends nothing more. Who has read its last word sees the connection's end.
        Transport.close(ctx.channel());
      } else {
        ctx.fireUserEventTriggered(event);
      }
    }

    private void handshaken(Channel channel) {
      handshaken = true;
      Promise<Link> made = channel.eventLoop().newPromise();
      boolean chosen = ApplicationProtocolNames.HTTP_2.equals(handler.applicationProtocol());
      // At once, because the upstream may speak first.
      (chosen ? http2 : http1).prepare(channel, address, owner, made);
      // Later, because exchanges must not begin while the TLS handler is still reading.
      made.addListener(done -> channel.eventLoop().execute(() -> pass(made)));
    }

    private void pass(Promise<Link> made) {
      if (made.isSuccess()) {
        ready.trySuccess(made.getNow());
      } else {
        ready.tryFailure(made.cause());
      }
    }

    private void failed(Throwable cause) {
      if (ready.tryFailure(cause)) {
        tls.failed(address, cause);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      if (handshaken) {
        ctx.fireExceptionCaught(cause);
      } else {
        failed(cause);
        Transport.close(ctx.channel());
      }
    }
  }
}
