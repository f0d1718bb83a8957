package dev.idempotency.gateway.testing;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/**
 * An upstream that does to each request what a test says: answers any bytes, holds, closes, resets,
 * stalls. It records what it was sent.
 */
public final class ScriptedUpstream implements AutoCloseable {

  /** What to do with one request, on its own thread. */
  public interface Script {
    void run(Received request, Wire wire) throws Exception;
  }

  /** A request as it came, its body without framing. */
  public record Received(String line, List<String> headerLines, byte[] body) {
    public String header(String name) {
      List<String> values = headers(name);
      return values.isEmpty() ? null : values.get(0);
    }

    public List<String> headers(String name) {
      String prefix = name.toLowerCase(Locale.ROOT) + ":";
      return headerLines.stream()
          .filter(line -> line.toLowerCase(Locale.ROOT).startsWith(prefix))
          .map(line -> line.substring(prefix.length()).trim())
          .toList();
    }

    public String text() {
      return new String(body, StandardCharsets.ISO_8859_1);
    }
  }

  /** The connection of one request. */
  public static final class Wire {
    private final Socket socket;
    private final Socket raw;
    private final InputStream in;
    private boolean keep = true;

    private Wire(Socket socket, Socket raw) throws IOException {
      this.socket = socket;
      this.raw = raw;
      this.in = new BufferedInputStream(socket.getInputStream(), 64 * 1024);
    }

