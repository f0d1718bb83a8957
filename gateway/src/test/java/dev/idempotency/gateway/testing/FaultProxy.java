package dev.idempotency.gateway.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A TCP proxy on a free port that damages what passes through it. A fault holds for open and for
 * new connections until {@link #pass()}.
 */
public final class FaultProxy implements AutoCloseable {

  private enum Mode {
    PASS,
    BLACK_HOLE
  }

  private final InetSocketAddress target;
  private final int port;
  private final Set<Link> links = ConcurrentHashMap.newKeySet();
  private final AtomicInteger accepted = new AtomicInteger();
  private final AtomicLong sent = new AtomicLong();
  private final AtomicBoolean swallow = new AtomicBoolean();
  private volatile ServerSocket listener;
  private volatile Thread acceptor;
  private volatile Mode mode = Mode.PASS;
  private volatile long delayMillis;

  private FaultProxy(InetSocketAddress target) {
    this.target = target;
    this.listener = listen(0);
    this.port = listener.getLocalPort();
  }

  public static FaultProxy to(String host, int port) {
    return new FaultProxy(new InetSocketAddress(host, port));
  }

  /** In front of a Redis. */
  public static FaultProxy to(RedisServer server) {
    return to(server.host(), server.port());
  }

  /** The port to connect to, on 127.0.0.1. */
  public int port() {
    return port;
  }

  /** How many connections were accepted so far. */
  public int accepted() {
    return accepted.get();
  }

  /** How many bytes clients have sent so far. */
  public long sent() {
    return sent.get();
  }

  /** How many connections are open now. */
  public int open() {
    return links.size();
  }

  /** Ends all faults for new connections. A connection that lost bytes stays as it is. */
  public void pass() {
    mode = Mode.PASS;
    delayMillis = 0;
    swallow.set(false);
    if (listener.isClosed()) {
      listener = listen(port);
    }
  }

  /**
   * Accepts and never answers: bytes vanish in both directions. A connection that lost a byte stays
   * a black hole for ever.
   */
  public void blackHole() {
    mode = Mode.BLACK_HOLE;
  }

  /** Holds back each answer of the target that long. */
  public void delay(Duration time) {
    delayMillis = time.toMillis();
  }

  /** Resets what is open and refuses new connections. */
  public void refuse() {
    close(listener);
    try {
      // The kernel goes on accepting as long as a thread waits in it.
      acceptor.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    resetAll();
  }

  /** Resets all open connections; new ones pass. */
  public void resetAll() {
    // Of the set itself also those that come back meanwhile would be reset.
    List.copyOf(links).forEach(Link::reset);
  }

  /** Lets the next request pass, drops its reply, resets that connection; later ones pass. */
  public void swallowNextReply() {
    swallow.set(true);
  }

  /** Whether the reply that {@link #swallowNextReply} waits for has been dropped. */
  public boolean hasSwallowed() {
    return !swallow.get();
  }

  @Override
  public void close() {
    refuse();
  }

  private ServerSocket listen(int at) {
    try {
      ServerSocket socket = new ServerSocket();
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), at));
      acceptor = daemon(() -> accept(socket));
      return socket;
    } catch (IOException e) {
      throw new IllegalStateException("cannot listen on port " + at, e);
    }
  }

  private void accept(ServerSocket socket) {
    while (!socket.isClosed()) {
      try {
        Socket client = socket.accept();
        accepted.incrementAndGet();
        open(client);
      } catch (IOException e) {
        // Closed by refuse(), or the target is away: the client was reset.
      }
    }
  }

  private void open(Socket client) throws IOException {
    Socket server = new Socket();
    Link link = new Link(client, server);
    links.add(link);
    try {
      server.connect(target, 5_000);
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
    } catch (IOException e) {
      link.reset();
      throw e;
    }
    daemon(() -> link.pump(client, server, false));
    daemon(() -> link.pump(server, client, true));
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "fault-proxy");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static void close(AutoCloseable socket) {
    try {
      socket.close();
    } catch (Exception e) {
      // It is gone in any case.
    }
  }

  /** One connection of a client and its counterpart to the target. */
  private final class Link {
    private final Socket client;
    private final Socket server;
    private volatile boolean damaged;

    Link(Socket client, Socket server) {
      this.client = client;
      this.server = server;
    }

    void pump(Socket from, Socket to, boolean isReply) {
      byte[] buffer = new byte[65_536];
      try {
        for (int n = read(from, buffer); n >= 0; n = read(from, buffer)) {
          if (isReply && swallow.getAndSet(false)) {
            break;
          }
          if (isReply && delayMillis > 0) {
            Thread.sleep(delayMillis);
          }
          damaged |= mode == Mode.BLACK_HOLE;
          if (!damaged) {
            to.getOutputStream().write(buffer, 0, n);
          }
          if (!isReply) {
            sent.addAndGet(n);
          }
        }
      } catch (IOException | InterruptedException e) {
        // Falls through to the reset.
      }
      reset();
    }

    private int read(Socket from, byte[] buffer) throws IOException {
      return from.getInputStream().read(buffer);
    }

    void reset() {
      links.remove(this);
      try {
        // Without lingering, closing sends a reset.
        client.setSoLinger(true, 0);
      } catch (IOException e) {
        // Closed already.
      }
      close(client);
      close(server);
    }
  }
}
