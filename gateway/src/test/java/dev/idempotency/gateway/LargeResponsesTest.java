package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.Http2RawClient;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Responses that do not fit one value are kept in pieces. */
class LargeResponsesTest {

  private static final String LIMIT = "response: { limit: 4MiB }";
  private static final byte[] REQUEST = post("/o", "k", "{}");

  /** Of HTTP/2. */
  private static final int[] STREAMS = {1, 3, 5};

  private static final int WINDOW = 65_535;
  private static final int INTERNAL_ERROR = 2;

  private static byte[] body(int length) {
    byte[] body = new byte[length];
    new Random(length).nextBytes(body);
    return body;
  }

  private static ScriptedUpstream announcing(byte[] body) {
    return ScriptedUpstream.start((request, wire) -> wire.respond(201, body, "X-A: b"));
  }

  private static ScriptedUpstream chunked(byte[] body) {
    return ScriptedUpstream.start(
        (request, wire) -> {
          wire.send("HTTP/1.1 201 Made\r\nTransfer-Encoding: chunked\r\nTrailer: Sum\r\n\r\n");
          for (int at = 0; at < body.length; at += 50_000) {
            int length = Math.min(50_000, body.length - at);
            wire.send(Integer.toHexString(length) + "\r\n");
            wire.send(Arrays.copyOfRange(body, at, at + length));
            wire.send("\r\n");
          }
          wire.send("0\r\nSum: 1\r\n\r\n");
        });
  }

  @OnBothStores
  void announcedResponseIsReplayedByteForByte(String store) {
    byte[] body = body(3 << 20);
    try (ScriptedUpstream upstream = announcing(body);
        TestGateway gateway = TestGateway.start(upstream.url(), store, LIMIT).ready()) {
      isKept(gateway, body, false);
      assertThat(once(gateway.port(), REQUEST).header("Content-Length"))
          .isEqualTo(String.valueOf(body.length));
      assertThat(upstream.requests()).isEqualTo(1);
      await().until(() -> gateway.gateway().heldBytes() == 0);
    }
  }

  @OnAllStores
  void chunkedResponseIsReplayedWithItsTrailers(String store) {
    byte[] body = body(3_333_333);
    try (ScriptedUpstream upstream = chunked(body);
        TestGateway gateway = TestGateway.start(upstream.url(), store, LIMIT).ready()) {
      isKept(gateway, body, true);
    }
  }

  @OnBothStores
  void responseAtTheLimitIsKept(String store) {
    byte[] body = body(4 << 20);
    try (ScriptedUpstream upstream = chunked(body);
        TestGateway gateway = TestGateway.start(upstream.url(), store, LIMIT).ready()) {
      isKept(gateway, body, true);
    }
  }

  @OnAllStores
  void responseOverTheLimitReachesItsClientAndIsNotKept(String store) {
    byte[] body = body((4 << 20) + 1);
    for (int i = 0; i < 2; i++) {
      try (ScriptedUpstream upstream = i == 0 ? chunked(body) : announcing(body);
          TestGateway gateway = TestGateway.start(upstream.url(), store, LIMIT).ready()) {
        byte[] request = post("/o", "over" + i, "{}");
        assertThat(once(gateway.port(), request).body()).isEqualTo(body);
        assertThat(once(gateway.port(), request).problem()).isEqualTo("response-not-kept");
        assertThat(upstream.requests()).isEqualTo(1);
      }
    }
  }

