package dev.idempotency.gateway.operations;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Gives one whole request for each that is asked for: reads on while one is on its way, whose body
 * may come later than its head, and keeps those that came with it.
 */
final class WholeRequests extends ChannelDuplexHandler {

  private final Queue<Object> waiting = new ArrayDeque<>();
  private boolean wanted;

  @Override
  public void read(ChannelHandlerContext ctx) {
    Object next = waiting.poll();
    if (next == null) {
      wanted = true;
      ctx.read();
    } else {
      // Not from within the answer to the request before.
      ctx.executor().execute(() -> ctx.fireChannelRead(next));
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (wanted) {
      wanted = false;
      ctx.fireChannelRead(message);
    } else {
      waiting.add(message);
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    if (wanted) {
      ctx.read();
    }
    ctx.fireChannelReadComplete();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    waiting.forEach(ReferenceCountUtil::release);
    waiting.clear();
  }
}