    public Wire send(String text) throws IOException {
      return send(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    public Wire send(byte[] bytes) throws IOException {
      OutputStream out = socket.getOutputStream();
      out.write(bytes);
      out.flush();
      return this;
    }

    /** Sends pieces that arrive at once, each under TLS in a record of its own. */
    public Wire sendTogether(String... pieces) throws IOException {
      CorkedSocket corked = (CorkedSocket) raw;
      corked.cork();
      for (String piece : pieces) {
        send(piece);
      }
      corked.uncork();
      return this;
    }

    /** A whole response with a length. */
    public Wire respond(int status, String body, String... headerLines) throws IOException {
      return respond(status, body.getBytes(StandardCharsets.ISO_8859_1), headerLines);
    }

    public Wire respond(int status, byte[] body, String... headerLines) throws IOException {
      StringBuilder head = new StringBuilder("HTTP/1.1 " + status + " X\r\n");
      for (String line : headerLines) {
        head.append(line).append("\r\n");
      }
      head.append("Content-Length: ").append(body.length).append("\r\n\r\n");
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      bytes.writeBytes(head.toString().getBytes(StandardCharsets.ISO_8859_1));
      bytes.writeBytes(body);
      return send(bytes.toByteArray());
    }

    /** Closes with FIN. */
    public void close() throws IOException {
      keep = false;
      socket.close();
    }

    /** Closes with RST. */
    public void reset() throws IOException {
      keep = false;
      raw.setSoLinger(true, 0);
      raw.close();
    }

    /** Closes with FIN, and under TLS without close_notify. */
    public void cut() throws IOException {
      keep = false;
      raw.close();
    }

    public Socket socket() {
      return socket;
    }

    /** What follows the request, or its body where bodies are not read. */
    public InputStream in() {
      return in;
    }
  }

  /** Holds requests until it is opened. */
  public static final class Gate {
    private final CountDownLatch latch = new CountDownLatch(1);

    public void open() {
      latch.countDown();
    }

    /** A script. */
    public void passAndAnswer(Received request, Wire wire) throws Exception {
      pass();
      wire.respond(200, "ok");
    }

    public void pass() throws InterruptedException {
      if (!latch.await(30, TimeUnit.SECONDS)) {
        throw new IllegalStateException("the gate was never opened");
      }
    }
  }

  private final ServerSocket listener;
  private final List<Received> received = new CopyOnWriteArrayList<>();
  private final AtomicInteger connections = new AtomicInteger();
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private volatile Script script;
  private volatile boolean readBodies = true;
  private volatile SSLContext tls;
  private volatile boolean clientCertificates;

  private ScriptedUpstream(Script script) throws IOException {
    this.script = script;
    this.listener = new CorkedSocket.Listener();
    daemon("upstream-accept", this::accept);
  }

  public static ScriptedUpstream start(Script script) {
    try {
      return new ScriptedUpstream(script);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Speaks TLS from the next connection on, as that says. */
  public ScriptedUpstream tls(SSLContext context) {
    tls = context;
    return this;
  }

  /** Demands certificates of those that connect. */
  public ScriptedUpstream demandingCertificates() {
    clientCertificates = true;
    return this;
  }

  /** Answers 200 "ok" to everything. */
  public static ScriptedUpstream ok() {
    return start((request, wire) -> wire.respond(200, "ok", "Content-Type: text/plain"));
  }

  public void script(Script next) {
    script = next;
  }

  /** The script runs as soon as the head is there and reads the body itself, or does not. */
  public ScriptedUpstream withoutReadingBodies() {
    readBodies = false;
    return this;
  }

  public int port() {
    return listener.getLocalPort();
  }

  public String url() {
    return (tls == null ? "http" : "https") + "://127.0.0.1:" + port();
  }

  public int requests() {
    return received.size();
  }

  public List<Received> received() {
    return List.copyOf(received);
  }

  public Received last() {
    return received.get(received.size() - 1);
  }

  /** How many connections were accepted. */
  public int connections() {
    return connections.get();
  }

  /** How many of them are open; a connection that the gateway closed ends with its script. */
  public int openConnections() {
    return open.size();
  }

  private void accept() {
    try {
      while (!listener.isClosed()) {
        Socket socket = listener.accept();
        socket.setTcpNoDelay(true);
        connections.incrementAndGet();
        open.add(socket);
        daemon("upstream-serve", () -> serve(socket));
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private void serve(Socket socket) {
    try {
      Wire wire = new Wire(secured(socket), socket);
      while (wire.keep) {
        Received request = read(wire.in);
        if (request == null) {
          break;
        }
        received.add(request);
        script.run(request, wire);
      }
    } catch (Exception e) {
      // The gateway or the test ended the connection.
    } finally {
      open.remove(socket);
      try {
        socket.close();
      } catch (IOException e) {
        // It is closed.
      }
    }
  }

  private Socket secured(Socket raw) throws IOException {
    if (tls == null) {
      return raw;
    }
    SSLSocket socket =
        (SSLSocket) tls.getSocketFactory().createSocket(raw, "127.0.0.1", raw.getPort(), true);
    socket.setUseClientMode(false);
    socket.setNeedClientAuth(clientCertificates);
    socket.startHandshake();
    return socket;
  }

  private Received read(InputStream in) throws IOException {
    String line = line(in);
    if (line == null) {
      return null;
    }
    List<String> lines = new ArrayList<>();
    for (String header = line(in); header != null && !header.isEmpty(); header = line(in)) {
      lines.add(header);
    }
    Received head = new Received(line, List.copyOf(lines), new byte[0]);
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    if (readBodies && "chunked".equalsIgnoreCase(head.header("Transfer-Encoding"))) {
      for (int size = size(in); size > 0; size = size(in)) {
        body.writeBytes(exactly(size, in));
        line(in);
      }
      while (!line(in).isEmpty()) {}
    } else if (readBodies && head.header("Content-Length") != null) {
      body.writeBytes(exactly(Integer.parseInt(head.header("Content-Length")), in));
    }
    return new Received(line, head.headerLines(), body.toByteArray());
  }

  /** A body that is cut off is no request. */
  private static byte[] exactly(int length, InputStream in) throws IOException {
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException();
    }
    return bytes;
  }

  private static int size(InputStream in) throws IOException {
    return Integer.parseInt(line(in).trim(), 16);
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        return null;
      }
      if (b != '\r') {
        line.append((char) b);
      }
    }
    return line.toString();
  }

  /** Accepts nothing more; connecting is refused. */
  public void refuse() {
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    refuse();
    for (Socket socket : open) {
      try {
        socket.close();
      } catch (IOException e) {
        // It is closed.
      }
    }
  }

  private static void daemon(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }
}
