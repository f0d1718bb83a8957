package dev.idempotency.gateway;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** Connections that hold their places: each sends a first piece, then a byte now and then. */
final class SlowClients implements AutoCloseable {

  private static final int BETWEEN_BYTES_MILLIS = 100;

  private final List<Slow> all = new CopyOnWriteArrayList<>();
  private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();

  /** One of them. */
  static final class Slow {
    private final SocketChannel channel;
    private final ByteBuffer drops;
    private final StringBuilder heard = new StringBuilder();
    private volatile boolean ended;

    private Slow(SocketChannel channel, String drops) {
      this.channel = channel;
      this.drops = ByteBuffer.wrap(drops.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Whether the gateway has closed it. */
    boolean ended() {
      return ended;
    }

    /** All that came before it was closed. */
    String heard() {
      return heard.toString();
    }

    private void drip() {
      try {
        listen();
        if (!ended && drops.hasRemaining()) {
          int limit = drops.limit();
          channel.write(drops.limit(drops.position() + 1));
          drops.limit(limit);
        }
      } catch (IOException e) {
        ended = true;
      }
    }

    private void listen() throws IOException {
      ByteBuffer buffer = ByteBuffer.allocate(4096);
      int read = channel.read(buffer);
      if (read < 0) {
        ended = true;
        channel.close();
      }
      heard.append(new String(buffer.array(), 0, Math.max(read, 0), StandardCharsets.ISO_8859_1));
    }
  }

  /**
   * Connects.
   *
   * @param drops what follows, a byte at a time, once they drip
   */
  Slow connect(int port, String first, String drops) {
    try {
      SocketChannel channel =
          SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      channel.write(ByteBuffer.wrap(first.getBytes(StandardCharsets.ISO_8859_1)));
      channel.configureBlocking(false);
      Slow slow = new Slow(channel, drops);
      all.add(slow);
      return slow;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** From now on all of them drip. */
  void drip() {
    ScheduledFuture<?> unused =
        clock.scheduleWithFixedDelay(
            () -> all.stream().filter(slow -> !slow.ended).forEach(Slow::drip),
            0,
            BETWEEN_BYTES_MILLIS,
            TimeUnit.MILLISECONDS);
  }

  boolean haveAllEnded() {
    return all.stream().allMatch(Slow::ended);
  }

  @Override
  public void close() {
    clock.shutdownNow();
    for (Slow slow : all) {
      try {
        slow.channel.close();
      } catch (IOException e) {
        // It is closed.
      }
    }
  }
}
