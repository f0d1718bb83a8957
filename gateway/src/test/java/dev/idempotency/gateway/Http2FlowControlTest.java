package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.Http2RawClient;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Nobody sends more than the other side takes (RFC 9113 §5.2), and nobody waits for ever. */
class Http2FlowControlTest {

  private static final int CANCEL = 8;
  private static final int ENHANCE_YOUR_CALM = 11;
  private static final int INITIAL_WINDOW = 4;
  private static final int BODY = 16 << 20;
  private static final byte[] LARGE = new byte[64 * 1024];
  private static final byte[] DATA = new byte[16 * 1024];

  private final ScriptedUpstream upstream = ScriptedUpstream.ok();
  private final ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();

  @AfterEach
  void stop() {
    gate.open();
    upstream.close();
  }

  /** Sends what the windows allow, reading what the server gives back. */
  private static final class Sender {
    private final Http2RawClient client;
    private final int stream;
    private long sent;

    Sender(Http2RawClient client, int stream) {
      this.client = client;
      this.stream = stream;
    }

    boolean isOpen() {
      return Math.min(client.window(stream), client.window(0)) >= DATA.length;
    }

    void send() {
      client.data(stream, false, DATA);
      sent += DATA.length;
    }
  }

  @Test
  void bodyIsReadNoFasterThanTheUpstreamTakesItAndOtherStreamsGoOn() {
    AtomicLong taken = new AtomicLong();
    upstream.withoutReadingBodies();
    upstream.script(
        (request, wire) -> {
          if (request.line().startsWith("GET")) {
            wire.respond(200, "ok");
            return;
          }
          gate.pass();
          drain(wire.in(), taken, Long.MAX_VALUE);
        });
    try (Http2Edge edge = Http2Edge.start(upstream.url());
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      Sender sender = new Sender(client, 1);
      client.post(1, "/a");
      client.readUntil(() -> !client.serverSettings().isEmpty());
      sendUntilStopped(client, sender);
      assertThat(sender.sent).isLessThan(32L << 20);
      long before = sender.sent;
      assertThat(client.get(9_001, "/o").read(9_001).text()).isEqualTo("ok");

      gate.open();
      while (sender.sent < before + (1 << 20)) {
        client.readUntil(sender::isOpen);
        sender.send();
      }
      await().until(() -> taken.get() > before);
    }
  }

  /** Until many round trips open no window any more. */
  private static void sendUntilStopped(Http2RawClient client, Sender sender) {
    int stopped = 0;
    while (stopped < 200 && sender.sent < 64L << 20) {
      if (sender.isOpen()) {
        sender.send();
        stopped = 0;
      } else {
        int pings = client.pings();
        client.ping().readUntil(() -> client.pings() > pings);
        stopped++;
      }
    }
  }

  private static void drain(InputStream in, AtomicLong taken, long most) throws IOException {
    byte[] bytes = new byte[64 * 1024];
    for (int n = in.read(bytes); n >= 0; n = in.read(bytes)) {
      if (taken.addAndGet(n) >= most) {
        return;
      }
    }
  }

  @Test
  void responseIsSentNoFasterThanItsWindowAllows() {
    AtomicLong sent = new AtomicLong();
    upstream.script(
        (request, wire) -> {
          wire.send("HTTP/1.1 200 OK\r\nContent-Length: " + (64L << 20) + "\r\n\r\n");
          for (int i = 0; i < 1_024; i++) {
            wire.send(LARGE);
            sent.addAndGet(LARGE.length);
          }
        });
    try (Http2Edge edge = Http2Edge.start(upstream.url());
        Http2RawClient client = Http2RawClient.connect(edge.port()).keepingWindow()) {
      client.get(1, "/a").readUntil(() -> client.answer(1).body().length == 65_535);
      upstream.script((request, wire) -> wire.respond(200, new byte[0]));
      assertThat(client.get(3, "/a").read(3).status()).isEqualTo(200);
      // The sockets' buffers and one window take a part of it; the rest stays where it is.
      await()
          .during(500, TimeUnit.MILLISECONDS)
          .atMost(20, TimeUnit.SECONDS)
          .until(() -> sent.get() < 32L << 20);

      client.windowUpdate(0, 1 << 30).windowUpdate(1, 1 << 30).read(1);
      assertThat(client.answer(1).body()).hasSize(64 << 20);
    }
  }

  @Test
  void streamThatTakesNothingOfItsResponseIsResetAndOthersGoOn() throws InterruptedException {
    CountDownLatch cut = new CountDownLatch(1);
    upstream.script((request, wire) -> sendUntilCut(wire, cut));
    try (Http2Edge edge = Http2Edge.start(upstream.url(), "body-timeout: 600ms");
        Http2RawClient client = Http2RawClient.bare(edge.port()).keepingWindow()) {
      client.preface(INITIAL_WINDOW, 1_000);
      client.get(1, "/a");
      await().until(() -> upstream.requests() == 1);
      upstream.script((request, wire) -> wire.respond(200, "ok"));
      assertThat(client.read(1).error()).isEqualTo(CANCEL);
      assertThat(cut.await(30, TimeUnit.SECONDS)).as("the upstream's exchange ends").isTrue();
      assertThat(client.get(3, "/a").read(3).text()).isEqualTo("ok");
    }
  }

