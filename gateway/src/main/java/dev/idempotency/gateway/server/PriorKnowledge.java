package dev.idempotency.gateway.server;

import dev.idempotency.gateway.transport.Transport;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http2.Http2CodecUtil;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A clear connection whose protocol is not known yet: its first bytes are the HTTP/2 preface (RFC
 * 9113 §3.4), or they begin an HTTP/1.1 request. Gives way to the protocol's own handlers.
 */
final class PriorKnowledge extends ByteToMessageDecoder implements ClientConnection {

  private static final ByteBuf PREFACE =
      Unpooled.unreleasableBuffer(Http2CodecUtil.connectionPrefaceBuf());

  private final HttpServer server;
  private final ServerOptions options;
  private final Protocols protocols;
  private final Caller caller;
  private final long since = System.nanoTime();
  private @Nullable ChannelHandlerContext context;
  private boolean begun;
  private long begunAt;

  PriorKnowledge(HttpServer server, ServerOptions options, Protocols protocols, Caller caller) {
    this.server = server;
    this.options = options;
    this.protocols = protocols;
    this.caller = caller;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    context = ctx;
  }

  @Override
  protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
    if (!begun) {
      begun = true;
      begunAt = System.nanoTime();
    }
    int length = Math.min(in.readableBytes(), PREFACE.readableBytes());
    boolean http2 = isPreface(in, length);
    if (http2 && length < PREFACE.readableBytes()) {
      return;
    }
    if (http2) {
      protocols.installHttp2(ctx.channel(), caller);
    } else {
      protocols.installHttp1(ctx.channel(), caller);
    }
    // The bytes go on to the handlers that now follow; the connection is theirs.
    server.closed(this);
    ctx.pipeline().remove(this);
  }

  private static boolean isPreface(ByteBuf in, int length) {
    for (int i = 0; i < length; i++) {
      if (in.getByte(in.readerIndex() + i) != PREFACE.getByte(i)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      close();
    } else {
      ctx.fireUserEventTriggered(event);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (!(cause instanceof IOException)) {
      server.bug(cause);
    }
    close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) throws Exception {
    server.closed(this);
    super.channelInactive(ctx);
  }

  @Override
  public void beat(long now) {
    boolean late =
        begun
            ? now - begunAt > options.headTimeout().toNanos()
            : now - since > options.idleTimeout().toNanos();
    // One that came while the server began to drain was not told.
    if (late || server.isDraining()) {
      close();
    }
  }

  @Override
  public void drain() {
    close();
  }

  @Override
  public void close() {
    if (context != null) {
      Transport.close(context.channel());
    }
  }
}