  @Test
  void pieceThatIsLostIsFoundOutBeforeAnythingIsSaid() {
    byte[] body = body(3 << 20);
    try (RedisServer redis = RedisServer.start();
        ScriptedUpstream upstream = announcing(body);
        TestGateway gateway =
            TestGateway.start(upstream.url(), OnBothStores.Stores.redis(redis), LIMIT)) {
      isKept(gateway, body, false);
      lose(redis, "*:b:*:0");
      RawResponse refused = once(gateway.port(), REQUEST);
      assertThat(refused.problem()).isEqualTo("response-not-kept");
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  @Test
  void pieceThatIsLostInTheMiddleCutsTheReplay() {
    byte[] body = body(3 << 20);
    try (RedisServer redis = RedisServer.start();
        ScriptedUpstream upstream = chunked(body);
        TestGateway gateway =
            TestGateway.start(upstream.url(), OnBothStores.Stores.redis(redis), LIMIT);
        RawClient client = RawClient.connect(gateway.port())) {
      isKept(gateway, body, true);
      lose(redis, "*:b:*:1");
      client.send(REQUEST);
      String all = client.readToEnd();
      assertThat(all).startsWith("HTTP/1.1 201").doesNotContain("\r\n0\r\n");
    }
  }

  @Test
  void replaysOverHttp2AreHeldBackByTheirClientAndCutWhereAPieceIsLost() {
    byte[] body = body(3 << 20);
    try (RedisServer redis = RedisServer.start();
        ScriptedUpstream upstream = announcing(body);
        TestGateway gateway =
            TestGateway.start(
                "listen: { address: 127.0.0.1:0, http2: true }\n"
                    + TestGateway.yaml(upstream.url(), OnBothStores.Stores.redis(redis), LIMIT));
        Http2RawClient client = Http2RawClient.connect(gateway.port()).keepingWindow()) {
      isKept(gateway, body, false);
      await().until(() -> gateway.gateway().heldBytes() == 0);
      for (int stream : STREAMS) {
        client.post(stream, "/o", "idempotency-key", "k", "content-type", "application/json");
        client.data(stream, true, "{}");
      }
      client.readUntil(() -> received(client) == WINDOW);
      // Of each a piece, whatever the length of the response.
      long pieces = STREAMS.length * (1L << 20);
      await().until(() -> gateway.gateway().heldBytes() == pieces);

      lose(redis, "*:b:*:2");
      client.reset(STREAMS[2], 8);
      for (int stream : List.of(STREAMS[0], STREAMS[1])) {
        client.windowUpdate(0, body.length).windowUpdate(stream, body.length);
        Http2RawClient.Answer answer = client.read(stream);
        assertThat(answer.header("idempotent-replayed")).isEqualTo("true");
        assertThat(answer.isEnded()).isFalse();
        assertThat(answer.error()).isEqualTo(INTERNAL_ERROR);
        byte[] part = answer.body();
        assertThat(part).hasSizeBetween(1 << 20, 2 << 20);
        assertThat(part).isEqualTo(Arrays.copyOf(body, part.length));
      }
      await().until(() -> gateway.gateway().heldBytes() == 0);
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  private static int received(Http2RawClient client) {
    int sum = 0;
    for (int stream : STREAMS) {
      sum += client.answer(stream).body().length;
    }
    return sum;
  }

  @Test
  void piecesAreEncrypted(@TempDir Path folder) throws Exception {
    byte[] secret = new byte[32];
    Files.writeString(folder.resolve("k1"), Base64.getEncoder().encodeToString(secret));
    Files.writeString(folder.resolve("secret"), "a secret of fingerprints");
    byte[] body = "a secret of the client, ".repeat(100_000).getBytes(StandardCharsets.US_ASCII);
    try (RedisServer redis = RedisServer.start();
        ScriptedUpstream upstream = announcing(body);
        TestGateway gateway =
            TestGateway.start(
                "secret: { file: "
                    + folder.resolve("secret")
                    + " }\n"
                    + TestGateway.yaml(upstream.url(), encrypted(redis, folder), LIMIT))) {
      isKept(gateway, body, false);
      List<String> pieces = keys(redis, "*:b:*");
      assertThat(pieces).hasSizeBetween(3, 4);
      for (String piece : pieces) {
        assertThat(redis.call("GET", piece)).doesNotContain("a secret");
        assertThat(Long.parseLong(redis.call("PTTL", piece))).isGreaterThan(86_400_000);
      }
    }
  }

  private static String encrypted(RedisServer redis, Path folder) {
    return "{ url: \""
        + redis.url()
        + "\", timeout: 10s, compress: 1KiB, encryption: { keys: [ { id: k1, file: "
        + folder.resolve("k1")
        + " } ] } }";
  }

  private static void isKept(TestGateway gateway, byte[] body, boolean trailers) {
    RawResponse first = once(gateway.port(), REQUEST);
    assertThat(first.status()).isEqualTo(201);
    assertThat(first.isReplay()).isFalse();
    assertThat(first.body()).isEqualTo(body);
    for (int i = 0; i < 2; i++) {
      RawResponse replay = once(gateway.port(), REQUEST);
      assertThat(replay.status()).isEqualTo(201);
      assertThat(replay.isReplay()).isTrue();
      assertThat(replay.body()).isEqualTo(body);
      assertThat(replay.header("Sum")).isEqualTo(trailers ? "1" : null);
    }
  }

  private static List<String> keys(RedisServer redis, String pattern) {
    return redis.call("KEYS", pattern).lines().toList();
  }

  private static void lose(RedisServer redis, String pattern) {
    List<String> found = keys(redis, pattern);
    assertThat(found).hasSize(1);
    redis.call("DEL", found.get(0));
  }
}
