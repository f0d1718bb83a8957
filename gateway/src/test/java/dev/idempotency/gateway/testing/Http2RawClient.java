package dev.idempotency.gateway.testing;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * An HTTP/2 client that sends frames as it is told, right or wrong, and keeps what comes. It
 * acknowledges SETTINGS and PING and gives window back by itself, unless it is told not to.
 */
public final class Http2RawClient implements AutoCloseable {

  public static final int DATA = 0;
  public static final int HEADERS = 1;
  public static final int PRIORITY = 2;
  public static final int RST_STREAM = 3;
  public static final int SETTINGS = 4;
  public static final int PUSH_PROMISE = 5;
  public static final int PING = 6;
  public static final int GOAWAY = 7;
  public static final int WINDOW_UPDATE = 8;
  public static final int CONTINUATION = 9;

  public static final int END_STREAM = 1;
  public static final int ACK = 1;
  public static final int END_HEADERS = 4;
  public static final int PADDED = 8;

  public static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

  private static final int PATIENCE_MILLIS = 20_000;

  /** A frame that came. */
  public record Frame(int type, int flags, int stream, byte[] payload) {
    public boolean has(int flag) {
      return (flags & flag) != 0;
    }
  }

  /** What came on one stream. */
  public static final class Answer {
    private final List<Map<String, String>> blocks = new ArrayList<>();
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();
    private final List<String> frames = new ArrayList<>();
    private boolean ended;
    private long error = -1;

    public int status() {
      return Integer.parseInt(head().get(":status"));
    }

    /** The final head. */
    public Map<String, String> head() {
      return blocks.stream()
          .filter(block -> block.containsKey(":status") && !block.get(":status").startsWith("1"))
          .findFirst()
          .orElseThrow();
    }

    public String header(String name) {
      return head().get(name);
    }

    public List<Map<String, String>> blocks() {
      return blocks;
    }

    public Map<String, String> trailers() {
      Map<String, String> last = blocks.get(blocks.size() - 1);
      return last.containsKey(":status") ? Map.of() : last;
    }

    public byte[] body() {
      return body.toByteArray();
    }

    public String text() {
      return body.toString(StandardCharsets.ISO_8859_1);
    }

    /** Such as {@code [HEADERS, DATA+END]}. */
    public List<String> frames() {
      return frames;
    }

    public boolean isEnded() {
      return ended;
    }

    /** The code of the reset, or -1. */
    public long error() {
      return error;
    }

    public boolean isOver() {
      return ended || error >= 0;
    }
  }

