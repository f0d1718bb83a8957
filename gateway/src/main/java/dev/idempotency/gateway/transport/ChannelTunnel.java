package dev.idempotency.gateway.transport;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Tunnel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A channel as a tunnel: bytes as they are, both ways, at the pace of the slower side. */
public final class ChannelTunnel extends ChannelInboundHandlerAdapter implements Tunnel {

  private static final long CLOSING_SECONDS = 5;

  private final Channel channel;
  private final Runnable onClosed;

  /** What the decoder had read already, and hands over while the tunnel is made. */
  private final ArrayDeque<ByteBuf> early = new ArrayDeque<>(1);

  private @Nullable Receiver receiver;
  private boolean inputEnded;
  private boolean outputEnded;
  private boolean paused;
  private boolean closing;
  private long movedAt = System.nanoTime();

  private ChannelTunnel(Channel channel, Runnable onClosed) {
    this.channel = channel;
    this.onClosed = onClosed;
  }

  /**
   * Makes a tunnel of a connection: all handlers behind that of TLS go, or all. What was already
   * written by them goes out before what the tunnel writes. Event loop of the channel only; nothing
   * is delivered before {@link #open}.
   *
   * @param onClosed runs when the connection is gone
   */
  public static ChannelTunnel takeOver(Channel channel, Runnable onClosed) {
    ChannelTunnel tunnel = new ChannelTunnel(channel, onClosed);
    ChannelPipeline pipeline = channel.pipeline();
    List<ChannelHandler> before = List.copyOf(pipeline.toMap().values());
    channel.config().setAutoRead(false);
    channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
    channel.config().setAutoClose(true);
    pipeline.addLast(tunnel);
    // From the last, so that a decoder hands what it has not read yet to the tunnel and nobody
    // else.
    for (int i = before.size() - 1; i >= 0 && !(before.get(i) instanceof SslHandler); i--) {
      pipeline.remove(before.get(i));
    }
    return tunnel;
  }

  /** When bytes last went either way, by the monotonic clock. */
  public long movedAt() {
    return movedAt;
  }

  @Override
  public void open(Receiver to) {
    receiver = to;
    channel.config().setAutoRead(true);
    for (ByteBuf bytes = early.poll(); bytes != null; bytes = early.poll()) {
      to.chunk(new NettyChunk(bytes));
    }
    to.flush();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (!(message instanceof ByteBuf bytes)) {
      // The end of the message that the decoder has made of the answer.
      ReferenceCountUtil.release(message);
    } else if (receiver == null) {
      early.add(bytes);
    } else {
      movedAt = System.nanoTime();
      receiver.chunk(new NettyChunk(bytes));
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    if (receiver != null) {
      receiver.flush();
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    // A peer that ends TLS need not end the connection below it (RFC 8446 §6.1).
    boolean end =
        event instanceof ChannelInputShutdownEvent
            || (event instanceof SslCloseCompletionEvent closed && closed.isSuccess());
    if (end && !inputEnded) {
      inputEnded = true;
      if (receiver != null) {
        receiver.end();
      }
      closeIfDone();
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    if (receiver != null && channel.isWritable()) {
      receiver.writable();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    early.forEach(ByteBuf::release);
    early.clear();
    if (receiver != null) {
      receiver.closed();
    }
    onClosed.run();
  }

  @Override
  public void write(Chunk chunk) {
    movedAt = System.nanoTime();
    ByteBuf bytes = NettyChunk.bufferOf(chunk);
    if (outputEnded) {
      bytes.release();
    } else {
      // A write that fails closes the channel.
      ChannelFuture unused = channel.write(bytes, channel.voidPromise());
    }
  }

  @Override
  public void flush() {
    channel.flush();
  }

  @Override
  public void end() {
    if (outputEnded) {
      return;
    }
    outputEnded = true;
    channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(done -> shutOutput());
  }

  private void shutOutput() {
    boolean halves =
        channel instanceof DuplexChannel && channel.pipeline().get(SslHandler.class) == null;
    if (inputEnded || !halves) {
      // TLS has no end of one direction that all peers understand.
      close();
    } else {
      ((DuplexChannel) channel).shutdownOutput().addListener(done -> closeIfDone());
    }
  }

  private void closeIfDone() {
    if (inputEnded && outputEnded) {
      close();
    }
  }

  @Override
  public void close() {
    if (closing) {
      return;
    }
    closing = true;
    outputEnded = true;
    channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(done -> Transport.close(channel));
    if (channel.isActive()) {
      // The peer may take nothing more.
      Future<?> unused =
          channel
              .eventLoop()
              .schedule(() -> Transport.close(channel), CLOSING_SECONDS, TimeUnit.SECONDS);
    }
  }

  @Override
  public boolean isWritable() {
    return channel.isWritable();
  }

  @Override
  public void pause() {
    if (!paused) {
      paused = true;
      channel.config().setAutoRead(false);
    }
  }

  @Override
  public void resume() {
    if (paused) {
      paused = false;
      channel.config().setAutoRead(true);
    }
  }
}
