package dev.idempotency.gateway.testing;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An HTTP/2 server made of bare frames, which does to each request what a test says, right or wrong
 * (RFC 9113). It records every frame that it was sent.
 */
public final class ScriptedHttp2Server implements AutoCloseable {

  public static final int DATA = 0;
  public static final int HEADERS = 1;
  public static final int RST_STREAM = 3;
  public static final int SETTINGS = 4;
  public static final int PUSH_PROMISE = 5;
  public static final int PING = 6;
  public static final int GOAWAY = 7;
  public static final int WINDOW_UPDATE = 8;
  public static final int CONTINUATION = 9;
  public static final int END_STREAM = 1;
  public static final int END_HEADERS = 4;

  public static final int MAX_CONCURRENT_STREAMS = 3;
  public static final int INITIAL_WINDOW_SIZE = 4;

  private static final byte[] PREFACE =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  /** What to do with one request, on the thread that reads the connection. */
  public interface Script {
    void run(Request request, Wire wire) throws Exception;
  }

  /** A frame as it came. */
  public record Frame(int type, int flags, int stream, byte[] payload) {

    /** The number that a RST_STREAM or a WINDOW_UPDATE carries. */
    public int number() {
      return Unpooled.wrappedBuffer(payload).getInt(0);
    }
  }

  /** A request as it came: pseudo-header fields are fields like others. */
  public record Request(int stream, List<Map.Entry<String, String>> fields, byte[] body) {

    public String field(String name) {
      List<String> values = fields(name);
      return values.isEmpty() ? null : values.get(0);
    }

    public List<String> fields(String name) {
      return fields.stream().filter(f -> f.getKey().equals(name)).map(Map.Entry::getValue).toList();
    }

    public String text() {
      return new String(body, StandardCharsets.ISO_8859_1);
    }
  }

  private final ServerSocket listener;
  private final List<Frame> frames = new CopyOnWriteArrayList<>();
  private final List<Request> received = new CopyOnWriteArrayList<>();
  private final Set<Wire> open = ConcurrentHashMap.newKeySet();
  private final AtomicInteger connections = new AtomicInteger();
  private volatile Script script;
  private volatile int[] settings = {MAX_CONCURRENT_STREAMS, 100};
  private volatile boolean silent;
  private volatile boolean atHead;
  private volatile boolean fillsWindows = true;

  private ScriptedHttp2Server(Script script) throws IOException {
    this.script = script;
    this.listener = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
    daemon("h2-accept", this::accept);
  }

