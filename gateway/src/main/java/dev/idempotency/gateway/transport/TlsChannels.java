package dev.idempotency.gateway.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslHandler;
import org.jspecify.annotations.Nullable;

/**
 * The ends of a connection, which are others under TLS than without. The TLS handler is the first
 * of a pipeline.
 *
 * <p>Threading: event loop of the channel only.
 */
public final class TlsChannels {

  private TlsChannels() {}

  private static @Nullable SslHandler handler(Channel channel) {
    ChannelHandler first = channel.pipeline().first();
    return first instanceof SslHandler tls ? tls : null;
  }

  /** Whether TLS is spoken. */
  public static boolean isTls(Channel channel) {
    return handler(channel) != null;
  }

  /** Whether the other side has said that it sends nothing more (close_notify), or is gone. */
  static boolean isEnding(Channel channel) {
    SslHandler tls = handler(channel);
    return tls != null && (tls.sslCloseFuture().isDone() || tls.engine().isInboundDone());
  }

  /**
   * Whether the connection ended without the other side's close_notify: what looks like the end may
   * be somebody's cut (RFC 8446 §6.1).
   */
  public static boolean isCutOff(Channel channel) {
    SslHandler tls = handler(channel);
    return tls != null && !tls.sslCloseFuture().isSuccess();
  }

  /** Says that nothing more is sent, and goes on reading: close_notify under TLS, else FIN. */
  public static void shutdownOutput(Channel channel) {
    SslHandler tls = handler(channel);
    if (tls != null) {
      ChannelFuture unused = tls.closeOutbound();
    } else {
      ChannelFuture unused = ((DuplexChannel) channel).shutdownOutput();
    }
  }

  /** Closes with a reset, and under TLS without close_notify: nobody takes it for a proper end. */
  public static void reset(Channel channel) {
    channel.config().setOption(ChannelOption.SO_LINGER, 0);
    ChannelHandlerContext first = channel.pipeline().firstContext();
    ChannelFuture unused = first == null ? channel.close() : first.close();
  }
}
