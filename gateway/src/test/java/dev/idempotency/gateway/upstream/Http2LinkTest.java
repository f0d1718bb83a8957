package dev.idempotency.gateway.upstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.exchange.UpstreamConnection;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.testing.ScriptedHttp2Server;
import dev.idempotency.gateway.testing.ScriptedHttp2Server.Frame;
import dev.idempotency.gateway.testing.ScriptedHttp2Server.Request;
import dev.idempotency.gateway.testing.ScriptedHttp2Server.Wire;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.transport.NettyChunk;
import dev.idempotency.gateway.transport.Transport;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Promise;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** One HTTP/2 connection to a server that does what a test says, frame by frame. */
@ParameterizedClass
@MethodSource("dev.idempotency.gateway.testing.Transports#all")
class Http2LinkTest {

  private static final int CANCEL = 8;
  private static final int REFUSED_STREAM = 7;

  /** The numbers of streams that the codec gives. */
  private static final int FIRST = 3;

  private static final int SECOND = 5;
  private static final int THIRD = 7;
  private static final byte[] NO_BODY = {};

  private final ScriptedHttp2Server server = ScriptedHttp2Server.ok();
  private final LinkBench bench;

  Http2LinkTest(Transport transport) {
    this.bench = new LinkBench(transport, server.port());
  }

  @AfterEach
  void stop() {
    bench.close();
    server.close();
  }

  private static RequestHead get(String... fields) {
    return RequestHead.of("GET", "/a?b=c", Headers.of(fields).add("Host", "gw.test"));
  }

  private static RequestHead post() {
    return RequestHead.of("POST", "/orders", Headers.of("Host", "gw.test"));
  }

  private static UpstreamConnection take(Link link) {
    return Objects.requireNonNull(link.take());
  }

  private HeardResponse send(Link link, RequestHead head, byte[] body) {
    HeardResponse heard = new HeardResponse();
    bench.run(() -> assertThat(take(link).send(head, body, heard)).isTrue());
    return heard;
  }

  private HeardResponse send(Link link) {
    return send(link, get(), NO_BODY);
  }

  /** A request whose body the test goes on to write. */
  private UpstreamConnection begin(Link link, long length, HeardResponse heard) {
    return bench.onLoop(
        () -> {
          UpstreamConnection place = take(link);
          assertThat(place.begin(post(), length, heard)).isTrue();
          return place;
        });
  }

  private static NettyChunk chunk(int bytes) {
    return new NettyChunk(Unpooled.wrappedBuffer(new byte[bytes]));
  }

