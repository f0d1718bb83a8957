package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.Fuzz;
import dev.idempotency.gateway.testing.Http2RawClient;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedHttp2Server;
import dev.idempotency.gateway.testing.StrictUpstream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Frames of HTTP/2 that were damaged at random, from a client and from an upstream: every
 * connection ends, the upstream sees whole requests only, and who comes beside or after it is
 * served.
 */
class Http2FuzzTest {

  private static final int SECONDS = 6;
  private static final long CASES = 400;
  private static final int CONNECTIONS = 3;
  private static final int PATIENCE_MILLIS = 25_000;
  private static final int HEADER_LENGTH = 9;

  /** The bodies of streams that a client ended, of all connections. */
  private final Set<String> bodies = ConcurrentHashMap.newKeySet();

  @Test
  void damagedFramesOfAClientEndAndTheUpstreamSeesWholeRequests() throws Exception {
    try (StrictUpstream upstream = StrictUpstream.start();
        Http2Edge edge = Http2Edge.start(upstream.url());
        Http2RawClient beside = Http2RawClient.connect(edge.port())) {
      Fuzz.run(
          CONNECTIONS,
          SECONDS,
          CASES,
          (fuzz, number) -> {
            byte[] sent = joined(damaged(fuzz, requests(fuzz, "" + number)));
            try {
              bodies.addAll(endedBodies(sent));
              harmless(exchange(fuzz, edge.port(), sent));
              assertThat(upstream.malformed()).as("sent upstream").isEmpty();
              assertThat(edge.bugs()).isEmpty();
              for (String seen : upstream.taken()) {
                String body = seen.substring(seen.indexOf(" body=") + 6);
                assertThat(bodies.contains(body)).as("seen upstream: %s", seen).isTrue();
              }
              if (number % CONNECTIONS == 0) {
                served(beside, 2 * (int) (number / CONNECTIONS) + 1);
              }
            } catch (Throwable e) {
              throw new AssertionError(e.getMessage() + "\nsent:" + Fuzz.shown(sent), e);
            }
          });
    }
  }

  private void served(Http2RawClient beside, int stream) {
    bodies.add("");
    Http2RawClient.Answer answer = beside.get(stream, "/beside/" + stream).read(stream);
    assertThat(answer.isEnded()).isTrue();
    assertThat(answer.status()).isEqualTo(StrictUpstream.STATUS);
    assertThat(answer.text()).startsWith("GET /beside/" + stream + " ");
  }

  // ---- frames

  private static byte[] frame(int type, int flags, int stream, byte[] payload) {
    return Http2RawClient.frame(type, flags, stream, payload);
  }

  private static byte[] frame(int type, int flags, int stream, String payload) {
    return frame(type, flags, stream, payload.getBytes(StandardCharsets.ISO_8859_1));
  }

  private static List<byte[]> requests(Fuzz fuzz, String id) {
    List<byte[]> frames = new ArrayList<>();
    frames.add(frame(Http2RawClient.SETTINGS, 0, 0, new byte[0]));
    int stream = 1;
    for (int i = 1 + fuzz.below(3); i > 0; i--, stream += 2) {
      request(fuzz, frames, stream, id + "-" + stream);
      if (fuzz.oneIn(4)) {
        frames.add(frame(Http2RawClient.PING, 0, 0, new byte[8]));
        frames.add(frame(Http2RawClient.WINDOW_UPDATE, 0, 0, Http2RawClient.number(100)));
        frames.add(frame(Http2RawClient.PRIORITY, 0, stream, new byte[5]));
      }
    }
    return frames;
  }

  private static void request(Fuzz fuzz, List<byte[]> frames, int stream, String id) {
    String method = fuzz.any(List.of("GET", "HEAD", "POST", "POST", "PUT"));
    boolean bodied = method.startsWith("P");
    String text = "body of " + id;
    List<String> more = new ArrayList<>(List.of("x-fuzz-id", id));
    if (bodied) {
      more.addAll(List.of("idempotency-key", "key-" + id));
      if (fuzz.oneIn(2)) {
        more.addAll(List.of("content-length", "" + text.length()));
      }
    }
    String path = (bodied ? "/keyed/" : "/p/") + stream;
    byte[] block =
        Http2RawClient.block(Http2RawClient.request(method, path, more.toArray(String[]::new)));
    int end = bodied ? 0 : Http2RawClient.END_STREAM;
    int half = fuzz.below(block.length);
    if (fuzz.oneIn(2)) {
      frames.add(frame(Http2RawClient.HEADERS, Http2RawClient.END_HEADERS | end, stream, block));
    } else {
      frames.add(frame(Http2RawClient.HEADERS, end, stream, Arrays.copyOf(block, half)));
      byte[] rest = Arrays.copyOfRange(block, half, block.length);
      frames.add(frame(Http2RawClient.CONTINUATION, Http2RawClient.END_HEADERS, stream, rest));
    }
    if (bodied) {
      int cut = fuzz.below(text.length());
      boolean trailers = fuzz.oneIn(3);
      frames.add(frame(Http2RawClient.DATA, 0, stream, text.substring(0, cut)));
      int last = trailers ? 0 : Http2RawClient.END_STREAM;
      frames.add(frame(Http2RawClient.DATA, last, stream, text.substring(cut)));
      if (trailers) {
        int flags = Http2RawClient.END_HEADERS | Http2RawClient.END_STREAM;
        frames.add(frame(Http2RawClient.HEADERS, flags, stream, Http2RawClient.block("x-t", "1")));
      }
    }
  }

