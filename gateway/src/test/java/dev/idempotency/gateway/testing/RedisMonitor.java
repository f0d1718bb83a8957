package dev.idempotency.gateway.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Listens to all commands that a Redis executes, those of scripts included. */
public final class RedisMonitor implements AutoCloseable {

  private final Socket socket;
  private final List<String> commands = new CopyOnWriteArrayList<>();

  private RedisMonitor(Socket socket) {
    this.socket = socket;
  }

  /** Hears everything that is executed after this returns. */
  public static RedisMonitor of(RedisServer server) {
    try {
      Socket socket = new Socket(server.host(), server.port());
      socket.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.US_ASCII));
      BufferedReader in =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
      if (!"+OK".equals(in.readLine())) {
        throw new IllegalStateException("Redis can't be monitored");
      }
      RedisMonitor monitor = new RedisMonitor(socket);
      Thread thread = new Thread(() -> monitor.listen(in), "redis-monitor");
      thread.setDaemon(true);
      thread.start();
      return monitor;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void listen(BufferedReader in) {
    try {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        commands.add(line);
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  /** The calls of that command so far, bytes that are not printable escaped. */
  public List<String> calls(String command) {
    String quoted = "] \"" + command + "\"";
    return commands.stream().filter(line -> line.contains(quoted)).toList();
  }

  /** Everything so far that has that text in it, such as the prefix of all keys. */
  public List<String> naming(String text) {
    return commands.stream().filter(line -> line.contains(text)).toList();
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