  private final Socket socket;
  private final DataInputStream in;
  private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false, 1 << 20);
  private final Map<Integer, Answer> answers = new HashMap<>();
  private final Map<Integer, Integer> settings = new HashMap<>();
  private final List<Frame> goAways = new ArrayList<>();
  private final Map<Integer, Long> windows = new HashMap<>();
  private boolean acknowledges = true;
  private boolean givesWindowBack = true;
  private boolean closed;
  private int pings;

  private Http2RawClient(Socket socket) throws IOException {
    this.socket = socket;
    this.in =
        new DataInputStream(new java.io.BufferedInputStream(socket.getInputStream(), 64 * 1024));
  }

  /** Connects and sends nothing. */
  public static Http2RawClient bare(int port) {
    try {
      Socket socket = new Socket();
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(PATIENCE_MILLIS);
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 5_000);
      return new Http2RawClient(socket);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Connects and sends the preface with empty settings. */
  public static Http2RawClient connect(int port) {
    return bare(port).preface();
  }

  /** Settings as pairs of identifier and value. */
  public Http2RawClient preface(int... pairs) {
    return send(PREFACE.getBytes(StandardCharsets.US_ASCII)).settings(pairs);
  }

  /** Answers neither SETTINGS nor PING. */
  public Http2RawClient mute() {
    acknowledges = false;
    return this;
  }

  /** Gives no window back for what it reads. */
  public Http2RawClient keepingWindow() {
    givesWindowBack = false;
    return this;
  }

  // ---- sending

  public Http2RawClient send(byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static byte[] frame(int type, int flags, int stream, byte[] payload) {
    ByteBuffer buffer = ByteBuffer.allocate(9 + payload.length);
    buffer.put((byte) (payload.length >> 16)).putShort((short) payload.length);
    buffer.put((byte) type).put((byte) flags).putInt(stream).put(payload);
    return buffer.array();
  }

  public Http2RawClient settings(int... pairs) {
    ByteBuffer payload = ByteBuffer.allocate(pairs.length / 2 * 6);
    for (int i = 0; i < pairs.length; i += 2) {
      payload.putShort((short) pairs[i]).putInt(pairs[i + 1]);
    }
    return send(frame(SETTINGS, 0, 0, payload.array()));
  }

  /** A request or trailers in one frame. */
  public Http2RawClient headers(int stream, boolean end, String... fields) {
    int flags = END_HEADERS | (end ? END_STREAM : 0);
    return send(frame(HEADERS, flags, stream, block(fields)));
  }

  public Http2RawClient data(int stream, boolean end, byte[] bytes) {
    windows.merge(stream, -(long) bytes.length, Long::sum);
    windows.merge(0, -(long) bytes.length, Long::sum);
    return send(frame(DATA, end ? END_STREAM : 0, stream, bytes));
  }

  public Http2RawClient data(int stream, boolean end, String text) {
    return data(stream, end, text.getBytes(StandardCharsets.ISO_8859_1));
  }

  public Http2RawClient reset(int stream, int error) {
    return send(frame(RST_STREAM, 0, stream, number(error)));
  }

  public Http2RawClient ping() {
    return send(frame(PING, 0, 0, new byte[8]));
  }

  public Http2RawClient settingsAcknowledged() {
    return send(frame(SETTINGS, ACK, 0, new byte[0]));
  }

  public Http2RawClient windowUpdate(int stream, int increment) {
    return send(frame(WINDOW_UPDATE, 0, stream, number(increment)));
  }

  public static byte[] number(int value) {
    return ByteBuffer.allocate(4).putInt(value).array();
  }

  public Http2RawClient get(int stream, String path, String... more) {
    return headers(stream, true, request("GET", path, more));
  }

  /** A POST without its body. */
  public Http2RawClient post(int stream, String path, String... more) {
    return headers(stream, false, request("POST", path, more));
  }

  public static String[] request(String method, String path, String... more) {
    List<String> fields =
        new ArrayList<>(
            List.of(":method", method, ":scheme", "http", ":authority", "gw.test", ":path", path));
    fields.addAll(List.of(more));
    return fields.toArray(String[]::new);
  }

  /** Literals without indexing (RFC 7541 §6.2.2). */
  public static byte[] block(String... fields) {
    ByteArrayOutputStream block = new ByteArrayOutputStream();
    for (int i = 0; i < fields.length; i += 2) {
      block.write(0);
      string(block, fields[i]);
      string(block, fields[i + 1]);
    }
    return block.toByteArray();
  }

  private static void string(ByteArrayOutputStream block, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
    int rest = bytes.length;
    if (rest < 127) {
      block.write(rest);
    } else {
      block.write(127);
      for (rest -= 127; rest >= 128; rest >>= 7) {
        block.write((rest & 0x7f) | 0x80);
      }
      block.write(rest);
    }
    block.writeBytes(bytes);
  }

  // ---- reading

  /** What came on that stream so far. */
  public Answer answer(int stream) {
    return answers.computeIfAbsent(stream, none -> new Answer());
  }

  /** Reads until the stream is answered or reset, or the connection ends. */
  public Answer read(int stream) {
    readUntil(() -> closed || answer(stream).isOver());
    return answer(stream);
  }

  /** Reads until the connection is closed or reset. */
  public Http2RawClient readToEnd() {
    return readUntil(() -> closed);
  }

  public Http2RawClient readUntil(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      if (next() == null) {
        break;
      }
    }
    return this;
  }

  /** Reads one frame; null at the end of the connection. */
  public Frame next() {
    try {
      int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
      int type = in.readUnsignedByte();
      int flags = in.readUnsignedByte();
      int stream = in.readInt();
      byte[] payload = new byte[length];
      in.readFully(payload);
      Frame frame = new Frame(type, flags, stream, payload);
      take(frame);
      return frame;
    } catch (EOFException | SocketException e) {
      closed = true;
      return null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void take(Frame frame) {
    switch (frame.type()) {
      case DATA -> data(frame);
      case HEADERS -> headers(frame);
      case RST_STREAM -> answer(frame.stream()).error = ByteBuffer.wrap(frame.payload()).getInt();
      case SETTINGS -> settings(frame);
      case PING -> {
        pings += frame.has(ACK) ? 1 : 0;
        if (!frame.has(ACK) && acknowledges) {
          sendQuietly(frame(PING, ACK, 0, frame.payload()));
        }
      }
      case WINDOW_UPDATE ->
          windows.merge(
              frame.stream(), (long) ByteBuffer.wrap(frame.payload()).getInt(), Long::sum);
      case GOAWAY -> goAways.add(frame);
      default -> {}
    }
  }

  private void data(Frame frame) {
    Answer answer = answer(frame.stream());
    answer.body.writeBytes(frame.payload());
    ended(answer, frame, "DATA");
    if (givesWindowBack && frame.payload().length > 0) {
      sendQuietly(frame(WINDOW_UPDATE, 0, 0, number(frame.payload().length)));
      if (!answer.ended) {
        sendQuietly(frame(WINDOW_UPDATE, 0, frame.stream(), number(frame.payload().length)));
      }
    }
  }

  private static void ended(Answer answer, Frame frame, String name) {
    answer.ended = answer.ended || frame.has(END_STREAM);
    answer.frames.add(frame.has(END_STREAM) ? name + "+END" : name);
  }

  private void headers(Frame frame) {
    if (!frame.has(END_HEADERS)) {
      throw new IllegalStateException("a field block in pieces");
    }
    Answer answer = answer(frame.stream());
    ByteBuf block = Unpooled.wrappedBuffer(frame.payload());
    try {
      Http2Headers headers = decoder.decodeHeaders(frame.stream(), block);
      Map<String, String> fields = new HashMap<>();
      headers.forEach(
          field ->
              fields.merge(
                  field.getKey().toString(), field.getValue().toString(), (a, b) -> a + "," + b));
      answer.blocks.add(fields);
    } catch (Http2Exception e) {
      throw new IllegalStateException(e);
    }
    ended(answer, frame, "HEADERS");
  }

  private void settings(Frame frame) {
    if (frame.has(ACK)) {
      return;
    }
    ByteBuffer payload = ByteBuffer.wrap(frame.payload());
    while (payload.hasRemaining()) {
      settings.put((int) payload.getShort(), payload.getInt());
    }
    if (acknowledges) {
      sendQuietly(frame(SETTINGS, ACK, 0, new byte[0]));
    }
  }

  /** The peer may have closed. */
  private void sendQuietly(byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
    } catch (IOException e) {
      // Its end is read next.
    }
  }

  /** How many bytes of data may be sent; stream 0 stands for all of them together. */
  public long window(int stream) {
    int initial = stream == 0 ? 65_535 : settings.getOrDefault(4, 65_535);
    return initial + windows.getOrDefault(stream, 0L);
  }

  /** What the server allows, by identifier. */
  public Map<Integer, Integer> serverSettings() {
    return settings;
  }

  /** PINGs that were acknowledged. */
  public int pings() {
    return pings;
  }

  public boolean isClosed() {
    return closed;
  }

  /** The error codes of the GOAWAY frames that came. */
  public List<Integer> goAways() {
    return goAways.stream().map(frame -> ByteBuffer.wrap(frame.payload()).getInt(4)).toList();
  }

  /** The last stream of the last GOAWAY. */
  public int lastStream() {
    return ByteBuffer.wrap(goAways.get(goAways.size() - 1).payload()).getInt(0);
  }

  /** Sends again and again, for as long as the server listens, reading nothing. */
  public Http2RawClient flood(int times, byte[] bytes) {
    try {
      for (int i = 0; i < times; i++) {
        socket.getOutputStream().write(bytes);
      }
    } catch (IOException e) {
      // It had enough.
    }
    return this;
  }

  /** Ends the connection with a reset. */
  public void cut() {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
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
