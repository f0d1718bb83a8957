package dev.idempotency.gateway.testing;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

/**
 * Speaks just enough of the Redis protocol to be connected to, and answers all else by a script:
 * for what a real server says too seldom.
 */
public final class ScriptedRedis implements AutoCloseable {

  private final ServerSocket listener;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final List<String> received = new CopyOnWriteArrayList<>();
  private volatile Function<List<String>, String> script;

  private ScriptedRedis(Function<List<String>, String> script) {
    this.script = script;
    try {
      this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    daemon(this::accept);
  }

  /**
   * A server on a free port.
   *
   * @param script makes the reply, in the protocol's form but for the last line's end, out of the
   *     words of the command; null: the usual reply
   */
  public static ScriptedRedis start(Function<List<String>, String> script) {
    return new ScriptedRedis(script);
  }

  /** Answers the store's scripts with that error, from the first after connecting on. */
  public static ScriptedRedis refusing(String error) {
    return start(words -> words.get(0).equals("EVALSHA") ? "-" + error : null);
  }

  /** A sentinel that names that primary. */
  public static ScriptedRedis sentinel(int primary, long epoch) {
    String port = Integer.toString(primary);
    return start(
        words ->
            words.get(0).equals("SENTINEL")
                ? array("ip", "127.0.0.1", "port", port, "config-epoch", Long.toString(epoch))
                : null);
  }

  public void script(Function<List<String>, String> next) {
    script = next;
  }

  /** An array of texts. */
  public static String array(String... parts) {
    StringBuilder text = new StringBuilder("*" + parts.length);
    for (String part : parts) {
      text.append("\r\n$").append(part.length()).append("\r\n").append(part);
    }
    return text.toString();
  }

  public int port() {
    return listener.getLocalPort();
  }

  /** The first words of all commands so far. */
  public List<String> received() {
    return received;
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket socket = listener.accept();
        sockets.add(socket);
        daemon(() -> serve(socket));
      } catch (IOException e) {
        // Closed.
      }
    }
  }

  private static void daemon(Runnable work) {
    Thread thread = new Thread(work, "scripted-redis");
    thread.setDaemon(true);
    thread.start();
  }

  private void serve(Socket socket) {
    try (socket) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      for (; ; ) {
        List<String> words = read(in);
        received.add(words.get(0));
        String reply = script.apply(words);
        String text = (reply == null ? usual(words) : reply) + "\r\n";
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
      }
    } catch (IOException e) {
      // The client has gone.
    } finally {
      sockets.remove(socket);
    }
  }

  private static List<String> read(InputStream in) throws IOException {
    int count = Integer.parseInt(line(in).substring(1));
    List<String> words = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int length = Integer.parseInt(line(in).substring(1));
      words.add(new String(in.readNBytes(length), StandardCharsets.ISO_8859_1));
      line(in);
    }
    return words;
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder text = new StringBuilder();
    for (int c = in.read(); c != '\r'; c = in.read()) {
      if (c < 0) {
        throw new EOFException();
      }
      text.append((char) c);
    }
    in.read();
    return text.toString();
  }

  /** As an old server: without HELLO, so that the older form of the protocol is spoken. */
  private static String usual(List<String> words) {
    return switch (words.get(0)) {
      case "PING" -> "+PONG";
      case "CLIENT", "SELECT", "AUTH" -> "+OK";
      case "EVAL" -> "$1\r\nD";
      case "SCRIPT" -> "$2\r\nok";
      default -> "-ERR unknown command";
    };
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
