package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Received;
import dev.idempotency.gateway.testing.ScriptedUpstream.Wire;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** WebSockets: only where a route says so, and only after the upstream has granted one. */
class WebSocketTest {

  private static final String KEY = "dGhlIHNhbXBsZSBub25jZQ==";
  private static final String ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

  private final ScriptedUpstream upstream = ScriptedUpstream.start(WebSocketTest::echo);
  private final TestGateway gateway = start(upstream);

  private static TestGateway start(ScriptedUpstream upstream) {
    return TestGateway.start(
        """
          store: memory
          drain: 1s
          upstreams:
            app: { url: "%s" }
          routes:
            - { name: ws, path: /ws, upstream: app, idempotency: "off", upgrade: [websocket] }
            - { name: all, path: /**, upstream: app }
          """
            .formatted(upstream.url()));
  }

  @AfterEach
  void stop() {
    gateway.close();
    upstream.close();
  }

  private static String handshake(String path, String... lines) {
    return "GET "
        + path
        + " HTTP/1.1\r\nHost: gw.test\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
        + String.join("", lines)
        + "\r\n";
  }

  private static String handshake(String path) {
    return handshake(path, "Sec-WebSocket-Version: 13\r\n", "Sec-WebSocket-Key: " + KEY + "\r\n");
  }

  private static void grant(Received request, Wire wire) throws Exception {
    byte[] hash =
        MessageDigest.getInstance("SHA-1")
            .digest(
                (request.header("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
                    .getBytes(StandardCharsets.ISO_8859_1));
    wire.send(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "X-Seen: yes\r\nSec-WebSocket-Accept: "
            + Base64.getEncoder().encodeToString(hash)
            + "\r\n\r\n");
  }

  /** Sends each frame back unmasked, until the one that closes. */
  private static void echo(Received request, Wire wire) throws Exception {
    if (!"websocket".equals(request.header("Upgrade"))) {
      wire.respond(200, "plain");
      return;
    }
    grant(request, wire);
    DataInputStream in = new DataInputStream(wire.in());
    int opcode = 0;
    while (opcode != 8) {
      int first = in.readUnsignedByte();
      opcode = first & 0xf;
      wire.send(frame(first, payload(in)));
    }
    wire.close();
  }

  private static byte[] payload(DataInputStream in) throws IOException {
    int length = in.readUnsignedByte() & 0x7f;
    length = length == 126 ? in.readUnsignedShort() : length == 127 ? (int) in.readLong() : length;
    byte[] mask = in.readNBytes(4);
    byte[] payload = in.readNBytes(length);
    for (int i = 0; i < payload.length; i++) {
      payload[i] ^= mask[i % 4];
    }
    return payload;
  }

  private static byte[] frame(int first, byte[] payload) {
    java.nio.ByteBuffer frame = java.nio.ByteBuffer.allocate(10 + payload.length);
    frame.put((byte) first);
    if (payload.length < 126) {
      frame.put((byte) payload.length);
    } else if (payload.length < 65_536) {
      frame.put((byte) 126).putShort((short) payload.length);
    } else {
      frame.put((byte) 127).putLong(payload.length);
    }
    frame.put(payload).flip();
    byte[] bytes = new byte[frame.remaining()];
    frame.get(bytes);
    return bytes;
  }

  private static final class Heard implements WebSocket.Listener {
    final BlockingQueue<String> texts = new LinkedBlockingQueue<>();
    final CompletableFuture<Integer> closed = new CompletableFuture<>();
    private final StringBuilder text = new StringBuilder();

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence part, boolean last) {
      text.append(part);
      if (last) {
        texts.add(text.toString());
        text.setLength(0);
      }
      socket.request(1);
      return null;
    }

    @Override
    public @Nullable CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
      closed.complete(code);
      return null;
    }
  }

  @Test
  void grantedWebSocketCarriesFramesBothWaysUntilItIsClosed() throws Exception {
    Heard heard = new Heard();
    WebSocket socket =
        HttpClient.newHttpClient()
            .newWebSocketBuilder()
            .buildAsync(URI.create("ws://127.0.0.1:" + gateway.port() + "/ws"), heard)
            .get(15, TimeUnit.SECONDS);
    String large = "x".repeat(300_000);
    for (String text : new String[] {"hello", large, "bye"}) {
      socket.sendText(text, true).get(15, TimeUnit.SECONDS);
      assertThat(heard.texts.poll(15, TimeUnit.SECONDS)).isEqualTo(text);
    }
    socket.sendClose(1000, "done").get(15, TimeUnit.SECONDS);
    assertThat(heard.closed.get(15, TimeUnit.SECONDS)).isEqualTo(1000);
    assertThat(upstream.last().header("Via")).isEqualTo("1.1 idempotency-gateway");
    await().until(() -> upstream.openConnections() == 0);
  }

  @Test
  void answerOf101IsPassedOnWhole() {
    try (RawClient client = RawClient.connect(gateway.port())) {
      RawResponse answer = client.send(handshake("/ws")).read();
      assertThat(answer.status()).isEqualTo(101);
      assertThat(answer.headers("Sec-WebSocket-Accept")).containsExactly(ACCEPT);
      assertThat(answer.headers("Upgrade")).containsExactly("websocket");
      assertThat(answer.headers("Connection")).containsExactly("Upgrade");
      assertThat(answer.headers("X-Seen")).containsExactly("yes");
      assertThat(answer.header("Content-Length")).isNull();
    }
  }

