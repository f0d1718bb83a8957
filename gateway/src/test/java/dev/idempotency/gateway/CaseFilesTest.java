package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Requests as bytes in files, each with what must come of it in the manifest, sent in three ways:
 * the way in which the bytes arrive changes nothing.
 */
class CaseFilesTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static RedisServer redis;
  private static ScriptedUpstream upstream;
  private static ScriptedUpstream guarded;
  private static TestGateway gateway;
  private static TestGateway open;
  private int before;

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
    upstream =
        ScriptedUpstream.start(
            (request, wire) ->
                wire.respond(request.line().contains(" /ws ") ? 403 : 200, request.line()));
    guarded = ScriptedUpstream.ok();
    String store = "store: { url: \"" + redis.url() + "\", timeout: 10s }\ndrain: 1s\nthreads: 1\n";
    String both =
        "upstreams:\n  app: { url: \""
            + upstream.url()
            + "\" }\n  guarded: { url: \""
            + guarded.url()
            + "\" }\nroutes:\n";
    String admin = "  - { name: admin, path: /admin/**, upstream: guarded, idempotency: off }\n";
    gateway =
        TestGateway.start(
            store
                + both
                + "  - { name: orders, path: /orders, upstream: app, idempotency: optional,"
                + " request: { limit: 1KiB } }\n"
                + "  - { name: rest, path: /orders/**, upstream: app, idempotency: off }\n"
                + "  - { name: ws, path: /ws, upstream: app, idempotency: off }\n"
                + "  - { name: t, path: /t/**, upstream: app, idempotency: off }\n"
                + admin);
    open =
        TestGateway.start(
            store
                + both
                + admin
                + "  - { name: all, path: /**, upstream: app, idempotency: off }\n");
  }

  @AfterAll
  static void stop() {
    open.close();
    gateway.close();
    upstream.close();
    guarded.close();
    redis.close();
  }

  @BeforeEach
  void count() {
    before = upstream.requests();
  }

  private static byte[] file(String name) {
    try (InputStream in = CaseFilesTest.class.getResourceAsStream("/cases/" + name)) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Stream<JsonNode> lines(String name) {
    return new String(file(name), StandardCharsets.UTF_8).lines().map(CaseFilesTest::json);
  }

  private static JsonNode json(String line) {
    try {
      return JSON.readTree(line);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Stream<JsonNode> requests() {
    return lines("manifest.jsonl").filter(row -> row.path("side").asText().equals("client"));
  }

  private enum Way {
    AT_ONCE,
    BYTE_BY_BYTE,
    AT_THE_BORDER
  }

  private static List<byte[]> pieces(byte[] bytes, Way way) {
    List<byte[]> pieces = new ArrayList<>();
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    int border =
        switch (way) {
          case AT_ONCE -> bytes.length;
          case BYTE_BY_BYTE -> 1;
          case AT_THE_BORDER -> text.indexOf("\r\n\r\n") + 4;
        };
    for (int at = 0; at < bytes.length; ) {
      int end = way == Way.AT_THE_BORDER && at > 0 ? bytes.length : at + border;
      pieces.add(Arrays.copyOfRange(bytes, at, Math.min(end, bytes.length)));
      at = end;
    }
    return pieces;
  }

  /** A refusal may end the connection before the request is out. */
  private static void send(RawClient client, List<byte[]> pieces) {
    try {
      pieces.forEach(client::send);
    } catch (UncheckedIOException e) {
      // The answer tells.
    }
  }

  @ParameterizedTest
  @MethodSource("requests")
  void requestInAFileIsTakenOrRefusedAsTheManifestSays(JsonNode row) {
    for (Way way : Way.values()) {
      redis.call("FLUSHALL");
      int reached = upstream.requests();
      int guardReached = guarded.requests();
      String name = row.path("file").asText() + " " + way;
      boolean pipelined = name.startsWith("B25-ws-then-pipelined");
      try (RawClient client = RawClient.connect(gateway.port())) {
        send(client, pieces(file(row.path("file").asText()), way));
        RawResponse response = client.read();
        assertAnswer(name, row, response);
        if (pipelined) {
          // Refused its upgrade, the connection speaks HTTP on: the next one has its own route.
          assertThat(response.status()).as(name).isEqualTo(403);
          assertThat(client.read().status()).as(name).isEqualTo(200);
        }
        if (row.path("expect_close").asBoolean()) {
          assertThat(response.header("Connection")).as(name).isEqualTo("close");
          assertThat(client.isClosedByPeer()).as(name).isTrue();
        }
        if (response.status() < 400) {
          finish(client);
        }
        if (response.status() >= 400 && !row.path("expect_status").isNull()) {
          await(name).until(() -> redis.call("DBSIZE").equals("0"));
          assertThat(upstream.requests()).as(name).isEqualTo(reached);
        }
      }
      assertReached(name, row, upstream.received().subList(reached, upstream.requests()));
      assertThat(guarded.requests()).as(name).isEqualTo(guardReached + (pipelined ? 1 : 0));
    }
  }

  /** Until everything that was sent is answered: the next file begins with an empty store. */
  private static void finish(RawClient client) {
    try {
      client.halfClose();
    } catch (UncheckedIOException e) {
      // The gateway has ended the connection.
    }
    client.readToEnd();
  }

  private static void assertAnswer(String name, JsonNode row, RawResponse response) {
    List<Integer> statuses = new ArrayList<>();
    row.path("expect_status").forEach(status -> statuses.add(status.asInt()));
    if (!statuses.isEmpty()) {
      assertThat(response.status()).as("%s: %s", name, response).isIn(statuses);
    }
    assertThat(response.text()).as(name).doesNotContain("Exception").doesNotContain("\tat ");
  }

  private static void assertReached(
      String name, JsonNode row, List<ScriptedUpstream.Received> received) {
    if (row.path("max_upstream_requests").isInt()) {
      assertThat(received)
          .as(name)
          .hasSizeLessThanOrEqualTo(row.path("max_upstream_requests").asInt());
    }
    for (JsonNode target : row.path("must_not_reach_upstream")) {
      assertThat(received).as(name).noneMatch(it -> it.line().contains(target.asText()));
    }
    for (ScriptedUpstream.Received request : received) {
      assertThat(request.line()).as(name).matches("[A-Z]+ /[!-~]* HTTP/1\\.1");
      assertThat(request.headers("Host")).as(name).hasSize(1);
      for (String gone : List.of("Connection", "Upgrade", "HTTP2-Settings", "TE", "X-Custom")) {
        assertThat(request.headers(gone)).as("%s: %s", name, gone).isEmpty();
      }
    }
  }

  static Stream<String> targets() {
    return lines("B10-targets.jsonl").map(row -> row.path("target").asText());
  }

  @ParameterizedTest
  @MethodSource("targets")
  void targetThatServersReadInTwoWaysIsRefusedOrBecomesOneThatTheyDont(String target) {
    int guardedBefore = guarded.requests();
    RawResponse response =
        RawClient.once(open.port(), RawClient.request("GET", target, null, null, null));
    if (target.equals("/%61dmin/x")) {
      assertThat(response.status()).isEqualTo(200);
      assertThat(guarded.requests()).isEqualTo(guardedBefore + 1);
      assertThat(guarded.last().line()).isEqualTo("GET /admin/x HTTP/1.1");
    } else if (target.equals("/ADMIN/x") || target.contains("%252F")) {
      // Another path for everybody who decodes once.
      assertThat(response.text()).isEqualTo("GET " + target + " HTTP/1.1");
    } else {
      assertThat(response.status()).as(target).isEqualTo(400);
      assertThat(response.problem()).isEqualTo("bad-request");
      assertThat(upstream.requests()).isEqualTo(before);
      assertThat(guarded.requests()).isEqualTo(guardedBefore);
    }
  }

  @Test
  void secondRequestWithTheSameKeyOnOneConnectionIsTheReplay() {
    redis.call("FLUSHALL");
    for (Way way : Way.values()) {
      try (RawClient client = RawClient.connect(gateway.port())) {
        send(client, pieces(file("B24-same-key-twice.http"), way));
        RawResponse first = client.read();
        RawResponse second = client.read();
        assertThat(first.status()).isEqualTo(200);
        assertThat(second.isReplay()).isTrue();
        assertThat(second.text()).isEqualTo(first.text());
      }
    }
    assertThat(upstream.requests()).isEqualTo(before + 1);
  }

  @Test
  void answersOfPipelinedRequestsComeInTheirOrder() {
    redis.call("FLUSHALL");
    try (RawClient client = RawClient.connect(gateway.port())) {
      client.send(file("B24-post-get.http"));
      assertThat(client.read().text()).startsWith("POST /orders ");
      assertThat(client.read().text()).startsWith("GET /orders/1 ");
      StringBuilder fifty = new StringBuilder();
      for (int i = 0; i < 50; i++) {
        fifty.append("GET /t/").append(i).append(" HTTP/1.1\r\nHost: gw.test\r\n\r\n");
      }
      client.send(fifty.toString());
      for (int i = 0; i < 50; i++) {
        assertThat(client.read().text()).isEqualTo("GET /t/" + i + " HTTP/1.1");
      }
    }
  }

  @Test
  void garbageAfterARequestLeavesItsAnswerWhole() {
    for (Way way : Way.values()) {
      redis.call("FLUSHALL");
      try (RawClient client = RawClient.connect(gateway.port())) {
        send(client, pieces(file("B24-post-garbage.http"), way));
        assertThat(client.read().text()).startsWith("POST /orders ");
        RawResponse refusal = client.read();
        assertThat(refusal.status()).isEqualTo(400);
        assertThat(refusal.header("Connection")).isEqualTo("close");
        assertThat(client.isClosedByPeer()).isTrue();
      }
    }
  }

  @Test
  void requestsThatAreSplitAnywhereAreTheSameRequests() {
    String post =
        "POST /orders HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 2\r\n\r\n{}"
            + "POST /orders HTTP/1.1\r\nHost: gw.test\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "1;a=\"b\"\r\n{\r\n1\r\n}\r\n0\r\nX: y\r\n\r\nGET /t/1 HTTP/1.1\r\nHost: gw.test\r\n\r\n";
    try (RawClient client = RawClient.connect(gateway.port())) {
      for (int at = 1; at < post.length(); at++) {
        client.send(post.substring(0, at));
        client.send(post.substring(at));
        assertThat(client.read().status()).as("split at %d", at).isEqualTo(200);
        assertThat(client.read().status()).as("split at %d", at).isEqualTo(200);
        assertThat(client.read().text()).as("split at %d", at).isEqualTo("GET /t/1 HTTP/1.1");
        List<ScriptedUpstream.Received> received = upstream.received();
        for (ScriptedUpstream.Received it : received.subList(before, received.size())) {
          assertThat(it.text()).isEqualTo(it.line().startsWith("POST") ? "{}" : "");
        }
      }
    }
  }
}