  private static List<byte[]> damaged(Fuzz fuzz, List<byte[]> whole) {
    List<byte[]> frames = new ArrayList<>(whole);
    for (int times = fuzz.below(4); times > 0; times--) {
      int at = fuzz.below(frames.size());
      byte[] frame = frames.get(at).clone();
      if (frame.length < HEADER_LENGTH || frames.size() == 1) {
        return frames;
      }
      switch (fuzz.below(9)) {
        case 0 -> frames.remove(at);
        case 1 -> frames.add(fuzz.below(frames.size()), frame);
        case 2 -> Collections.swap(frames, at, fuzz.below(frames.size()));
        case 3 -> frame[3] = (byte) fuzz.below(11);
        case 4 -> frame[4] ^= (byte) (1 << fuzz.below(8));
        case 5 -> frame[8] = (byte) fuzz.below(8);
        case 6 -> frame[2] += (byte) (fuzz.below(7) - 3);
        case 7 -> frame = Arrays.copyOf(frame, fuzz.below(frame.length));
        default -> frame[fuzz.below(frame.length)] = (byte) fuzz.below(256);
      }
      if (at < frames.size() && fuzz.below(9) > 0) {
        frames.set(at, frame);
      }
    }
    return frames;
  }

  private static byte[] joined(List<byte[]> frames) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    frames.forEach(all::writeBytes);
    return all.toByteArray();
  }

  /** The contents of all streams that are ended or as long as they should be, right or not. */
  private static Set<String> endedBodies(byte[] bytes) {
    Map<Integer, String> open = new HashMap<>();
    Set<String> ended = new HashSet<>();
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    int at = 0;
    while (at + HEADER_LENGTH <= bytes.length) {
      int length = (bytes[at] & 0xff) << 16 | (bytes[at + 1] & 0xff) << 8 | (bytes[at + 2] & 0xff);
      int end = at + HEADER_LENGTH + length;
      if (end > bytes.length) {
        break;
      }
      int type = bytes[at + 3];
      int flags = bytes[at + 4];
      int stream =
          bytes[at + 8]
              | bytes[at + 7] << 8
              | (bytes[at + 6] & 0xff) << 16
              | (bytes[at + 5] & 0x7f) << 24;
      if (type == Http2RawClient.DATA) {
        String content =
            open.merge(stream, content(bytes, at + HEADER_LENGTH, end, flags), String::concat);
        String size = "" + content.length();
        if (text.contains("content-length" + (char) size.length() + size)) {
          // Towards an HTTP/1.1 upstream it is whole with its last byte, as over HTTP/1.1.
          ended.add(Fuzz.escaped(content));
        }
      }
      if (type <= Http2RawClient.HEADERS && type >= 0 && (flags & Http2RawClient.END_STREAM) != 0) {
        ended.add(Fuzz.escaped(open.getOrDefault(stream, "")));
      }
      at = end;
    }
    return ended;
  }

  private static String content(byte[] bytes, int from, int to, int flags) {
    boolean padded = (flags & Http2RawClient.PADDED) != 0 && to > from;
    int start = padded ? from + 1 : from;
    int end = padded ? Math.max(start, to - (bytes[from] & 0xff)) : to;
    return new String(bytes, start, end - start, StandardCharsets.ISO_8859_1);
  }

  // ---- a connection

  /** What comes until the connection ends, which it must. */
  private static byte[] exchange(Fuzz fuzz, int port, byte[] sent) throws IOException {
    ByteArrayOutputStream answer = new ByteArrayOutputStream();
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(PATIENCE_MILLIS);
      socket.getOutputStream().write(Http2RawClient.PREFACE.getBytes(StandardCharsets.US_ASCII));
      for (byte[] piece : fuzz.pieces(sent, sent.length)) {
        socket.getOutputStream().write(piece);
      }
      if (fuzz.oneIn(10)) {
        socket.setSoLinger(true, 0);
        return new byte[0];
      }
      socket.shutdownOutput();
      byte[] buffer = new byte[16 * 1024];
      for (int read = 0; read >= 0; read = socket.getInputStream().read(buffer)) {
        answer.write(buffer, 0, read);
      }
    } catch (SocketException e) {
      // A reset is an end, too.
    }
    return answer.toByteArray();
  }

  private static void harmless(byte[] answer) {
    String text = new String(answer, StandardCharsets.ISO_8859_1);
    assertThat(text)
        .as("answer: %s", Fuzz.shown(answer))
        .doesNotContain("Exception")
        .doesNotContain("\tat ")
        .doesNotContain("internal-error");
  }

  // ---- the upstream's frames

  @Test
  void damagedFramesOfAnUpstreamEndAndPoisonNobody() throws Exception {
    Semaphore done = new Semaphore(0);
    try (ScriptedHttp2Server server = ScriptedHttp2Server.ok();
        TestGateway gateway =
            EdgeYaml.of(server.url()).upstream("http2: true", "response-timeout: 5s").start()) {
      Fuzz.run(
          1,
          SECONDS,
          CASES,
          (fuzz, number) -> {
            int before = server.received().size();
            byte[][] sent = {{}};
            server.script(
                (request, wire) -> {
                  try {
                    sent[0] = joined(damaged(fuzz, response(fuzz, request.stream(), number)));
                    for (byte[] piece : fuzz.pieces(sent[0], sent[0].length)) {
                      wire.raw(piece);
                    }
                    wire.close();
                  } finally {
                    done.release();
                  }
                });
            try {
              byte[] post = RawClient.post("/keyed/a", "key-" + number, "{}");
              RawResponse first = RawClient.once(gateway.port(), post);
              assertThat(done.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
              RawResponse second = RawClient.once(gateway.port(), post);
              duplicate(first, second, server.received().size() - before);
              done.drainPermits();
              server.script(
                  (request, wire) -> wire.respond(request.stream(), 203, "clean " + number));
              byte[] other =
                  RawClient.post("/keyed/a", "key-" + number, "{}", "Authorization: other");
              RawResponse clean = RawClient.once(gateway.port(), other);
              assertThat(clean.status() + " " + clean.text()).isEqualTo("203 clean " + number);
            } catch (Throwable e) {
              throw new AssertionError(e.getMessage() + "\nanswered:" + Fuzz.shown(sent[0]), e);
            }
          });
    }
  }

  private static List<byte[]> response(Fuzz fuzz, int stream, long number) {
    List<byte[]> frames = new ArrayList<>();
    if (fuzz.oneIn(4)) {
      byte[] hints = Http2RawClient.block(":status", "103", "link", "</a>");
      frames.add(frame(Http2RawClient.HEADERS, Http2RawClient.END_HEADERS, stream, hints));
    }
    String text = "answer " + number;
    byte[] head =
        fuzz.oneIn(2)
            ? Http2RawClient.block(":status", "200", "x-number", "" + number)
            : Http2RawClient.block(":status", "200", "content-length", "" + text.length());
    frames.add(frame(Http2RawClient.HEADERS, Http2RawClient.END_HEADERS, stream, head));
    frames.add(frame(Http2RawClient.DATA, 0, stream, text.substring(0, 3)));
    boolean trailers = fuzz.oneIn(3);
    int last = trailers ? 0 : Http2RawClient.END_STREAM;
    frames.add(frame(Http2RawClient.DATA, last, stream, text.substring(3)));
    if (trailers) {
      int flags = Http2RawClient.END_HEADERS | Http2RawClient.END_STREAM;
      frames.add(frame(Http2RawClient.HEADERS, flags, stream, Http2RawClient.block("x-t", "1")));
    }
    return frames;
  }

  /** What a client was told is what a retry is told. */
  private static void duplicate(RawResponse first, RawResponse second, int times) {
    String shown = "first: " + first + "\nsecond: " + second;
    assertThat(first.complete()).as(shown).isTrue();
    assertThat(second.complete()).as(shown).isTrue();
    if (times > 1) {
      // The upstream said of the first that nothing happened.
      assertThat(first.status()).as(shown).isIn(401, 403, 408, 425, 429, 503);
    } else if (second.isReplay()) {
      assertThat(second.status()).as(shown).isEqualTo(first.status());
      assertThat(second.text()).as(shown).isEqualTo(first.text());
    } else {
      assertThat(second.problem()).as(shown).isEqualTo("outcome-unknown");
      assertThat(first.status()).as(shown).isIn(502, 503, 504);
    }
  }
}
