package dev.idempotency.gateway.testing;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Speaks just enough of the Redis protocol to be taken for a newer server than there is: it keeps
 * nothing, grants every reservation and says about the disk what a test wants.
 */
public final class NewerRedis implements AutoCloseable {

  private final ServerSocket listener;
  private final String waitaof;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final List<List<String>> waits = new CopyOnWriteArrayList<>();

  private NewerRedis(ServerSocket listener, String waitaof) {
    this.listener = listener;
    this.waitaof = waitaof;
  }

  /**
   * A server on a free port.
   *
   * @param waitaof the whole reply to WAITAOF
   */
  public static NewerRedis start(String waitaof) {
    try {
      ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
      NewerRedis server = new NewerRedis(listener, waitaof);
      daemon(server::accept);
      return server;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  public int port() {
    return listener.getLocalPort();
  }

  /** Each WAITAOF so far, with its arguments. */
  public List<List<String>> waits() {
    return waits;
  }

  private static void daemon(Runnable work) {
    Thread thread = new Thread(work, "newer-redis");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (true) {
      try {
        Socket socket = listener.accept();
        sockets.add(socket);
        daemon(() -> serve(socket));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      OutputStream out = socket.getOutputStream();
      while (true) {
        out.write(reply(command(in)).getBytes(StandardCharsets.ISO_8859_1));
        out.flush();
      }
    } catch (IOException e) {
      // The client is gone.
    }
  }

  private String reply(List<String> command) {
    return switch (command.get(0).toUpperCase(Locale.ROOT)) {
      case "HELLO" -> "-ERR unknown command 'HELLO'\r\n";
      case "WAITAOF" -> {
        waits.add(command);
        yield waitaof;
      }
      // The probe and reservations; there is no other script in these tests.
      case "EVAL", "EVALSHA" -> command.size() > 5 ? "$1\r\nA\r\n" : "$1\r\nD\r\n";
      default -> "+OK\r\n";
    };
  }

  private static List<String> command(InputStream in) throws IOException {
    List<String> command = new ArrayList<>();
    int parts = number(in);
    for (int i = 0; i < parts; i++) {
      byte[] part = in.readNBytes(number(in));
      in.skipNBytes(2);
      command.add(new String(part, StandardCharsets.ISO_8859_1));
    }
    return command;
  }

  /** The number in a line that begins with the kind of what follows. */
  private static int number(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        throw new EOFException();
      }
      line.append((char) next);
    }
    return Integer.parseInt(line.substring(1).strip());
  }

  @Override
  public void close() {
    try {
      listener.close();
      for (Socket socket : sockets) {
        socket.close();
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