  private static NettyChunk chunk(String text) {
    return new NettyChunk(Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1));
  }

  private void awaitReset(int code) {
    await().until(() -> !server.frames(ScriptedHttp2Server.RST_STREAM).isEmpty());
    assertThat(server.frames(ScriptedHttp2Server.RST_STREAM).get(0).number()).isEqualTo(code);
  }

  private boolean isIdle(Link link) {
    return bench.onLoop(() -> link.exchanges() == 0);
  }

  // ---- requests

  @Test
  void requestWithoutBodyIsOneFrameWithPseudoHeadersAndLowerCaseNames() {
    RequestHead head =
        get("X-Mixed", "a\u00e9", "TE", "trailers", "Connection", "x", "Upgrade", "h2c");
    assertThat(send(bench.link(), head, NO_BODY).result()).isEqualTo("200 ok");

    assertThat(server.last().fields())
        .containsExactlyInAnyOrder(
            Map.entry(":method", "GET"),
            Map.entry(":scheme", "http"),
            Map.entry(":authority", "gw.test"),
            Map.entry(":path", "/a?b=c"),
            Map.entry("x-mixed", "a\u00e9"),
            Map.entry("te", "trailers"));
    Frame frame = server.frames(ScriptedHttp2Server.HEADERS).get(0);
    assertThat(frame.flags() & ScriptedHttp2Server.END_STREAM).isEqualTo(1);
    assertThat(server.frames(ScriptedHttp2Server.DATA)).isEmpty();
  }

  @Test
  void wholeBodyHasItsLengthAndEndsTheStreamWithItsLastFrame() {
    byte[] body = "{}".getBytes(StandardCharsets.ISO_8859_1);
    assertThat(send(bench.link(), post(), body).result()).isEqualTo("200 ok");

    assertThat(server.last().field("content-length")).isEqualTo("2");
    assertThat(server.last().text()).isEqualTo("{}");
    assertThat(server.frames(ScriptedHttp2Server.DATA)).hasSize(1);
  }

  @Test
  void streamedRequestSendsItsHeadBeforeItsBodyIsThere() {
    server
        .atHead()
        .script((request, wire) -> wire.headers(request.stream(), false, ":status", "200"));
    HeardResponse heard = new HeardResponse();
    UpstreamConnection place = begin(bench.link(), -1, heard);
    bench.run(place::flush);
    await().until(() -> heard.hasHead());

    assertThat(server.last().field("content-length")).isNull();
    bench.run(
        () -> {
          place.write(chunk("one"));
          place.flush();
        });
    await().until(() -> server.contentBytes() == 3);
    bench.run(place::end);
    await().until(() -> (last(ScriptedHttp2Server.DATA).flags() & 1) == 1);
  }

  private Frame last(int type) {
    List<Frame> frames = server.frames(type);
    return frames.get(frames.size() - 1);
  }

  @Test
  void requestThatNamesNoHostGetsTheUpstreams() {
    RequestHead head = RequestHead.of("POST", "/", new Headers());
    assertThat(send(bench.link(), head, NO_BODY).result()).isEqualTo("200 ok");
    assertThat(server.last().field(":authority")).isEqualTo("127.0.0.1:" + server.port());
    assertThat(server.last().field("content-length")).isEqualTo("0");
  }

  @Test
  void requestStopsAtTheServersWindowAndGoesOnWhenThatGrows() {
    server.withoutWindowUpdates().settings(ScriptedHttp2Server.INITIAL_WINDOW_SIZE, 10);
    CompletableFuture<Wire> wire = new CompletableFuture<>();
    server.atHead().script((request, connection) -> wire.complete(connection));
    HeardResponse heard = new HeardResponse();
    UpstreamConnection place = begin(bench.link(), 25, heard);
    boolean writable =
        bench.onLoop(
            () -> {
              place.write(chunk(25));
              place.end();
              return place.isWritable();
            });
    assertThat(writable).isFalse();
    await().until(() -> server.contentBytes() == 10);
    assertThat(last(ScriptedHttp2Server.DATA).flags()).isZero();

    assertGrows(wire, 15, 25);
    assertThat(last(ScriptedHttp2Server.DATA).flags()).isEqualTo(1);
  }

  private void assertGrows(CompletableFuture<Wire> wire, int by, int to) {
    try {
      wire.orTimeout(10, TimeUnit.SECONDS).join().windowUpdate(FIRST, by);
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
    await().until(() -> server.contentBytes() == to);
  }

  @Test
  void whoWritesIsToldWhenTheWindowHasRoomAgain() {
    server.withoutWindowUpdates().settings(ScriptedHttp2Server.INITIAL_WINDOW_SIZE, 10);
    CompletableFuture<Wire> wire = new CompletableFuture<>();
    server.atHead().script((request, connection) -> wire.complete(connection));
    HeardResponse heard = new HeardResponse();
    UpstreamConnection place = begin(bench.link(), -1, heard);
    bench.run(
        () -> {
          place.write(chunk(25));
          place.flush();
          assertThat(place.isWritable()).isFalse();
        });
    await().until(() -> server.contentBytes() == 10);
    assertThat(heard.events()).doesNotContain("writable");
    assertGrows(wire, 16, 25);
    await().until(() -> heard.events().contains("writable"));
    assertThat(bench.onLoop(place::isWritable)).isTrue();
  }

  // ---- responses

  @Test
  void responseComesInItsParts() {
    server.script(
        (request, wire) ->
            wire.headers(request.stream(), false, ":status", "103", "link", "</a>")
                .headers(request.stream(), false, ":status", "201", "x-a", "1", "x-a", "\u00e9")
                .data(request.stream(), false, "one")
                .data(request.stream(), false, "two")
                .headers(request.stream(), true, "grpc-status", "0"));
    HeardResponse heard = send(bench.link());

    assertThat(heard.result()).isEqualTo("201 onetwo");
    assertThat(heard.head().headers()).isEqualTo(Headers.of("x-a", "1", "x-a", "\u00e9"));
    assertThat(heard.trailers()).isEqualTo(Headers.of("grpc-status", "0"));
    assertThat(heard.events()).startsWith("informational 103", "head 201 -1");
    await().until(() -> bench.released.get() == 1);
    assertThat(bench.succeeded.get()).isEqualTo(1);
  }

  @Test
  void responseThatIsOneFieldSectionEndsInTheSameBurst() {
    server.script(
        (request, wire) ->
            wire.headers(request.stream(), true, ":status", "200", "grpc-status", "5"));
    HeardResponse heard = send(bench.link());
    assertThat(heard.result()).isEqualTo("200 ");
    assertThat(heard.events()).startsWith("head 200 0", "end");
    assertThat(heard.head().headers().get("grpc-status")).isEqualTo("5");
  }

  @ParameterizedTest
  @CsvSource({"HEAD, 200", "GET, 304"})
  void lengthOfAResponseWithoutContentIsThatOfTheRepresentation(String method, String status) {
    server.script(
        (request, wire) ->
            wire.headers(request.stream(), true, ":status", status, "content-length", "42"));
    HeardResponse heard =
        send(bench.link(), RequestHead.of(method, "/", Headers.of("Host", "a")), NO_BODY);
    assertThat(heard.result()).isEqualTo(status + " ");
    assertThat(heard.events()).startsWith("head " + status + " 42", "end");
  }

  @Test
  void responseBeforeTheRequestIsWholeEndsTheExchange() {
    server.atHead();
    Link link = bench.link();
    HeardResponse heard = new HeardResponse();
    UpstreamConnection place = begin(link, -1, heard);
    bench.run(place::flush);
    assertThat(heard.result()).isEqualTo("200 ok");

    awaitReset(CANCEL);
    bench.run(
        () -> {
          place.write(chunk("late"));
          place.flush();
          place.end();
        });
    await().until(() -> isIdle(link));
    assertThat(send(link).result()).isEqualTo("200 ok");
    assertThat(server.contentBytes()).isZero();
    assertThat(server.connections()).isEqualTo(1);
  }

  @Test
  void pausedResponseIsBoundedAndStopsNoOther() {
    byte[] piece = new byte[16_000];
    server.script(
        (request, wire) -> {
          if (request.field(":method").equals("POST")) {
            wire.headers(request.stream(), false, ":status", "200");
            flood(request.stream(), wire, piece, 256 * 1024 / piece.length);
          } else {
            wire.respond(request.stream(), 200, "ok");
          }
        });
    Link link = bench.link();
    HeardResponse heard = new HeardResponse();
    UpstreamConnection place =
        bench.onLoop(
            () -> {
              UpstreamConnection taken = take(link);
              taken.pauseResponse();
              assertThat(taken.send(post(), NO_BODY, heard)).isTrue();
              return taken;
            });
    await().until(() -> heard.bytes() == 256 * 1024 / piece.length * piece.length);
    for (int i = 0; i < 20; i++) {
      assertThat(send(link).result()).isEqualTo("200 ok");
    }
    assertThat(windowUpdatesOfStreams()).isZero();

    bench.run(place::resumeResponse);
    await().until(() -> windowUpdatesOfStreams() > 0);
  }

  private static void flood(int stream, Wire wire, byte[] piece, int times) throws Exception {
    for (int i = 0; i < times; i++) {
      wire.data(stream, false, piece);
    }
  }

  private long windowUpdatesOfStreams() {
    return server.frames(ScriptedHttp2Server.WINDOW_UPDATE).stream()
        .filter(frame -> frame.stream() > 0)
        .count();
  }

  // ---- responses that are none

  private interface Answer {
    void give(int stream, Wire wire) throws Exception;
  }

  static Stream<Arguments> malformed() {
    return Stream.of(
        malformed(
            "a name in upper case", (s, w) -> w.headers(s, true, ":status", "200", "X-A", "")),
        malformed("no status", (s, w) -> w.headers(s, true, "x-a", "1")),
        malformed("two statuses", (s, w) -> w.headers(s, true, ":status", "200", ":status", "201")),
        malformed("a status of two digits", (s, w) -> w.headers(s, true, ":status", "20")),
        malformed("a status below 100", (s, w) -> w.headers(s, true, ":status", "099")),
        malformed("101", (s, w) -> w.headers(s, false, ":status", "101")),
        malformed(
            "a request's field", (s, w) -> w.headers(s, true, ":status", "200", ":path", "/")),
        malformed("an unknown one", (s, w) -> w.headers(s, true, ":status", "200", ":x", "/")),
        malformed("late status", (s, w) -> w.headers(s, true, "x-a", "1", ":status", "200")),
        malformed("connection", (s, w) -> w.headers(s, true, ":status", "200", "connection", "a")),
        malformed(
            "transfer-encoding",
            (s, w) -> w.headers(s, false, ":status", "200", "transfer-encoding", "chunked")),
        malformed("a blank name", (s, w) -> w.headers(s, true, ":status", "200", "x a", "1")),
        malformed("a colon", (s, w) -> w.headers(s, true, ":status", "200", "x:a", "1")),
        malformed("no name", (s, w) -> w.headers(s, true, ":status", "200", "", "1")),
        malformed("CR", (s, w) -> w.headers(s, true, ":status", "200", "x-a", "a\rb")),
        malformed("LF", (s, w) -> w.headers(s, true, ":status", "200", "x-a", "a\nSet-Cookie: b")),
        malformed("NUL", (s, w) -> w.headers(s, true, ":status", "200", "x-a", "a\0b")),
        malformed("a blank end", (s, w) -> w.headers(s, true, ":status", "200", "x-a", "a ")),
        malformed("content first", (s, w) -> w.data(s, true, "x")),
        malformed("an interim end", (s, w) -> w.headers(s, true, ":status", "103")),
        malformed(
            "content after an interim head only",
            (s, w) -> w.headers(s, false, ":status", "103").data(s, true, "x")),
        malformed(
            "a length and no content",
            (s, w) -> w.headers(s, true, ":status", "200", "content-length", "3")),
        malformed(
            "less than its length",
            (s, w) ->
                w.headers(s, false, ":status", "200", "content-length", "3").data(s, true, "ab")),
        malformed(
            "no content at all",
            (s, w) ->
                w.headers(s, false, ":status", "200", "content-length", "3").data(s, true, "")),
        malformed(
            "more than its length",
            (s, w) ->
                w.headers(s, false, ":status", "200", "content-length", "3").data(s, true, "abcd")),
        malformed(
            "less than its length, with trailers",
            (s, w) ->
                w.headers(s, false, ":status", "200", "content-length", "3")
                    .data(s, false, "ab")
                    .headers(s, true, "x-t", "1")),
        malformed(
            "trailers and no content",
            (s, w) ->
                w.headers(s, false, ":status", "200", "content-length", "3")
                    .headers(s, true, "x-t", "1")),
        malformed(
            "two lengths",
            (s, w) ->
                w.headers(
                    s, false, ":status", "200", "content-length", "3", "content-length", "4")),
        malformed(
            "a length that is none",
            (s, w) -> w.headers(s, false, ":status", "200", "content-length", "+3")),
        malformed(
            "content of 204", (s, w) -> w.headers(s, false, ":status", "204").data(s, true, "a")),
        malformed(
            "a second head",
            (s, w) -> w.headers(s, false, ":status", "200").headers(s, false, ":status", "200")),
        malformed(
            "a status in trailers",
            (s, w) -> w.headers(s, false, ":status", "200").headers(s, true, ":status", "200")),
        malformed(
            "connection in trailers",
            (s, w) -> w.headers(s, false, ":status", "200").headers(s, true, "connection", "a")),
        malformed("a head that is too large", (s, w) -> large(s, w)),
        malformed(
            "a hundred and one interim heads",
            (s, w) -> {
              for (int i = 0; i < 101; i++) {
                w.headers(s, false, ":status", "103");
              }
            }));
  }

  private static Arguments malformed(String name, Answer answer) {
    return Arguments.of(org.junit.jupiter.api.Named.of(name, answer));
  }

  private static void large(int stream, Wire wire) throws Exception {
    byte[] block = Wire.block(":status", "200", "x-a", "a".repeat(66_000));
    int piece = 16_000;
    wire.frame(ScriptedHttp2Server.HEADERS, 1, stream, java.util.Arrays.copyOf(block, piece));
    for (int at = piece; at < block.length; at += piece) {
      int end = Math.min(block.length, at + piece);
      wire.frame(
          ScriptedHttp2Server.CONTINUATION,
          end == block.length ? 4 : 0,
          stream,
          java.util.Arrays.copyOfRange(block, at, end));
    }
  }

  @ParameterizedTest
  @MethodSource("malformed")
  void responseThatIsNotHttpFailsItsStreamAndNoOther(Answer answer) {
    Link link = bench.link();
    CompletableFuture<Integer> held = new CompletableFuture<>();
    CompletableFuture<Wire> wire = new CompletableFuture<>();
    server.script(
        (request, connection) -> {
          held.complete(request.stream());
          wire.complete(connection);
        });
    HeardResponse other = send(link);
    held.orTimeout(10, TimeUnit.SECONDS).join();
    server.script((request, connection) -> answer.give(request.stream(), connection));
    assertThat(send(link, post(), NO_BODY).result()).isEqualTo("MALFORMED");
    awaitAnyReset();
    server.script((request, connection) -> connection.respond(request.stream(), 200, "next"));

    assertThat(send(link).result()).isEqualTo("200 next");
    respond(wire, held.join());
    assertThat(other.result()).isEqualTo("200 other");
    assertThat(server.connections()).isEqualTo(1);
    assertThat(bench.failed.get()).isEqualTo(1);
    await().until(() -> isIdle(link));
  }

  private void awaitAnyReset() {
    await().until(() -> !server.frames(ScriptedHttp2Server.RST_STREAM).isEmpty());
  }

  private static void respond(CompletableFuture<Wire> wire, int stream) {
    try {
      wire.join().respond(stream, 200, "other");
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Test
  void contentOfAResponseToHeadIsMalformed() {
    server.script(
        (request, wire) ->
            wire.headers(request.stream(), false, ":status", "200")
                .data(request.stream(), true, "x"));
    RequestHead head = RequestHead.of("HEAD", "/", Headers.of("Host", "a"));
    assertThat(send(bench.link(), head, NO_BODY).result()).isEqualTo("MALFORMED");
  }

  static Stream<Arguments> broken() {
    byte[] promise = {0, 0, 0, 2, (byte) 0x88};
    return Stream.of(
        malformed("a push", (s, w) -> w.frame(ScriptedHttp2Server.PUSH_PROMISE, 4, s, promise)),
        malformed("an idle stream", (s, w) -> w.data(s + 100, true, "x")),
        malformed("an own stream", (s, w) -> w.headers(2, true, ":status", "200")),
        malformed("garbage fields", (s, w) -> w.frame(ScriptedHttp2Server.HEADERS, 5, s, ones(9))),
        malformed("a long frame", (s, w) -> w.data(s, true, new byte[16_385])),
        malformed("a short ping", (s, w) -> w.frame(ScriptedHttp2Server.PING, 0, 0, new byte[7])),
        malformed("a window too large", (s, w) -> w.windowUpdate(0, Integer.MAX_VALUE)),
        malformed("a window of none", (s, w) -> w.windowUpdate(0, 0)),
        malformed("allowing pushes", (s, w) -> w.settings(2, 1)),
        malformed("a wrong setting", (s, w) -> w.settings(5, 1)),
        malformed("a lone continuation", (s, w) -> w.frame(9, 4, s, NO_BODY)),
        malformed("GOAWAY that grows", (s, w) -> w.goAway(s, 0).goAway(s + 2, 0)),
        malformed("bytes", (s, w) -> w.raw(ones(100))),
        malformed(
            "continuations without end",
            (s, w) -> {
              w.frame(ScriptedHttp2Server.HEADERS, 0, s, Wire.block(":status", "200"));
              for (int i = 0; i < 1_000; i++) {
                w.frame(ScriptedHttp2Server.CONTINUATION, 0, s, NO_BODY);
              }
            }),
        malformed(
            "empty content without end",
            (s, w) -> {
              w.headers(s, false, ":status", "200");
              for (int i = 0; i < 1_000; i++) {
                w.data(s, false, "");
              }
            }),
        malformed(
            "far too large a head",
            (s, w) -> {
              w.frame(ScriptedHttp2Server.HEADERS, 0, s, Wire.block(":status", "200"));
              byte[] block = Wire.block("x-a", "a".repeat(16_000));
              for (int i = 0; i < 1_000; i++) {
                w.frame(ScriptedHttp2Server.CONTINUATION, 0, s, block);
              }
            }));
  }

  private static byte[] ones(int length) {
    byte[] bytes = new byte[length];
    java.util.Arrays.fill(bytes, (byte) 0xff);
    return bytes;
  }

  @ParameterizedTest
  @MethodSource("broken")
  void serverThatBreaksTheProtocolLosesItsConnection(Answer answer) {
    Link link = bench.link();
    server.script((request, wire) -> {});
    HeardResponse other = send(link);
    await().until(() -> server.received().size() == 1);
    server.script((request, wire) -> answer.give(request.stream(), wire));
    HeardResponse heard = send(link);

    assertThat(heard.result()).isIn("MALFORMED", "CLOSED");
    assertThat(other.result()).isIn("MALFORMED", "CLOSED");
    await().until(() -> bench.closed.get() > 0);
    assertThat(bench.onLoop(link::isFull)).isTrue();
    assertThat(bench.onLoop(link::exchanges)).isZero();
  }

  @Test
  void serverThatSendsMoreThanItsWindowLosesTheStream() {
    server.script(
        (request, wire) -> {
          wire.headers(request.stream(), false, ":status", "200");
          flood(request.stream(), wire, new byte[16_000], 20);
        });
    Link link = bench.link();
    HeardResponse heard = new HeardResponse();
    bench.run(
        () -> {
          UpstreamConnection place = take(link);
          place.pauseResponse();
          assertThat(place.send(get(), NO_BODY, heard)).isTrue();
        });
    assertThat(heard.result()).isEqualTo("MALFORMED");
    assertThat(heard.bytes()).isLessThanOrEqualTo(256 * 1024);
  }

  // ---- not processed, and lost

  @ParameterizedTest
  @CsvSource({
    "7, NOT_PROCESSED",
    "0, CLOSED",
    "1, CLOSED",
    "2, CLOSED",
    "8, CLOSED",
    "11, CLOSED",
    "13, CLOSED",
    "4711, CLOSED"
  })
  void resetSaysWhetherTheRequestWasProcessed(int code, String failure) {
    server.script((request, wire) -> wire.reset(request.stream(), code));
    Link link = bench.link();
    assertThat(send(link).result()).isEqualTo(failure);
    server.script((request, wire) -> wire.respond(request.stream(), 200, "next"));
    assertThat(send(link).result()).isEqualTo("200 next");
    assertThat(bench.failed.get()).isEqualTo(failure.equals("CLOSED") ? 1 : 0);
  }

  @ParameterizedTest
  @CsvSource({"103", "200"})
  void whoAnsweredHasProcessedWhateverItSaysThen(String status) {
    server.script(
        (request, wire) ->
            wire.headers(request.stream(), false, ":status", status)
                .reset(request.stream(), REFUSED_STREAM));
    assertThat(send(bench.link()).result()).isEqualTo("CLOSED");
  }

  @Test
  void whoAnsweredHasProcessedEvenWhereItGoesAwayBelowThat() {
    server.script(
        (request, wire) -> wire.headers(request.stream(), false, ":status", "200").goAway(0, 0));
    assertThat(send(bench.link()).result()).isEqualTo("CLOSED");
  }

  @Test
  void serverThatGoesAwayFinishesTheStreamsThatItNames() throws Exception {
    CompletableFuture<Wire> wire = new CompletableFuture<>();
    server.script(
        (request, connection) -> {
          if (request.stream() == THIRD) {
            connection.goAway(SECOND, 0);
            wire.complete(connection);
          }
        });
    Link link = bench.link();
    UpstreamConnection unused = bench.onLoop(() -> take(link));
    HeardResponse one = send(link);
    HeardResponse two = send(link);
    HeardResponse three = send(link);
    assertThat(three.result()).isEqualTo("NOT_PROCESSED");
    assertThat(bench.onLoop(link::isFull)).isTrue();
    assertThat(bench.onLoop(link::take)).isNull();
    HeardResponse four = new HeardResponse();
    assertThat(bench.onLoop(() -> unused.send(get(), NO_BODY, four))).isFalse();
    assertThat(four.events()).isEmpty();

    wire.join().respond(FIRST, 200, "one").respond(SECOND, 200, "two");
    assertThat(one.result()).isEqualTo("200 one");
    assertThat(two.result()).isEqualTo("200 two");
    await().until(() -> bench.closed.get() == 1 && server.openConnections() == 0);
    assertThat(server.received()).hasSize(3);
  }

  @Test
  void serverThatGoesAwayGracefullyFinishesAll() throws Exception {
    CompletableFuture<Wire> wire = new CompletableFuture<>();
    server.script(
        (request, connection) -> {
          connection.goAway(Integer.MAX_VALUE, 0);
          wire.complete(connection);
        });
    Link link = bench.link();
    HeardResponse heard = send(link);
    wire.orTimeout(10, TimeUnit.SECONDS).join();
    await().until(() -> bench.onLoop(link::isFull));
    wire.join().goAway(FIRST, 0).respond(FIRST, 200, "ok");
    assertThat(heard.result()).isEqualTo("200 ok");
    await().until(() -> bench.closed.get() == 1);
  }

  @Test
  void requestWhoseHeadIsStillHeldIsNotProcessedWhenTheServerGoesAway() throws Exception {
    CompletableFuture<Wire> wire = new CompletableFuture<>();
    server.script((request, connection) -> wire.complete(connection));
    Link link = bench.link();
    HeardResponse other = send(link);
    HeardResponse heard = new HeardResponse();
    UpstreamConnection place = begin(link, -1, heard);
    wire.orTimeout(10, TimeUnit.SECONDS).join().goAway(FIRST, 0);
    await().until(() -> bench.onLoop(link::isFull));
    bench.run(
        () -> {
          place.write(chunk("x"));
          place.flush();
        });
    assertThat(heard.result()).isEqualTo("NOT_PROCESSED");
    wire.join().respond(FIRST, 200, "ok");
    assertThat(other.result()).isEqualTo("200 ok");
    await().until(() -> bench.closed.get() == 1);
  }

  @ParameterizedTest
  @CsvSource({"false", "true"})
  void connectionThatClosesLosesAllThatIsUnderWay(boolean abort) {
    server.script(
        (request, wire) -> {
          if (request.stream() == SECOND) {
            wire.headers(FIRST, false, ":status", "200").data(FIRST, false, "half");
            if (abort) {
              wire.abort();
            } else {
              wire.close();
            }
          }
        });
    Link link = bench.link();
    HeardResponse one = send(link);
    HeardResponse two = send(link);
    assertThat(one.result()).isEqualTo("CLOSED");
    assertThat(two.result()).isEqualTo("CLOSED");
    await().until(() -> bench.closed.get() == 1);
    assertThat(bench.onLoop(link::exchanges)).isZero();
  }

  @Test
  void connectionThatClosesWhileARequestWaitsForItsWindowIsThatAndNoMalformedResponse() {
    server.settings(ScriptedHttp2Server.INITIAL_WINDOW_SIZE, 10);
    server.atHead().script((request, wire) -> wire.close());
    assertThat(send(bench.link(), post(), new byte[25]).result()).isEqualTo("CLOSED");
    await().until(() -> bench.closed.get() == 1);
  }

  @Test
  void headThatIsLargerThanTheServerTakesIsNotSent() {
    server.settings(6, 1_000);
    Link link = bench.link();
    RequestHead head = get("X-Large", "a".repeat(2_000));
    assertThat(send(link, head, NO_BODY).result()).isEqualTo("NOT_PROCESSED");
    assertThat(send(link).result()).isEqualTo("200 ok");
    assertThat(server.received()).hasSize(1);
    await().until(() -> isIdle(link));
  }

  // ---- the beginning

  @Test
  void serverThatSpeaksHttp1IsNoLink() {
    try (ScriptedUpstream http1 = ScriptedUpstream.ok();
        LinkBench own = new LinkBench(Transport.best(), http1.port())) {
      Promise<Link> ready = own.connect();
      assertThat(ready.awaitUninterruptibly(10, TimeUnit.SECONDS)).isTrue();
      assertThat(ready.isSuccess()).isFalse();
    }
  }

  @Test
  void serverThatSaysNothingIsNoLinkYet() {
    server.silent();
    Promise<Link> ready = bench.connect();
    await().until(() -> server.connections() == 1);
    assertThat(ready.isDone()).isFalse();
    server.close();
    assertThat(ready.awaitUninterruptibly(10, TimeUnit.SECONDS)).isTrue();
    assertThat(ready.isSuccess()).isFalse();
  }

  // ---- places

  @ParameterizedTest
  @CsvSource({"0, 0", "1, 1", "3, 3", "1000, 100", "-1, 100"})
  void linkHasAPlaceForEachStreamThatTheServerAllows(int allowed, int places) {
    server.settings(ScriptedHttp2Server.MAX_CONCURRENT_STREAMS, allowed);
    Link link = bench.link();
    List<UpstreamConnection> taken =
        bench.onLoop(
            () -> {
              List<UpstreamConnection> all = new ArrayList<>();
              while (!link.isFull()) {
                all.add(take(link));
              }
              return all;
            });
    assertThat(taken).hasSize(places);
    assertThat(bench.onLoop(link::take)).isNull();
    bench.run(() -> taken.forEach(UpstreamConnection::giveBack));
    // All at once, and so told once.
    await().until(() -> bench.released.get() == Math.min(1, places));
    assertThat(isIdle(link)).isTrue();
  }

  @Test
  void serverThatAllowsLessInTheMidstFinishesWhatIsUnderWay() throws Exception {
    CompletableFuture<Wire> wire = new CompletableFuture<>();
    server.script(
        (request, connection) -> {
          if (request.stream() == THIRD) {
            connection.settings(ScriptedHttp2Server.MAX_CONCURRENT_STREAMS, 1);
            wire.complete(connection);
          }
        });
    Link link = bench.link();
    UpstreamConnection place = bench.onLoop(() -> take(link));
    List<HeardResponse> all = List.of(send(link), send(link), send(link));
    wire.orTimeout(10, TimeUnit.SECONDS).join();
    await().until(() -> bench.onLoop(link::isFull));
    HeardResponse none = new HeardResponse();
    assertThat(bench.onLoop(() -> place.send(get(), NO_BODY, none))).isFalse();
    wire.join().respond(FIRST, 200, "a").respond(SECOND, 200, "a").respond(THIRD, 200, "a");
    all.forEach(heard -> assertThat(heard.result()).isEqualTo("200 a"));
    await().until(() -> bench.onLoop(() -> !link.isFull()));
  }

  // ---- time

  @Test
  void overdueResponseOfASilentServerRetiresTheLinkAndIsStillWelcome() throws Exception {
    CompletableFuture<Wire> wire = new CompletableFuture<>();
    server.script((request, connection) -> wire.complete(connection));
    Link link = bench.link();
    HeardResponse heard = send(link);
    wire.orTimeout(10, TimeUnit.SECONDS).join();
    bench.advance(link, LinkBench.RESPONSE_TIMEOUT.minusSeconds(1));
    assertThat(heard.events()).isEmpty();
    bench.advance(link, Duration.ofSeconds(2));
    assertThat(heard.events()).containsExactly("overdue");
    assertThat(bench.onLoop(link::isFull)).isTrue();
    assertThat(bench.onLoop(link::isOverdue)).isTrue();
    assertThat(bench.failed.get()).isEqualTo(1);

    wire.join().respond(FIRST, 200, "late");
    assertThat(heard.result()).isEqualTo("200 late");
    await().until(() -> bench.closed.get() == 1);
    assertThat(bench.succeeded.get()).isZero();
  }

  @Test
  void overdueResponseThatNeverComesIsGivenUp() {
    server.script((request, connection) -> {});
    Link link = bench.link();
    HeardResponse heard = send(link);
    bench.advance(link, LinkBench.RESPONSE_TIMEOUT.plusSeconds(1));
    assertThat(heard.isEnded()).isFalse();
    bench.advance(link, LinkBench.LATE_RESPONSE.plusSeconds(1));
    assertThat(heard.result()).isEqualTo("TIMEOUT");
    await().until(() -> bench.closed.get() == 1);
  }

  @Test
  void overdueResponseThatMayNotBeKeptIsGivenUpAtOnce() {
    bench.keepsOverdue = false;
    server.script((request, connection) -> {});
    Link link = bench.link();
    HeardResponse heard = send(link);
    bench.advance(link, LinkBench.RESPONSE_TIMEOUT.plusSeconds(1));
    assertThat(heard.events()).containsExactly("overdue", "failed");
    await().until(() -> bench.closed.get() == 1);
  }

  @Test
  void overdueResponseOfAServerThatAnswersOthersCostsOnlyItsPlace() {
    server.script(
        (request, wire) -> {
          if (request.stream() > FIRST) {
            wire.respond(request.stream(), 200, "ok");
          }
        });
    Link link = bench.link();
    HeardResponse slow = send(link);
    bench.advance(link, LinkBench.RESPONSE_TIMEOUT.minusSeconds(1));
    assertThat(send(link).result()).isEqualTo("200 ok");
    bench.advance(link, Duration.ofSeconds(2));
    assertThat(slow.events()).contains("overdue");
    assertThat(bench.onLoop(link::isFull)).isFalse();
    assertThat(send(link).result()).isEqualTo("200 ok");
  }

  @Test
  void requestThatTheClientHasNotEndedIsNotOverdue() {
    server.atHead().script((request, connection) -> {});
    Link link = bench.link();
    HeardResponse heard = new HeardResponse();
    UpstreamConnection place = begin(link, -1, heard);
    bench.run(place::flush);
    bench.advance(link, LinkBench.RESPONSE_TIMEOUT.plusSeconds(1));
    assertThat(heard.events()).isEmpty();
    bench.run(place::end);
    bench.advance(link, LinkBench.RESPONSE_TIMEOUT.plusSeconds(1));
    assertThat(heard.events()).containsExactly("overdue");
  }

  @Test
  void cancelledExchangeIsResetAndItsPlaceIsFree() {
    CompletableFuture<Wire> wire = new CompletableFuture<>();
    server.atHead().script((request, connection) -> wire.complete(connection));
    Link link = bench.link();
    HeardResponse heard = new HeardResponse();
    UpstreamConnection place = begin(link, -1, heard);
    bench.run(place::flush);
    wire.orTimeout(10, TimeUnit.SECONDS).join();
    bench.run(place::cancel);
    awaitReset(CANCEL);
    respond(wire, FIRST);
    server.script((request, connection) -> connection.respond(request.stream(), 200, "next"));
    assertThat(send(link).result()).isEqualTo("200 next");
    assertThat(heard.events()).isEmpty();
    await().until(() -> isIdle(link));
  }

  @Test
  void retiredLinkFinishesWhatIsUnderWayThenCloses() throws Exception {
    CompletableFuture<Wire> wire = new CompletableFuture<>();
    server.script((request, connection) -> wire.complete(connection));
    Link link = bench.link();
    HeardResponse heard = send(link);
    wire.orTimeout(10, TimeUnit.SECONDS).join();
    bench.run(link::retire);
    assertThat(bench.onLoop(link::take)).isNull();
    assertThat(bench.closed.get()).isZero();
    wire.join().respond(FIRST, 200, "ok");
    assertThat(heard.result()).isEqualTo("200 ok");
    await().until(() -> bench.closed.get() == 1);
    assertThat(server.frames(ScriptedHttp2Server.GOAWAY)).hasSize(1);
  }

  // ---- many

  @Test
  void thousandExchangesOnOneConnectionDoNotMix() {
    long seed = new Random().nextLong();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    server.script((request, wire) -> scatter(request, wire, seed));
    Link link = bench.link();
    List<HeardResponse> all = new ArrayList<>();
    List<String> bodies = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      String body = (i + "-").repeat(random.nextInt(1, 3_000));
      if (bench.onLoop(link::isFull)) {
        await().until(() -> bench.onLoop(() -> !link.isFull()));
      }
      bodies.add(body);
      all.add(send(link, post(), body.getBytes(StandardCharsets.ISO_8859_1)));
    }
    for (int i = 0; i < all.size(); i++) {
      assertThat(all.get(i).result()).as("seed %d", seed).isEqualTo("200 " + bodies.get(i));
    }
    assertThat(server.connections()).isEqualTo(1);
    await().until(() -> isIdle(link));
  }

  /** Gives the body back in pieces of random length. */
  private static void scatter(Request request, Wire wire, long seed) throws Exception {
    Random random = new Random(seed + request.stream());
    String body = request.text();
    wire.headers(request.stream(), false, ":status", "200");
    int at = 0;
    while (at < body.length()) {
      int end = Math.min(body.length(), at + random.nextInt(1, 8_000));
      wire.data(request.stream(), end == body.length(), body.substring(at, end));
      at = end;
    }
  }
}
