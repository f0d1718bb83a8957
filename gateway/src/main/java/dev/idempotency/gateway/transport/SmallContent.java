package dev.idempotency.gateway.transport;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.FullHttpMessage;
import io.netty.handler.codec.http.HttpMessage;

/**
 * Content that is cheaper to copy behind its head than to hand to the system as a second buffer.
 * The codec copies it as soon as it fits into the buffer of the head, so that all it takes is room.
 */
final class SmallContent {

  private static final int MOST = 2048;
  private static final int BLANK_LINE = 2;

  private SmallContent() {}

  /** The bytes to make room for; 0 where there are none or too many. */
  static int bytes(HttpMessage message) {
    if (message instanceof FullHttpMessage whole) {
      int bytes = whole.content().readableBytes();
      return bytes <= MOST ? bytes : 0;
    }
    return 0;
  }

  static void makeRoom(ByteBuf head, int content) {
    if (content > 0) {
      head.ensureWritable(content + BLANK_LINE);
    }
  }
}
