package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Tunnel;

/** Two tunnels whose ends meet here: what comes out of one goes into the other. */
final class JoinedTunnels {

  private final Runnable onClosed;
  private boolean closed;

  private JoinedTunnels(Runnable onClosed) {
    this.onClosed = onClosed;
  }

  /**
   * Joins two tunnels and opens them.
   *
   * @param onClosed runs once, when either connection is gone; the other one ends then too
   */
  static void join(Tunnel client, Tunnel upstream, Runnable onClosed) {
    JoinedTunnels joined = new JoinedTunnels(onClosed);
    client.open(joined.new Direction(client, upstream));
    upstream.open(joined.new Direction(upstream, client));
  }

  private void closed(Tunnel survivor) {
    if (!closed) {
      closed = true;
      survivor.close();
      onClosed.run();
    }
  }

  private final class Direction implements Tunnel.Receiver {

    private final Tunnel from;
    private final Tunnel to;

    Direction(Tunnel from, Tunnel to) {
      this.from = from;
      this.to = to;
    }

    @Override
    public void chunk(Chunk chunk) {
      to.write(chunk);
      if (!to.isWritable()) {
        from.pause();
      }
    }

    @Override
    public void flush() {
      to.flush();
    }

    @Override
    public void end() {
      to.end();
    }

    @Override
    public void writable() {
      to.resume();
    }

    @Override
    public void closed() {
      JoinedTunnels.this.closed(to);
    }
  }
}
