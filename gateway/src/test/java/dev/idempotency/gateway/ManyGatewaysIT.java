package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Several gateway processes that share one Redis. */
class ManyGatewaysIT {

  private static final int CALLERS = 25;
  private static final int CALLS_EACH = 20;

  private static RedisServer redis;
  private static ScriptedUpstream upstream;
  private static List<GatewayProcess> gateways;

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
    upstream = ScriptedUpstream.ok();
    String yaml =
        TestGateway.yaml(upstream.url(), "{ url: \"" + redis.url() + "\", timeout: 10s }");
    List<CompletableFuture<GatewayProcess>> starting = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      starting.add(CompletableFuture.supplyAsync(() -> GatewayProcess.start(yaml)));
    }
    gateways = starting.stream().map(CompletableFuture::join).toList();
  }

  @AfterAll
  static void stop() {
    gateways.forEach(GatewayProcess::close);
    upstream.close();
    redis.close();
  }

  static List<Arguments> bodies() {
    byte[] binary = new byte[70_000];
    for (int i = 0; i < binary.length; i++) {
      binary[i] = (byte) (i * 31 + i / 256);
    }
    byte[] text = "{\"id\":\"A-1\",\"total\":12.50}".getBytes(StandardCharsets.UTF_8);
    return List.of(
        Arguments.of("text", text, "X-Coding: none"),
        Arguments.of("gzip", gzip(text), "Content-Encoding: gzip"),
        Arguments.of("binary", binary, "X-Coding: none"));
  }

  private static byte[] gzip(byte[] bytes) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
      zip.write(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("bodies")
  void racingDuplicatesRunOnceAndAreReplayedToTheByte(String kind, byte[] body, String coding)
      throws Exception {
    int before = upstream.requests();
    upstream.script(
        (request, wire) -> wire.respond(201, body, "Content-Type: application/x-test", coding));
    byte[] request = RawClient.post("/orders", "race-" + kind, "{\"a\":1}");

    List<RawResponse> answers = race(request);
    List<RawResponse> replays = new ArrayList<>();
    for (GatewayProcess gateway : gateways) {
      replays.add(RawClient.once(gateway.port(), request));
    }

    assertThat(upstream.requests() - before).isEqualTo(1);
    assertThat(answers)
        .hasSize(CALLERS * CALLS_EACH)
        .allSatisfy(
            answer -> {
              if (answer.status() == 409) {
                assertThat(answer.problem()).isEqualTo("request-in-flight");
                assertThat(answer.header("Retry-After")).isNotNull();
              } else {
                assertSame(answer, body, coding);
              }
            });
    assertThat(answers.stream().filter(answer -> answer.status() == 201 && !answer.isReplay()))
        .as("only the first caller gets an answer that is no replay")
        .hasSize(1);
    assertThat(replays)
        .allSatisfy(
            replay -> {
              assertSame(replay, body, coding);
              assertThat(replay.isReplay()).isTrue();
            });
  }

  private static void assertSame(RawResponse answer, byte[] body, String coding) {
    assertThat(answer.status()).as(answer.headerLines().toString()).isEqualTo(201);
    assertThat(answer.body()).isEqualTo(body);
    assertThat(answer.headerLines())
        .contains("Content-Type: application/x-test", coding, "Content-Length: " + body.length);
  }

  /** All callers begin at once, spread over the gateways. */
  private static List<RawResponse> race(byte[] request) throws Exception {
    ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
    CountDownLatch begin = new CountDownLatch(1);
    List<Future<List<RawResponse>>> calls = new ArrayList<>();
    for (int i = 0; i < CALLERS; i++) {
      int port = gateways.get(i % gateways.size()).port();
      calls.add(
          callers.submit(
              () -> {
                begin.await();
                List<RawResponse> answers = new ArrayList<>();
                for (int call = 0; call < CALLS_EACH; call++) {
                  answers.add(RawClient.once(port, request));
                }
                return answers;
              }));
    }
    begin.countDown();
    List<RawResponse> answers = new ArrayList<>();
    for (Future<List<RawResponse>> call : calls) {
      answers.addAll(call.get());
    }
    callers.shutdown();
    return answers;
  }
}
