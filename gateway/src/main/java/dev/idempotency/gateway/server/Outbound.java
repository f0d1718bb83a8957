package dev.idempotency.gateway.server;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;

/** Whether a client takes what is written to it, as seen from one look to the next. */
final class Outbound {

  private long bytes;
  private long progress;
  private long movedAt;

  void look(Channel channel, long now) {
    ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
    long waiting = buffer == null ? 0 : buffer.totalPendingWriteBytes();
    long reached = buffer == null ? 0 : buffer.currentProgress();
    if (waiting == 0 || waiting < bytes || reached != progress || bytes == 0) {
      movedAt = now;
    }
    bytes = waiting;
    progress = reached;
  }

  boolean isEmpty() {
    return bytes == 0;
  }

  /** For how long nothing was taken although something waits; 0 where nothing waits. */
  long stalledFor(long now) {
    return bytes == 0 ? 0 : now - movedAt;
  }
}
