package dev.idempotency.gateway.server;

import dev.idempotency.gateway.transport.TlsChannels;
import dev.idempotency.gateway.transport.Transport;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import org.jspecify.annotations.Nullable;

/**
 * How an HTTP/1.1 connection ends: so that the client can read its last answer.
 *
 * <p>Event loop only.
 */
final class Ending {

  private final RequestDecoder decoder;
  private @Nullable Lingering lingering;

  Ending(RequestDecoder decoder) {
    this.decoder = decoder;
  }

  /** What reads on although nobody wants it; null as long as somebody does. */
  @Nullable Lingering lingering() {
    return lingering;
  }

  /** Closes when everything is out. */
  void afterFlush(ChannelHandlerContext ctx) {
    ctx.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(done -> Transport.close(ctx.channel()));
  }

  /** Ends the sending side when everything is out, and reads on for a while. */
  void linger(ChannelHandlerContext ctx) {
    Lingering last = new Lingering(ctx.channel());
    lingering = last;
    ctx.pipeline().addBefore(ctx.pipeline().context(decoder).name(), null, last);
    ctx.writeAndFlush(Unpooled.EMPTY_BUFFER)
        .addListener(done -> TlsChannels.shutdownOutput(ctx.channel()));
    ctx.channel().config().setAutoRead(true);
  }
}