  @Test
  void clientThatBreaksOffEndsTheUpstreamsSideToo() {
    RawClient client = RawClient.connect(gateway.port());
    assertThat(client.send(handshake("/ws")).read().status()).isEqualTo(101);
    assertThat(upstream.openConnections()).isEqualTo(1);
    client.reset();
    await().until(() -> upstream.openConnections() == 0);
  }

  @Test
  void bytesBehindTheUpstreamsAnswerReachTheClient() {
    upstream.script(
        (request, wire) -> {
          grant(request, wire);
          wire.send("early").close();
        });
    try (RawClient client = RawClient.connect(gateway.port())) {
      assertThat(client.send(handshake("/ws")).read().status()).isEqualTo(101);
      assertThat(client.readToEnd()).isEqualTo("early");
    }
  }

  @Test
  void halfClosedDirectionLeavesTheOtherOpen() throws Exception {
    upstream.script(
        (request, wire) -> {
          grant(request, wire);
          String heard = new String(wire.in().readAllBytes(), StandardCharsets.ISO_8859_1);
          wire.send("heard " + heard).close();
        });
    try (RawClient client = RawClient.connect(gateway.port())) {
      assertThat(client.send(handshake("/ws")).read().status()).isEqualTo(101);
      client.send("last words").halfClose();
      assertThat(client.readToEnd()).isEqualTo("heard last words");
    }
  }

  @Test
  void refusedUpgradeLeavesAnOrdinaryConnection() {
    upstream.script((request, wire) -> wire.respond(403, "no"));
    try (RawClient client = RawClient.connect(gateway.port())) {
      client.send(handshake("/ws") + "GET /admin/secret HTTP/1.1\r\nHost: gw.test\r\n\r\n");
      assertThat(client.read().text()).isEqualTo("no");
      assertThat(client.read().status()).isEqualTo(403);
      assertThat(upstream.received())
          .extracting(Received::line)
          .last()
          .isEqualTo("GET /admin/secret HTTP/1.1");
    }
  }

  @Test
  void bytesSentBeforeTheAnswerMakeNoTunnel() throws Exception {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    upstream.script(
        (request, wire) -> {
          gate.pass();
          grant(request, wire);
          wire.in().read();
        });
    try (RawClient client = RawClient.connect(gateway.port())) {
      client.send(handshake("/ws") + "GET /admin/secret HTTP/1.1\r\nHost: gw.test\r\n\r\n");
      await().until(() -> upstream.requests() == 1);
      gate.open();
      assertThat(client.read().status()).isEqualTo(400);
    }
    assertThat(upstream.received())
        .extracting(Received::line)
        .doesNotContain("GET /admin/secret HTTP/1.1");
    await().until(() -> upstream.openConnections() <= 1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 101 X\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + ACCEPT,
        "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + ACCEPT,
        "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: " + ACCEPT,
        "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x",
        "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade",
      })
  void answerThatGrantsSomethingElseMakesNoTunnel(String answer) {
    upstream.script(
        (request, wire) -> {
          wire.send(answer + "\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
          wire.in().read();
        });
    try (RawClient client = RawClient.connect(gateway.port())) {
      assertThat(client.send(handshake("/ws")).read().status()).isEqualTo(502);
    }
    await().until(() -> upstream.openConnections() == 0);
  }

  @Test
  void unaskedFor101IsNoAnswer() {
    upstream.script(
        (request, wire) ->
            grant(
                new Received("", java.util.List.of("Sec-WebSocket-Key: " + KEY), new byte[0]),
                wire));
    byte[] request = RawClient.request("GET", "/other", null, null, null);
    assertThat(RawClient.once(gateway.port(), request).status()).isEqualTo(502);
  }

  /** On other routes, and where the handshake is not whole, the wish is not passed on. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "/other Sec-WebSocket-Version:13 Sec-WebSocket-Key:" + KEY,
        "/ws Sec-WebSocket-Version:12 Sec-WebSocket-Key:" + KEY,
        "/ws Sec-WebSocket-Version:13",
        "/ws Sec-WebSocket-Version:13 Sec-WebSocket-Key:short",
        "/ws Sec-WebSocket-Version:13 Sec-WebSocket-Key:" + KEY + " Upgrade:h2c",
      })
  void wishThatIsNotAllowedIsDropped(String text) {
    String[] words = text.split(" ");
    StringBuilder lines = new StringBuilder();
    for (int i = 1; i < words.length; i++) {
      lines.append(words[i].replaceFirst(":", ": ")).append("\r\n");
    }
    try (RawClient client = RawClient.connect(gateway.port())) {
      RawResponse answer = client.send(handshake(words[0], lines.toString())).read();
      assertThat(answer.text()).isEqualTo("plain");
    }
    assertThat(upstream.last().header("Upgrade")).isNull();
    assertThat(upstream.last().header("Connection")).isNull();
  }

  @Test
  void stoppingGatewayEndsTunnelsWhenItsTimeIsUp() {
    TestGateway stopping = start(upstream);
    try (RawClient client = RawClient.connect(stopping.port())) {
      assertThat(client.send(handshake("/ws")).read().status()).isEqualTo(101);
      stopping.close();
      assertThat(client.isClosedByPeer()).isTrue();
    }
  }
}
