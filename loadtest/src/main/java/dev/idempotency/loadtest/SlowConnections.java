package dev.idempotency.loadtest;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Connections that send almost nothing: a third a byte of a head now and then, a third a whole head
 * and then bytes of a body, a third nothing at all. Whichever the gateway ends is replaced, so
 * their number stays.
 *
 * <p>Threading: one thread of its own.
 */
final class SlowConnections implements AutoCloseable {

  private static final int BETWEEN_BYTES_MILLIS = 500;
  private static final int BODY_LENGTH = 100_000;
  private static final byte FILLER = 'x';

  private final URI target;
  private final List<SocketChannel> open = new ArrayList<>();
  private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
  private final ScheduledFuture<?> beats;
  private volatile int replaced;

  private SlowConnections(URI target, int number) throws IOException {
    this.target = target;
    for (int i = 0; i < number; i++) {
      open.add(connect(i));
    }
    beats =
        clock.scheduleWithFixedDelay(
            this::beat, BETWEEN_BYTES_MILLIS, BETWEEN_BYTES_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Connects so many; they are open when this returns. */
  static SlowConnections open(URI target, int number) throws IOException {
    return new SlowConnections(target, number);
  }

  /** How many the gateway has ended so far. */
  int replaced() {
    return replaced;
  }

  private SocketChannel connect(int index) throws IOException {
    int port = target.getPort() < 0 ? 80 : target.getPort();
    SocketChannel channel = SocketChannel.open(new InetSocketAddress(target.getHost(), port));
    String head = "POST " + target.getPath() + " HTTP/1.1\r\nHost: " + target.getAuthority();
    switch (index % 3) {
      case 0 -> write(channel, head + "\r\nX-Slow: ");
      case 1 ->
          write(
              channel,
              head + "\r\nIdempotency-Key: slow\r\nContent-Length: " + BODY_LENGTH + "\r\n\r\n");
      default -> {}
    }
    channel.configureBlocking(false);
    return channel;
  }

  private static void write(SocketChannel channel, String text) throws IOException {
    channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)));
  }

  private void beat() {
    for (int i = 0; i < open.size(); i++) {
      if (!goesOn(open.get(i), i % 3 != 2)) {
        replace(i);
      }
    }
  }

  /** Sends a byte, unless the gateway has ended the connection. */
  private static boolean goesOn(SocketChannel channel, boolean drips) {
    try {
      if (channel.read(ByteBuffer.allocate(1024)) != 0) {
        return false;
      }
      if (drips) {
        channel.write(ByteBuffer.wrap(new byte[] {FILLER}));
      }
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  private void replace(int index) {
    try {
      open.get(index).close();
      open.set(index, connect(index));
      replaced++;
    } catch (IOException e) {
      // Refused or cut again: the next beat tries anew.
    }
  }

  @Override
  public void close() throws IOException {
    beats.cancel(false);
    clock.shutdown();
    try {
      if (!clock.awaitTermination(10, TimeUnit.SECONDS)) {
        throw new IOException("the slow connections do not stop");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    for (SocketChannel channel : open) {
      channel.close();
    }
  }
}
