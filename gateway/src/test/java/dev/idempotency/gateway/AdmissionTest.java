package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.Http2RawClient;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisMonitor;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Before its caller is admitted, a request reaches neither the store nor the upstream. */
class AdmissionTest {

  private static final String PREFIX = "admission";

  private final AtomicInteger keys = new AtomicInteger();
  private final AtomicInteger marks = new AtomicInteger();
  private RedisServer redis;
  private RedisMonitor monitor;
  private ScriptedUpstream app;
  private ScriptedUpstream service;
  private TestGateway gateway;

  @BeforeEach
  void start() {
    redis = RedisServer.start();
    monitor = RedisMonitor.of(redis);
    app = ScriptedUpstream.ok();
    service = ScriptedUpstream.start(AdmissionTest::nameTheCaller);
    gateway = open();
  }

  private TestGateway open() {
    return TestGateway.start(
        """
            listen: { address: 127.0.0.1:0, http2: true }
            store: { url: "%s", timeout: 10s, prefix: %s }
            drain: 0s
            threads: 1
            upstreams:
              app: { url: "%s" }
              auth: { url: "%s" }
            routes:
              - name: asked
                path: /**
                upstream: app
                forward-auth: { upstream: auth, path: /check, timeout: 30s, copy: [X-User-Id] }
                scope: [ "auth:X-User-Id" ]
            """
            .formatted(redis.url(), PREFIX, app.url(), service.url()));
  }

  private static void nameTheCaller(ScriptedUpstream.Received request, ScriptedUpstream.Wire wire)
      throws Exception {
    String sent = Objects.requireNonNullElse(request.header("Authorization"), "nobody");
    wire.respond(200, "", "X-User-Id: user of " + sent);
  }

  @AfterEach
  void stop() {
    gateway.close();
    app.close();
    service.close();
    monitor.close();
    redis.close();
  }

  private String key() {
    return "key-" + keys.incrementAndGet();
  }

  /** Commands that name a record; the gateway also looks from time to time whether it may write. */
  private List<String> records() {
    return monitor.naming(PREFIX).stream()
        .filter(line -> !line.contains(PREFIX + "probe"))
        .toList();
  }

  /** Nothing of what was done so far has touched the store or the upstream. */
  private void assertUntouched() {
    String mark = "mark-" + marks.incrementAndGet();
    redis.call("ECHO", mark);
    await().until(() -> !monitor.naming(mark).isEmpty());
    assertThat(records()).isEmpty();
    assertThat(app.requests()).isZero();
  }

  @Test
  void callerWhoIsRefusedReachesNothing() {
    service.script((request, wire) -> wire.respond(403, "no"));
    assertThat(once(gateway.port(), post("/a", key(), "{}")).status()).isEqualTo(403);
    try (RawClient client = RawClient.connect(gateway.port())) {
      client.send(
          "POST /a HTTP/1.1\r\nHost: gw.test\r\nIdempotency-Key: "
              + key()
              + "\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
      assertThat(client.read().status()).isEqualTo(403);
    }
    try (RawClient client = RawClient.connect(gateway.port())) {
      client.send(post("/a", key(), "{}"));
      client.send(post("/a", key(), "{}"));
      assertThat(client.read().status()).isEqualTo(403);
    }
    try (Http2RawClient client = Http2RawClient.connect(gateway.port())) {
      client.post(1, "/a", "idempotency-key", key()).data(1, true, "{}");
      client.post(3, "/a", "idempotency-key", key()).data(3, false, "{");
      assertThat(client.read(1).status()).isEqualTo(403);
      assertThat(client.read(3).status()).isEqualTo(403);
    }
    assertUntouched();
    service.script(AdmissionTest::nameTheCaller);
    assertThat(once(gateway.port(), post("/a", key(), "{}")).status()).isEqualTo(200);
    await().until(() -> !records().isEmpty());
    assertThat(app.requests()).isEqualTo(1);
  }

  @Test
  void clientThatHangsUpWhileItsCallerIsAskedAboutReservesNothing() {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    service.script(
        (request, wire) -> {
          gate.pass();
          nameTheCaller(request, wire);
        });
    try (Http2RawClient client = Http2RawClient.connect(gateway.port())) {
      client.post(1, "/a", "idempotency-key", key()).data(1, true, "{}");
      await().until(() -> service.requests() == 1);
      client.reset(1, 8);
      await().until(() -> gateway.gateway().underWay() == 0);
      service.script((request, wire) -> wire.respond(403, ""));
      gate.open();
      client.post(3, "/a", "idempotency-key", key()).data(3, true, "{}");
      assertThat(client.read(3).status()).isEqualTo(403);
    }
    assertUntouched();
  }

  @Test
  void requestsThatArePipelinedKeepTheirOwnCallers() {
    String key = key();
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    service.script(
        (request, wire) -> {
          gate.pass();
          nameTheCaller(request, wire);
        });
    app.script((request, wire) -> wire.respond(201, request.header("X-User-Id")));
    try (RawClient client = RawClient.connect(gateway.port())) {
      client.send(post("/a", key, "{}", "Authorization: Bearer a"));
      client.send(post("/a", key, "{}", "Authorization: Bearer b", "X-User-Id: user of Bearer a"));
      client.send(post("/a", key, "{}", "Authorization: Bearer a"));
      await().until(() -> service.requests() >= 1);
      gate.open();
      List<RawResponse> answers = List.of(client.read(), client.read(), client.read());

      assertThat(answers)
          .extracting(RawResponse::text)
          .containsExactly("user of Bearer a", "user of Bearer b", "user of Bearer a");
      assertThat(answers).extracting(RawResponse::isReplay).containsExactly(false, false, true);
    }
    assertThat(app.requests()).isEqualTo(2);
  }

  @Test
  void gatewayThatStopsWhileACallerIsAskedAboutReservesNothing() {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    service.script(
        (request, wire) -> {
          gate.pass();
          nameTheCaller(request, wire);
        });
    TestGateway stopping = open();
    try (RawClient client = RawClient.connect(stopping.port())) {
      client.send(post("/a", key(), "{}"));
      await().until(() -> service.requests() == 1);
      stopping.close();
      RawResponse refused = client.read();
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.problem()).isEqualTo("shutting-down");
    } finally {
      gate.open();
    }
    assertUntouched();
  }
}
