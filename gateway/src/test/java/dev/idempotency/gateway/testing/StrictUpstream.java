package dev.idempotency.gateway.testing;

import dev.idempotency.gateway.testing.StrictHttp.End;
import dev.idempotency.gateway.testing.StrictHttp.Reading;
import dev.idempotency.gateway.testing.StrictHttp.Request;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * An upstream that mends nothing: it keeps what has one strict reading, answers with an echo of it,
 * and keeps apart what has none.
 */
public final class StrictUpstream implements AutoCloseable {

  /** Of its answers, so that nobody takes one of the gateway for one of them. */
  public static final int STATUS = 203;

  private final ServerSocket listener;
  private final Queue<String> seen = new ConcurrentLinkedQueue<>();
  private final Queue<String> malformed = new ConcurrentLinkedQueue<>();
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();

  private StrictUpstream() throws IOException {
    listener = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
    daemon(this::accept);
  }

  public static StrictUpstream start() {
    try {
      return new StrictUpstream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public String url() {
    return "http://127.0.0.1:" + listener.getLocalPort();
  }

  /** What must be the same in the client's bytes and in those that come upstream. */
  public static String shown(Request request) {
    return line(request)
        + " id="
        + id(request)
        + " body="
        + Fuzz.escaped(new String(request.body(), StandardCharsets.ISO_8859_1));
  }

  /** What Connection names ends with the connection (RFC 9110 §7.6.1). */
  private static String id(Request request) {
    boolean named =
        request.fields().stream()
            .filter(field -> field.name().equalsIgnoreCase("Connection"))
            .flatMap(field -> Arrays.stream(field.value().split(",", -1)))
            .anyMatch(option -> option.trim().equalsIgnoreCase("X-Fuzz-Id"));
    return named ? "-" : request.field("X-Fuzz-Id");
  }

  public static String line(Request request) {
    return request.method()
        + ' '
        + request.target()
        + " key="
        + Fuzz.escaped(request.field("Idempotency-Key"));
  }

  public static String hash(String shown) {
    return Integer.toHexString(shown.hashCode());
  }

  /** The whole requests that came since this was asked last. */
  public List<String> taken() {
    List<String> all = new ArrayList<>();
    for (String next = seen.poll(); next != null; next = seen.poll()) {
      all.add(next);
    }
    return all;
  }

  /** Bytes that are no request. */
  public List<String> malformed() {
    return List.copyOf(malformed);
  }

  private void accept() {
    try {
      while (!listener.isClosed()) {
        Socket socket = listener.accept();
        socket.setTcpNoDelay(true);
        open.add(socket);
        daemon(() -> serve(socket));
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private void serve(Socket socket) {
    ByteArrayOutputStream waiting = new ByteArrayOutputStream();
    byte[] buffer = new byte[64 * 1024];
    try (socket) {
      for (int read = socket.getInputStream().read(buffer);
          read >= 0;
          read = socket.getInputStream().read(buffer)) {
        waiting.write(buffer, 0, read);
        byte[] bytes = waiting.toByteArray();
        Reading<Request> reading = StrictHttp.requests(bytes);
        if (reading.end() == End.MALFORMED || reading.found().size() > 1) {
          malformed.add(Fuzz.shown(bytes));
          return;
        }
        if (!reading.found().isEmpty()) {
          answer(socket, reading.found().get(0));
          waiting.reset();
        }
      }
    } catch (IOException e) {
      // The gateway or the test ended the connection.
    } finally {
      open.remove(socket);
    }
  }

  private void answer(Socket socket, Request request) throws IOException {
    String echo = shown(request);
    seen.add(echo);
    String head =
        "HTTP/1.1 " + STATUS + " Seen\r\nX-Line: " + line(request) + "\r\nX-Echo: " + hash(echo);
    String body = request.method().equals("HEAD") ? "" : echo;
    String response = head + "\r\nContent-Length: " + echo.length() + "\r\n\r\n" + body;
    socket.getOutputStream().write(response.getBytes(StandardCharsets.ISO_8859_1));
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket socket : open) {
      socket.close();
    }
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "strict-upstream");
    thread.setDaemon(true);
    thread.start();
  }
}
