package dev.idempotency.gateway.testing;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A client that writes bytes as they are and reads responses as they come. */
public final class RawClient implements AutoCloseable {

  private static final int PATIENCE_MILLIS = 15_000;

  private final Socket socket;
  private final InputStream in;

  private RawClient(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new java.io.BufferedInputStream(socket.getInputStream(), 64 * 1024);
  }

  public static RawClient connect(int port) {
    try {
      Socket socket = new Socket();
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(PATIENCE_MILLIS);
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 5_000);
      return new RawClient(socket);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Over a connection that was made elsewhere, such as a TLS one. */
  public static RawClient over(Socket socket) {
    try {
      socket.setSoTimeout(PATIENCE_MILLIS);
      return new RawClient(socket);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** One request on a connection of its own. */
  public static RawResponse once(int port, byte[] request) {
    try (RawClient client = connect(port)) {
      return client.send(request).read();
    }
  }

  /** One request whose answer may come, and end the connection, before the request is out. */
  public static RawResponse onceIgnoringWriteFailure(int port, byte[] request) {
    try (RawClient client = connect(port)) {
      Thread writer =
          new Thread(
              () -> {
                try {
                  client.send(request);
                } catch (UncheckedIOException e) {
                  // The peer wants no more.
                }
              });
      writer.start();
      return client.read();
    }
  }

  /** A POST with a JSON body. */
  public static byte[] post(String target, String key, String body, String... headerLines) {
    return request(
        "POST",
        target,
        key,
        "application/json",
        body.getBytes(StandardCharsets.UTF_8),
        headerLines);
  }

  public static byte[] request(
      String method, String target, String key, String type, byte[] body, String... headerLines) {
    StringBuilder head =
        new StringBuilder(method + " " + target + " HTTP/1.1\r\nHost: gw.test\r\n");
    if (key != null) {
      head.append("Idempotency-Key: ").append(key).append("\r\n");
    }
    if (type != null) {
      head.append("Content-Type: ").append(type).append("\r\n");
    }
    for (String line : headerLines) {
      head.append(line).append("\r\n");
    }
    if (body != null) {
      head.append("Content-Length: ").append(body.length).append("\r\n");
    }
    head.append("\r\n");
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.writeBytes(head.toString().getBytes(StandardCharsets.ISO_8859_1));
    if (body != null) {
      bytes.writeBytes(body);
    }
    return bytes.toByteArray();
  }

  public RawClient send(String text) {
    return send(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  public RawClient send(byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
      socket.getOutputStream().flush();
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sends the array from there on. */
  public RawClient send(byte[] bytes, int from) {
    try {
      socket.getOutputStream().write(bytes, from, bytes.length - from);
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends the sending side only. */
  public RawClient halfClose() {
    try {
      socket.shutdownOutput();
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Closes with a reset. */
  public void reset() {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads on until that text has come; what was read is gone. */
  public String readUntil(String text) {
    try {
      StringBuilder seen = new StringBuilder();
      while (seen.indexOf(text) < 0) {
        int next = in.read();
        if (next < 0) {
          throw new EOFException("the connection ended after: " + seen);
        }
        seen.append((char) next);
      }
      return seen.toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** All bytes that come before the connection ends, with a reset or without. */
  public String readToEnd() {
    StringBuilder seen = new StringBuilder();
    try {
      for (int next = in.read(); next >= 0; next = in.read()) {
        seen.append((char) next);
      }
    } catch (java.net.SocketException e) {
      // Reset.
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return seen.toString();
  }

  /** The next final response to a request other than HEAD; interim ones are skipped. */
  public RawResponse read() {
    RawResponse response = readAny(false);
    while (response.status() < 200 && response.status() != 101) {
      response = readAny(false);
    }
    return response;
  }

  /** The same, with more patience. */
  public RawResponse read(java.time.Duration patience) {
    try {
      socket.setSoTimeout((int) patience.toMillis());
      return read();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The next response, interim ones too. */
  public RawResponse readAny(boolean head) {
    try {
      List<String> lines = new ArrayList<>();
      String statusLine = line();
      for (String line = line(); !line.isEmpty(); line = line()) {
        lines.add(line);
      }
      int status = Integer.parseInt(statusLine.substring(9, 12));
      RawResponse bare = new RawResponse(status, lines, new byte[0], true);
      return head || status < 200 || status == 204 || status == 304 ? bare : withBody(bare);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private RawResponse withBody(RawResponse bare) throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    boolean complete = true;
    try {
      if ("chunked".equals(bare.header("Transfer-Encoding"))) {
        readChunks(body, bare.headerLines());
      } else if (bare.header("Content-Length") != null) {
        copy(Integer.parseInt(bare.header("Content-Length")), body);
      } else {
        in.transferTo(body);
      }
    } catch (EOFException e) {
      complete = false;
    } catch (java.net.SocketException e) {
      complete = false;
    }
    return new RawResponse(bare.status(), bare.headerLines(), body.toByteArray(), complete);
  }

  private void readChunks(ByteArrayOutputStream body, List<String> lines) throws IOException {
    int size = Integer.parseInt(line().trim(), 16);
    while (size > 0) {
      copy(size, body);
      line();
      size = Integer.parseInt(line().trim(), 16);
    }
    for (String trailer = line(); !trailer.isEmpty(); trailer = line()) {
      lines.add(trailer);
    }
  }

  private void copy(int length, ByteArrayOutputStream body) throws IOException {
    byte[] buffer = new byte[8192];
    int left = length;
    while (left > 0) {
      int read = in.read(buffer, 0, Math.min(left, buffer.length));
      if (read < 0) {
        throw new EOFException();
      }
      body.write(buffer, 0, read);
      left -= read;
    }
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new EOFException("the connection ended after: " + line);
      }
      if (b != '\r') {
        line.append((char) b);
      }
    }
    return line.toString();
  }

  /** Waits for the next byte and leaves it to be read. */
  public int peek() {
    try {
      in.mark(1);
      int next = in.read();
      in.reset();
      return next;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether the peer closes without sending anything more. */
  public boolean isClosedByPeer() {
    try {
      return in.read() < 0;
    } catch (java.net.SocketException e) {
      return true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
