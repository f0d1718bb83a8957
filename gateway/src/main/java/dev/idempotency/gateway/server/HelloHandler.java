package dev.idempotency.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.ssl.AbstractSniHandler;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a client's hello and puts the TLS handler in its own place, or refuses a client that
 * offers protocols of which none is spoken here: such a connection was meant for another service
 * (RFC 7301 §3.2). BoringSSL, as it is bound here, can only go on without a protocol.
 */
final class HelloHandler extends AbstractSniHandler<Boolean> {

  private static final int MOST_HELLO_BYTES = 16 * 1024;

  /** A fatal alert, no_application_protocol (RFC 8446 §6). */
  private static final byte[] NO_APPLICATION_PROTOCOL = {21, 3, 3, 0, 2, 2, 120};

  private final ServerTls tls;
  private final long begun = System.nanoTime();

  HelloHandler(ServerTls tls) {
    super(MOST_HELLO_BYTES, tls.handshakeMillis());
    this.tls = tls;
  }

  @Override
  protected Future<Boolean> lookup(ChannelHandlerContext ctx, @Nullable ByteBuf hello) {
    List<String> offered = hello == null ? null : ClientHello.applicationProtocols(hello);
    boolean common = offered == null || !Collections.disjoint(offered, tls.protocols());
    return ctx.executor().newSucceededFuture(common);
  }

  @Override
  protected Future<Boolean> lookup(ChannelHandlerContext ctx, @Nullable String hostname) {
    return ctx.executor().newSucceededFuture(true);
  }

  @Override
  protected void onLookupComplete(
      ChannelHandlerContext ctx, @Nullable String hostname, Future<Boolean> common) {
    if (Boolean.TRUE.equals(common.getNow())) {
      SslHandler handler = tls.context().newHandler(ctx.alloc());
      long spent = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
      handler.setHandshakeTimeoutMillis(Math.max(1, tls.handshakeMillis() - spent));
      ctx.pipeline().replace(this, null, handler);
    } else {
      ctx.writeAndFlush(Unpooled.wrappedBuffer(NO_APPLICATION_PROTOCOL))
          .addListener(ChannelFutureListener.CLOSE);
      ctx.fireExceptionCaught(new SSLHandshakeException("no application protocol in common"));
    }
  }
}
