package dev.idempotency.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;

/**
 * Stands before the decoder once the last answer is out and throws away what still comes, so that
 * the client's unread bytes don't reset the answer away (RFC 9112 §9.6).
 */
final class Lingering extends ChannelInboundHandlerAdapter {

  private static final long MOST_BYTES = 64L << 20;
  private static final long MOST_NANOS = 10_000_000_000L;
  private static final long MOST_SILENCE_NANOS = 2_000_000_000L;

  private final Channel channel;
  private final long since = System.nanoTime();
  private long heardAt = since;
  private long bytes;

  Lingering(Channel channel) {
    this.channel = channel;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    heardAt = System.nanoTime();
    if (message instanceof ByteBuf buffer) {
      bytes += buffer.readableBytes();
    }
    ReferenceCountUtil.release(message);
  }

  /** Whether nobody needs to listen any more; a client that takes its answer slowly does. */
  boolean isOver(long now, Outbound outbound) {
    if (bytes > MOST_BYTES) {
      return true;
    }
    boolean quiet = now - heardAt > MOST_SILENCE_NANOS || now - since > MOST_NANOS;
    return quiet && outbound.isEmpty() && channel.isOpen();
  }
}
