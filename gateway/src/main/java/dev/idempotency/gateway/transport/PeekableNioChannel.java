package dev.idempotency.gateway.transport;

import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A channel that can be asked whether something waits to be read while it should be idle. */
final class PeekableNioChannel extends NioSocketChannel {

  /**
   * Reads one byte without waiting. A byte that is there was sent without a request: the connection
   * is of no use then, so that the byte need not be put back.
   */
  boolean isQuietAndOpen() {
    try {
      return javaChannel().read(ByteBuffer.allocate(1)) == 0;
    } catch (IOException e) {
      return false;
    }
  }
}