  public static ScriptedHttp2Server start(Script script) {
    try {
      return new ScriptedHttp2Server(script);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Answers 200 "ok" to everything. */
  public static ScriptedHttp2Server ok() {
    return start((request, wire) -> wire.respond(request.stream(), 200, "ok"));
  }

  public void script(Script next) {
    script = next;
  }

  /** Alternating identifiers and values, for connections to come. */
  public ScriptedHttp2Server settings(int... pairs) {
    settings = pairs.clone();
    return this;
  }

  /** Accepts and says nothing at all. */
  public ScriptedHttp2Server silent() {
    silent = true;
    return this;
  }

  /** The script runs when the head is there and not when the request is whole. */
  public ScriptedHttp2Server atHead() {
    atHead = true;
    return this;
  }

  /** What was received makes no room for more. */
  public ScriptedHttp2Server withoutWindowUpdates() {
    fillsWindows = false;
    return this;
  }

  public int port() {
    return listener.getLocalPort();
  }

  public String url() {
    return "http://127.0.0.1:" + port();
  }

  public int connections() {
    return connections.get();
  }

  public int openConnections() {
    return open.size();
  }

  /** Requests whose head came, in that order where scripts run at the head, else whole ones. */
  public List<Request> received() {
    return List.copyOf(received);
  }

  public Request last() {
    return received.get(received.size() - 1);
  }

  /** The frames of one type that came, of all connections. */
  public List<Frame> frames(int type) {
    return frames.stream().filter(frame -> frame.type() == type).toList();
  }

  /** Number of bytes of content that came. */
  public long contentBytes() {
    return frames(DATA).stream().mapToLong(frame -> frame.payload().length).sum();
  }

  private void accept() {
    try {
      while (!listener.isClosed()) {
        Socket socket = listener.accept();
        socket.setTcpNoDelay(true);
        connections.incrementAndGet();
        Wire wire = new Wire(socket);
        open.add(wire);
        daemon("h2-serve", () -> serve(wire));
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private void serve(Wire wire) {
    try {
      new Reader(wire).run();
    } catch (Exception e) {
      // The gateway or the test ended the connection.
    } finally {
      open.remove(wire);
      wire.quit();
    }
  }

  /** Reads one connection. */
  private final class Reader {
    private final Wire wire;
    private final DataInputStream in;
    private final DefaultHttp2HeadersDecoder fields = new DefaultHttp2HeadersDecoder(true, 1 << 20);
    private final Map<Integer, Request> heads = new LinkedHashMap<>();
    private final Map<Integer, ByteArrayOutputStream> bodies = new LinkedHashMap<>();

    Reader(Wire wire) throws IOException {
      this.wire = wire;
      InputStream raw = wire.socket.getInputStream();
      this.in = new DataInputStream(new BufferedInputStream(raw, 64 * 1024));
    }

    void run() throws Exception {
      byte[] preface = in.readNBytes(PREFACE.length);
      if (silent || preface.length < PREFACE.length) {
        in.transferTo(java.io.OutputStream.nullOutputStream());
        return;
      }
      wire.settings(settings);
      while (true) {
        int length = (in.readUnsignedShort() << 8) | in.readUnsignedByte();
        int type = in.readUnsignedByte();
        int flags = in.readUnsignedByte();
        int stream = in.readInt();
        Frame frame = new Frame(type, flags, stream, in.readNBytes(length));
        frames.add(frame);
        take(frame);
      }
    }

    private void take(Frame frame) throws Exception {
      boolean last = (frame.flags() & END_STREAM) != 0;
      if (frame.type() == SETTINGS && (frame.flags() & 1) == 0) {
        wire.frame(SETTINGS, 1, 0, new byte[0]);
      } else if (frame.type() == HEADERS) {
        head(frame);
        progress(frame.stream(), last, true);
      } else if (frame.type() == DATA) {
        bodies.get(frame.stream()).writeBytes(frame.payload());
        if (fillsWindows && frame.payload().length > 0) {
          wire.windowUpdate(0, frame.payload().length);
          wire.windowUpdate(frame.stream(), frame.payload().length);
        }
        progress(frame.stream(), last, false);
      }
    }

    private void head(Frame frame) throws Exception {
      ByteBuf block = Unpooled.wrappedBuffer(frame.payload());
      Http2Headers headers = fields.decodeHeaders(frame.stream(), block);
      List<Map.Entry<String, String>> list = new ArrayList<>();
      headers.forEach(f -> list.add(Map.entry(f.getKey().toString(), f.getValue().toString())));
      heads.put(frame.stream(), new Request(frame.stream(), List.copyOf(list), new byte[0]));
      bodies.put(frame.stream(), new ByteArrayOutputStream());
    }

    private void progress(int stream, boolean last, boolean head) throws Exception {
      if (atHead ? head : last) {
        Request request =
            new Request(stream, heads.get(stream).fields(), bodies.get(stream).toByteArray());
        received.add(request);
        script.run(request, wire);
      }
    }
  }

  /** A connection, to write on from any thread. */
  public static final class Wire {
    private final Socket socket;

    private Wire(Socket socket) {
      this.socket = socket;
    }

    public Wire frame(int type, int flags, int stream, byte[] payload) throws IOException {
      ByteBuf frame = Unpooled.buffer(9 + payload.length);
      frame.writeMedium(payload.length).writeByte(type).writeByte(flags).writeInt(stream);
      frame.writeBytes(payload);
      return raw(frame.array());
    }

    public Wire raw(byte[] bytes) throws IOException {
      synchronized (this) {
        socket.getOutputStream().write(bytes);
        return this;
      }
    }

    public Wire settings(int... pairs) throws IOException {
      ByteBuf payload = Unpooled.buffer(pairs.length * 3);
      for (int i = 0; i < pairs.length; i += 2) {
        payload.writeShort(pairs[i]).writeInt(pairs[i + 1]);
      }
      return frame(SETTINGS, 0, 0, payload.array());
    }

    /** Alternating names and values, ":status" among them. */
    public Wire headers(int stream, boolean last, String... fields) throws IOException {
      return frame(HEADERS, END_HEADERS | (last ? END_STREAM : 0), stream, block(fields));
    }

    /** Fields as literals that are not indexed, whatever they are (RFC 7541 §6.2.2). */
    public static byte[] block(String... fields) {
      ByteBuf block = Unpooled.buffer();
      for (int i = 0; i < fields.length; i += 2) {
        block.writeByte(0);
        string(block, fields[i]);
        string(block, fields[i + 1]);
      }
      byte[] bytes = new byte[block.readableBytes()];
      block.readBytes(bytes);
      return bytes;
    }

    private static void string(ByteBuf block, String text) {
      int length = text.length();
      block.writeByte(Math.min(length, 127));
      if (length >= 127) {
        int rest = length - 127;
        for (; rest >= 128; rest >>= 7) {
          block.writeByte((rest & 127) | 128);
        }
        block.writeByte(rest);
      }
      block.writeCharSequence(text, StandardCharsets.ISO_8859_1);
    }

    public Wire data(int stream, boolean last, String text) throws IOException {
      return data(stream, last, text.getBytes(StandardCharsets.ISO_8859_1));
    }

    public Wire data(int stream, boolean last, byte[] bytes) throws IOException {
      return frame(DATA, last ? END_STREAM : 0, stream, bytes);
    }

    /** A whole response with a length. */
    public Wire respond(int stream, int status, String body) throws IOException {
      headers(stream, false, ":status", "" + status, "content-length", "" + body.length());
      return data(stream, true, body);
    }

    public Wire reset(int stream, int code) throws IOException {
      return frame(RST_STREAM, 0, stream, fourBytes(code));
    }

    public Wire goAway(int last, int code) throws IOException {
      byte[] payload = new byte[8];
      Unpooled.wrappedBuffer(payload).setInt(0, last).setInt(4, code);
      return frame(GOAWAY, 0, 0, payload);
    }

    public Wire windowUpdate(int stream, int bytes) throws IOException {
      return frame(WINDOW_UPDATE, 0, stream, fourBytes(bytes));
    }

    private static byte[] fourBytes(int number) {
      byte[] payload = new byte[4];
      Unpooled.wrappedBuffer(payload).setInt(0, number);
      return payload;
    }

    /** Closes with FIN. */
    public void close() throws IOException {
      socket.close();
    }

    /** Closes with RST. */
    public void abort() throws IOException {
      socket.setSoLinger(true, 0);
      socket.close();
    }

    private void quit() {
      try {
        socket.close();
      } catch (IOException e) {
        // It is closed.
      }
    }
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    open.forEach(Wire::quit);
  }

  private static void daemon(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }
}
