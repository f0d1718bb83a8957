package dev.idempotency.gateway.server;

import dev.idempotency.gateway.transport.NettyChunk;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * A request's body on its way to the exchange. What the exchange does not take yet waits here, and
 * its part of the window is not given back to the client meanwhile (RFC 9113 §5.2), so that no more
 * waits than one window.
 */
final class Http2Body {

  private final Http2ClientStream stream;
  private @Nullable ByteBuf waiting;
  private boolean wanted;
  private boolean paused;
  private boolean complete;
  private boolean endDelivered;
  private boolean dropped;
  private long bytes;

  Http2Body(Http2ClientStream stream) {
    this.stream = stream;
  }

  /** Whether all of it came. */
  boolean isComplete() {
    return complete;
  }

  /** Whether a byte of it came. */
  boolean isBegun() {
    return bytes > 0 || complete;
  }

  /** Whether it is the gateway that does not want more at the moment. */
  boolean isHeldBack() {
    return !wanted || paused || waiting != null;
  }

  /** Whether it was asked for. */
  boolean isWanted() {
    return wanted;
  }

  /** The bytes that came. */
  long bytes() {
    return bytes;
  }

  /**
   * Takes what came; the caller keeps its reference.
   *
   * @return the bytes that the client may send more of
   */
  int take(ByteBuf data, boolean end) {
    int length = data.readableBytes();
    bytes += length;
    complete = complete || end;
    if (dropped) {
      return length;
    }
    if (length > 0 && isHeldBack()) {
      hold(data);
      return 0;
    }
    if (length > 0) {
      stream.exchange().body(new NettyChunk(data.retain()));
    }
    deliverEnd();
    return length;
  }

  /** There is no more of it than came. */
  void end() {
    complete = true;
    deliverEnd();
  }

  /** A copy, because a slice would keep all alive that was read together with it. */
  private void hold(ByteBuf data) {
    ByteBuf held = waiting;
    if (held == null) {
      held = data.alloc().buffer(data.readableBytes());
      waiting = held;
    }
    held.writeBytes(data, data.readerIndex(), data.readableBytes());
  }

  void want() {
    wanted = true;
    deliver();
  }

  void pause() {
    paused = true;
  }

  void resume() {
    paused = false;
    deliver();
  }

  private void deliver() {
    ByteBuf held = waiting;
    if (held == null || !wanted || paused || dropped) {
      return;
    }
    waiting = null;
    int length = held.readableBytes();
    stream.exchange().body(new NettyChunk(held));
    stream.bodyTaken(length);
    deliverEnd();
  }

  /** The end of what was all taken needs no asking. */
  private void deliverEnd() {
    if (complete && waiting == null && !endDelivered && !dropped) {
      endDelivered = true;
      stream.exchange().bodyEnd();
    }
  }

  /** Nobody wants it any more: what comes is thrown away. */
  void drop() {
    dropped = true;
    ByteBuf held = waiting;
    waiting = null;
    if (held != null) {
      int length = held.readableBytes();
      held.release();
      stream.bodyTaken(length);
    }
  }
}
