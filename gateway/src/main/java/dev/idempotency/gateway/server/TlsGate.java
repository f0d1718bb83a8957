package dev.idempotency.gateway.server;

import dev.idempotency.gateway.transport.Transport;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * Stands behind the TLS handler. Until the handshake has succeeded it is the connection; then it
 * lets HTTP in, and translates how TLS ends into what a connection without TLS would say.
 */
final class TlsGate extends ChannelInboundHandlerAdapter implements ClientConnection {

  /** What comes after the handshake. */
  interface Next {
    /**
     * The client may speak.
     *
     * @param protocol what ALPN agreed on; null: the client named none
     * @param subject of the client's verified certificate (RFC 2253); null where it showed none
     */
    void handshaken(@Nullable String protocol, @Nullable String subject);
  }

  private final HttpServer server;
  private final ServerTls tls;
  private final Next next;
  private @Nullable ChannelHandlerContext context;
  private boolean handshaken;
  private boolean failed;

  TlsGate(HttpServer server, ServerTls tls, Next next) {
    this.server = server;
    this.tls = tls;
    this.next = next;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    context = ctx;
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof SslHandshakeCompletionEvent completion) {
      if (completion.isSuccess()) {
        handshaken(ctx);
      } else {
        failed(ctx);
      }
    } else if (event instanceof SslCloseCompletionEvent completion) {
      if (completion.isSuccess()) {
        clientEnded(ctx);
      }
    } else if (event instanceof ChannelInputShutdownEvent && !handshaken) {
      failed(ctx);
    } else {
      ctx.fireUserEventTriggered(event);
    }
  }

  private void handshaken(ChannelHandlerContext ctx) {
    if (handshaken || failed) {
      return;
    }
    SslHandler handler = ctx.pipeline().get(SslHandler.class);
    handshaken = true;
    server.closed(this);
    next.handshaken(handler.applicationProtocol(), subject(handler.engine().getSession()));
  }

  private static @Nullable String subject(SSLSession session) {
    try {
      Certificate[] chain = session.getPeerCertificates();
      return chain.length > 0 && chain[0] instanceof X509Certificate shown
          ? shown.getSubjectX500Principal().getName()
          : null;
    } catch (SSLPeerUnverifiedException e) {
      return null;
    }
  }

  private void failed(ChannelHandlerContext ctx) {
    if (!failed && !handshaken) {
      failed = true;
      tls.handshakeFailed();
    }
    Transport.close(ctx.channel());
  }

  /**
   * The client's close_notify. In TLS 1.3 it ends one direction (RFC 8446 §6.1) and a whole request
   * is still answered; in TLS 1.2, and with a library that does not tell the two apart, both.
   */
  private void clientEnded(ChannelHandlerContext ctx) {
    if (ctx.pipeline().get(SslHandler.class).engine().isOutboundDone()) {
      Transport.close(ctx.channel());
    } else {
      ctx.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (!handshaken) {
      // Plain HTTP, garbage, no version or certificate in common: TLS has sent its alert.
      failed(ctx);
    } else if (cause instanceof SSLException
        || (cause instanceof DecoderException && cause.getCause() instanceof SSLException)) {
      Transport.close(ctx.channel());
    } else {
      ctx.fireExceptionCaught(cause);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    if (!handshaken) {
      failed(ctx);
      server.closed(this);
    }
    ctx.fireChannelInactive();
  }

  @Override
  public void beat(long now) {
    // The handshake has a deadline of its own.
  }

  @Override
  public void drain() {
    close();
  }

  @Override
  public void close() {
    ChannelHandlerContext ctx = context;
    if (ctx != null) {
      Transport.close(ctx.channel());
    }
  }
}
