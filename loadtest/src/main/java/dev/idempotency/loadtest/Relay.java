package dev.idempotency.loadtest;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * One hop of TCP that can be cut, slowed and black-holed. Two threads for each connection: the
 * laboratory has few.
 *
 * <p>Threading: from any thread.
 */
final class Relay implements Closeable {

  /** What becomes of the bytes. */
  enum Mode {
    PASS,
    /** Each piece comes later. */
    SLOW,
    /** Requests arrive, answers do not: they are thrown away. */
    NO_ANSWERS,
    /** Nothing arrives any more, and nobody is told. */
    HOLE
  }

  private static final int PIECE = 16 * 1024;
  private static final int CONNECT_MILLIS = 2_000;

  private final ServerSocket listener;
  private volatile int target;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private volatile Mode mode = Mode.PASS;
  private volatile long delayMillis;

  private Relay(ServerSocket listener, int target) {
    this.listener = listener;
    this.target = target;
  }

  /** Listens on a free port of this machine and passes on to another one. */
  static Relay to(int target) throws IOException {
    Relay relay = new Relay(new ServerSocket(0, 256, InetAddress.getLoopbackAddress()), target);
    daemon(relay::accept);
    return relay;
  }

  /** Listens, and passes on as soon as {@link #target} says where to. */
  static Relay waiting() throws IOException {
    return to(0);
  }

  /** Where to from now on. */
  void target(int port) {
    target = port;
  }

  int port() {
    return listener.getLocalPort();
  }

  void pass() {
    mode = Mode.PASS;
    delayMillis = 0;
  }

  /** A hole stays one for the connections it has met: what fell into it is gone. */
  void fail(Mode how, long delay) {
    delayMillis = delay;
    mode = how;
  }

  /** Passes again; what fell into a hole stays lost, and the connections go with it. */
  void mend() {
    pass();
    cut();
  }

  /** Resets all connections. */
  void cut() {
    for (Socket socket : open) {
      reset(socket);
    }
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        daemon(() -> connect(client));
      } catch (IOException e) {
        // Closed, or out of descriptors: the next round tells.
      }
    }
  }

  private void connect(Socket client) {
    Socket server = new Socket();
    open.add(client);
    open.add(server);
    try {
      server.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), target), CONNECT_MILLIS);
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
      daemon(() -> pump(server, client, true));
      pump(client, server, false);
    } catch (IOException e) {
      drop(client, server);
    }
  }

  private void pump(Socket from, Socket to, boolean answers) {
    byte[] piece = new byte[PIECE];
    boolean lost = false;
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int n = in.read(piece); n >= 0; n = in.read(piece)) {
        // A stream with a gap would be another stream: what follows a loss is lost as well.
        lost |= mode == Mode.HOLE || (answers && mode == Mode.NO_ANSWERS);
        if (!lost) {
          delay();
          out.write(piece, 0, n);
        }
      }
    } catch (IOException e) {
      // One end is gone: so is the other.
    } finally {
      drop(from, to);
    }
  }

  private void delay() {
    if (mode == Mode.SLOW) {
      try {
        TimeUnit.MILLISECONDS.sleep(delayMillis);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void drop(Socket one, Socket other) {
    reset(one);
    reset(other);
    open.remove(one);
    open.remove(other);
  }

  private static void reset(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // It is closed either way.
    }
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "relay");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() throws IOException {
    listener.close();
    cut();
  }
}
