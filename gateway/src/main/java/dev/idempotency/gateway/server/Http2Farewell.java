package dev.idempotency.gateway.server;

import dev.idempotency.gateway.transport.TlsChannels;
import dev.idempotency.gateway.transport.Transport;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.util.concurrent.Future;

/**
 * How a connection ends so that the client knows which of its requests were heard (RFC 9113 §6.8):
 * it is warned, told the last one when the warning surely arrived, and let go when all are
 * answered.
 */
final class Http2Farewell {

  private enum Stage {
    NONE,
    /** Warned; what is still opened is answered. */
    WARNED,
    /** Told the last stream; nothing more is opened. */
    TOLD,
    /** Nothing more is sent; what comes is thrown away. */
    CLOSING
  }

  private static final long PING = 0x676f6f64627965L;

  /** A client that does not answer a PING is told the last stream all the same. */
  private static final long WARNING_NANOS = 1_000_000_000L;

  /** What the client sent before it saw the end must not reset the last words away. */
  private static final long LINGERING_NANOS = 2_000_000_000L;

  private final Http2Handler connection;
  private Stage stage = Stage.NONE;
  private long since;
  private boolean shut;

  Http2Farewell(Http2Handler connection) {
    this.connection = connection;
  }

  /** Whether the connection closes with its last stream. */
  boolean isTold() {
    return stage == Stage.TOLD;
  }

  boolean isClosing() {
    return stage == Stage.CLOSING;
  }

  /** Ends when what is under way, or comes before the client knows, has been answered. */
  void warn(ChannelHandlerContext ctx) {
    if (stage != Stage.NONE) {
      return;
    }
    stage = Stage.WARNED;
    since = System.nanoTime();
    goAway(ctx, Integer.MAX_VALUE);
    ChannelFuture unused = connection.encoder().writePing(ctx, false, PING, ctx.newPromise());
    connection.flush(ctx);
  }

  void pingAcknowledged(ChannelHandlerContext ctx, long content) {
    if (stage == Stage.WARNED && content == PING) {
      tellLast(ctx);
    }
  }

  private void tellLast(ChannelHandlerContext ctx) {
    stage = Stage.TOLD;
    goAway(ctx, connection.connection().remote().lastStreamCreated());
    connection.flushSoon();
    closeIfAnswered(ctx);
  }

  private void goAway(ChannelHandlerContext ctx, int lastStream) {
    ChannelFuture unused =
        connection.goAway(
            ctx, lastStream, Http2Error.NO_ERROR.code(), Unpooled.EMPTY_BUFFER, ctx.newPromise());
  }

  /** A stream closed. */
  void closeIfAnswered(ChannelHandlerContext ctx) {
    if (stage == Stage.TOLD && connection.connection().numActiveStreams() == 0) {
      stage = Stage.CLOSING;
      shutAfter(ctx, ctx.writeAndFlush(Unpooled.EMPTY_BUFFER));
    }
  }

  /**
   * Ends the connection whatever is under way.
   *
   * @param why in ASCII, for those who look at the client's side
   */
  void end(ChannelHandlerContext ctx, Http2Error error, String why) {
    if (stage == Stage.CLOSING) {
      return;
    }
    stage = Stage.CLOSING;
    int last = connection.connection().remote().lastStreamCreated();
    // The codec closes it again with the same promise when the channel is closed.
    Future<Void> unused = connection.connection().close(ctx.voidPromise());
    ByteBuf text = ByteBufUtil.writeAscii(ctx.alloc(), why);
    ChannelFuture written =
        connection
            .encoder()
            .frameWriter()
            .writeGoAway(ctx, last, error.code(), text, ctx.newPromise());
    shutAfter(ctx, written);
    ctx.flush();
  }

  private void shutAfter(ChannelHandlerContext ctx, ChannelFuture written) {
    since = System.nanoTime();
    written.addListener(
        done -> {
          shut = true;
          since = System.nanoTime();
          if (done.isSuccess()) {
            TlsChannels.shutdownOutput(ctx.channel());
          } else {
            Transport.close(ctx.channel());
          }
        });
  }

  void beat(ChannelHandlerContext ctx, long now) {
    if (stage == Stage.WARNED && now - since > WARNING_NANOS) {
      tellLast(ctx);
    } else if (shut && now - since > LINGERING_NANOS) {
      Transport.close(ctx.channel());
    }
  }
}