  @Test
  void streamWhoseWindowOpensAgainAndAgainIsNotReset() {
    upstream.script((request, wire) -> wire.respond(200, new byte[20_000]));
    try (Http2Edge edge = Http2Edge.start(upstream.url(), "body-timeout: 1s");
        Http2RawClient client = Http2RawClient.bare(edge.port()).keepingWindow()) {
      client.preface(INITIAL_WINDOW, 1_000).get(1, "/a");
      long began = System.nanoTime();
      for (int i = 1; i < 20; i++) {
        int expected = i * 1_000;
        client.readUntil(() -> client.answer(1).body().length == expected || client.isClosed());
        // Longer than the timeout all in all, and never that long at once.
        long next = began + i * 150_000_000L;
        await().pollInSameThread().until(() -> System.nanoTime() > next);
        client.windowUpdate(1, 1_000);
      }
      assertThat(client.read(1).body()).hasSize(20_000);
    }
  }

  @Test
  void connectionThatTakesNothingOfItsResponsesIsClosed() throws InterruptedException {
    CountDownLatch cut = new CountDownLatch(1);
    upstream.script((request, wire) -> sendUntilCut(wire, cut));
    try (Http2Edge edge = Http2Edge.start(upstream.url(), "body-timeout: 600ms");
        Http2RawClient client = Http2RawClient.bare(edge.port()).keepingWindow()) {
      client.preface(INITIAL_WINDOW, 1 << 30).get(1, "/a").readToEnd();
      assertThat(client.goAways()).containsExactly(ENHANCE_YOUR_CALM);
      assertThat(cut.await(30, TimeUnit.SECONDS)).as("the upstream's exchange ends").isTrue();
    }
  }

  @Test
  void clientThatReadsNothingIsClosed() throws InterruptedException {
    CountDownLatch cut = new CountDownLatch(1);
    upstream.script((request, wire) -> sendUntilCut(wire, cut));
    try (Http2Edge edge = Http2Edge.start(upstream.url(), "body-timeout: 600ms");
        Http2RawClient client = Http2RawClient.bare(edge.port())) {
      client.preface(INITIAL_WINDOW, 1 << 30).settingsAcknowledged();
      client.windowUpdate(0, 1 << 30).get(1, "/a");
      assertThat(cut.await(30, TimeUnit.SECONDS)).as("the upstream's exchange ends").isTrue();
      await().until(() -> edge.server().connections() == 0);
    }
  }

  private static void sendUntilCut(ScriptedUpstream.Wire wire, CountDownLatch cut)
      throws IOException {
    wire.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
    try {
      while (true) {
        wire.send(LARGE);
      }
    } catch (IOException e) {
      cut.countDown();
      throw e;
    }
  }

  @Test
  void bodyThatStopsIsAnsweredWithATimeoutAndNotExecuted() {
    try (Http2Edge edge = Http2Edge.start(upstream.url(), "body-timeout: 600ms");
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      client.post(1, "/keyed/a", "idempotency-key", "k").data(1, false, "x");
      assertThat(client.read(1).status()).isEqualTo(408);
      assertThat(client.get(3, "/a").read(3).text()).isEqualTo("ok");
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  @Test
  void bodyThatComesTooSlowlyIsAnsweredWithATimeout() {
    try (Http2Edge edge =
            Http2Edge.start(upstream.url(), "body-timeout: 600ms", "http2-rate: 1000");
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      client.post(1, "/keyed/a", "idempotency-key", "k");
      long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
      // Never silent, and slow: a byte for each PING and a little time.
      while (!client.answer(1).isOver() && System.nanoTime() < until) {
        long next = System.nanoTime() + 20_000_000;
        await().pollInSameThread().until(() -> System.nanoTime() > next);
        int pings = client.pings();
        client.data(1, false, "x").ping().readUntil(() -> client.pings() > pings);
      }
      assertThat(client.answer(1).status()).isEqualTo(408);
    }
  }

  @Test
  void bodyThatTheGatewayHoldsBackHasAllTime() {
    upstream.withoutReadingBodies();
    upstream.script(
        (request, wire) -> {
          gate.pass();
          drain(wire.in(), new AtomicLong(), BODY);
          wire.respond(200, "ok");
        });
    try (Http2Edge edge = Http2Edge.start(upstream.url(), "body-timeout: 500ms");
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      client.post(1, "/a", "content-length", Integer.toString(BODY));
      client.readUntil(() -> !client.serverSettings().isEmpty());
      Sender sender = new Sender(client, 1);
      long until = System.nanoTime() + 2_000_000_000L;
      while (System.nanoTime() < until) {
        long next = System.nanoTime() + 50_000_000L;
        await().pollInSameThread().until(() -> System.nanoTime() > next);
        int pings = client.pings();
        client.ping().readUntil(() -> client.pings() > pings);
        while (sender.isOpen() && sender.sent < BODY) {
          sender.send();
        }
      }
      assertThat(client.answer(1).isOver()).as("no timeout").isFalse();
      gate.open();
      while (sender.sent < BODY) {
        client.readUntil(sender::isOpen);
        sender.send();
      }
      assertThat(client.data(1, true, "").read(1).text()).isEqualTo("ok");
    }
  }
}
