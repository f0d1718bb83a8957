package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What each response of an upstream means for the record, by default and where a route says so. */
class OutcomesTest {

  private static final AtomicInteger KEYS = new AtomicInteger();
  private static ScriptedUpstream upstream;
  private static TestGateway byDefault;
  private static TestGateway retrying;
  private static TestGateway mapped;

  @BeforeAll
  static void start() {
    upstream = ScriptedUpstream.ok();
    byDefault = TestGateway.start(upstream.url(), "memory");
    retrying = TestGateway.start(upstream.url(), "memory", "unknown: retry");
    mapped =
        TestGateway.start(
            upstream.url(),
            "memory",
            "outcomes: { 200: unknown, 404: released, 429: completed, 500: released, 502: completed }");
  }

  @AfterAll
  static void stop() {
    mapped.close();
    retrying.close();
    byDefault.close();
    upstream.close();
  }

  @ParameterizedTest
  @CsvSource({
    "200, kept",
    "201, kept",
    "299, kept",
    "302, kept",
    "400, kept",
    "404, kept",
    "409, kept",
    "410, kept",
    "418, kept",
    "422, kept",
    "451, kept",
    "500, kept",
    "501, kept",
    "505, kept",
    "401, released",
    "403, released",
    "408, released",
    "425, released",
    "429, released",
    "502, unknown",
    "503, unknown",
    "504, unknown",
    "520, unknown"
  })
  void statusSaysWhatBecameOfTheOperation(int status, String outcome) {
    upstream.script((request, wire) -> wire.respond(status, "once"));
    judge(byDefault, status, outcome);
  }

  @ParameterizedTest
  @CsvSource({"503, released", "500, kept", "502, unknown"})
  void retryAfterMakesADifferenceTo503Only(int status, String outcome) {
    upstream.script((request, wire) -> wire.respond(status, "once", "Retry-After: 1"));
    judge(byDefault, status, outcome);
  }

  @ParameterizedTest
  @CsvSource({
    "200, released, released",
    "500, Released, released",
    "503, completed, kept",
    "429, completed, kept",
    "502, released, released",
    "201, perhaps, kept",
    "429, perhaps, released",
    "502, '', unknown"
  })
  void upstreamsOwnWordIsObeyedAndRemoved(int status, String word, String outcome) {
    upstream.script(
        (request, wire) -> wire.respond(status, "once", "Idempotency-Outcome: " + word));
    judge(byDefault, status, outcome);
  }

  @ParameterizedTest
  @CsvSource({
    "200, unknown",
    "404, released",
    "429, kept",
    "500, released",
    "502, kept",
    "201, kept",
    "401, released",
    "504, unknown"
  })
  void routeSaysOtherwise(int status, String outcome) {
    upstream.script((request, wire) -> wire.respond(status, "once"));
    judge(mapped, status, outcome);
  }

  @ParameterizedTest
  @CsvSource({"502", "503", "504"})
  void unknownIsForwardedAgainWhereTheRouteSaysRetry(int status) {
    String key = key();
    upstream.script((request, wire) -> wire.respond(status, "once"));
    assertThat(once(retrying.port(), post("/o", key, "{}")).status()).isEqualTo(status);
    upstream.script((request, wire) -> wire.respond(429, "not now"));
    assertThat(once(retrying.port(), post("/o", key, "{}")).status()).isEqualTo(429);
    assertThat(upstream.last().header("Idempotency-Attempt")).isEqualTo("2");
    upstream.script((request, wire) -> wire.respond(201, "made"));
    assertThat(once(retrying.port(), post("/o", key, "{}")).status()).isEqualTo(201);
    // A status speaks of its own attempt only: what the first one did is as open as before.
    assertThat(upstream.last().header("Idempotency-Attempt")).isEqualTo("3");
    assertThat(once(retrying.port(), post("/o", key, "{}")).isReplay()).isTrue();
  }

  private static void judge(TestGateway gateway, int status, String outcome) {
    String key = key();
    int before = upstream.requests();
    RawResponse first = once(gateway.port(), post("/o", key, "{}"));
    assertThat(first.status()).isEqualTo(status);
    assertThat(first.text()).isEqualTo("once");
    assertThat(first.problem()).isNull();
    assertThat(first.header("Idempotency-Outcome")).isNull();

    RawResponse second = once(gateway.port(), post("/o", key, "{}"));
    assertThat(second.header("Idempotency-Outcome")).isNull();
    switch (outcome) {
      case "kept" -> {
        assertThat(second.isReplay()).isTrue();
        assertThat(second.status()).isEqualTo(status);
        assertThat(second.text()).isEqualTo("once");
      }
      case "released" -> {
        assertThat(second.isReplay()).isFalse();
        assertThat(second.status()).isEqualTo(status);
        assertThat(upstream.last().header("Idempotency-Attempt")).isEqualTo("1");
      }
      default -> {
        assertThat(second.status()).isEqualTo(409);
        assertThat(second.problem()).isEqualTo("outcome-unknown");
      }
    }
    assertThat(upstream.requests() - before).isEqualTo(outcome.equals("released") ? 2 : 1);
  }

  private static String key() {
    return "k" + KEYS.incrementAndGet();
  }
}
