package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Keys that are too old to be sure that their record is still there. */
class TimeBoundKeysTest {

  private static final String ULID_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

  private final AtomicInteger runs = new AtomicInteger();
  private ScriptedUpstream upstream;

  @BeforeEach
  void start() {
    upstream =
        ScriptedUpstream.start(
            (request, wire) -> wire.respond(201, "run " + runs.incrementAndGet()));
  }

  @AfterEach
  void stop() {
    upstream.close();
  }

  private TestGateway gateway(String store, String key) {
    return TestGateway.start(
        upstream.url(), store, "idempotency: required", "retention: 1h", "key: " + key);
  }

  private static String uuid7(Instant made) {
    String time = "%012x".formatted(made.toEpochMilli());
    return time.substring(0, 8) + '-' + time.substring(8) + "-7abc-9def-0123456789ab";
  }

  private static String ulid(Instant made) {
    StringBuilder text = new StringBuilder("00E7N8M4R2T6Y0W3");
    for (long rest = made.toEpochMilli(), i = 0; i < 10; i++, rest >>= 5) {
      text.insert(0, ULID_DIGITS.charAt((int) (rest & 31)));
    }
    return text.toString();
  }

  private static Instant ago(Duration time) {
    return Instant.now().minus(time);
  }

  @OnBothStores
  void keyThatMayHaveLostItsRecordIsRefused(String store) {
    String[] rules = {
      "{ header: Idempotency-Key, pattern: uuid7, time-bound: true }",
      "{ header: Idempotency-Key, pattern: ulid, time-bound: true }"
    };
    for (String rule : rules) {
      try (TestGateway gateway = gateway(store, rule)) {
        boolean uuid = rule.contains("uuid7");
        // Far from the limits of 59 minutes and one minute: the machine may be slow.
        Instant fresh = ago(Duration.ofMinutes(50));
        String key = uuid ? uuid7(fresh) : ulid(fresh);
        RawResponse first = once(gateway.port(), post("/orders", key, "{}"));
        assertThat(first.status()).isEqualTo(201);
        assertThat(once(gateway.port(), post("/orders", key, "{}")).isReplay()).isTrue();

        int before = upstream.requests();
        Instant old = ago(Duration.ofMinutes(59));
        RawResponse late =
            once(gateway.port(), post("/orders", uuid ? uuid7(old) : ulid(old), "{}"));
        assertThat(late.status()).isEqualTo(412);
        assertThat(late.problem()).isEqualTo("key-expired");
        assertThat(late.header("Retry-After")).isNull();

        Instant ahead = ago(Duration.ofHours(-1));
        RawResponse early =
            once(gateway.port(), post("/orders", uuid ? uuid7(ahead) : ulid(ahead), "{}"));
        assertThat(early.status()).isEqualTo(400);
        assertThat(early.problem()).isEqualTo("key-invalid");
        assertThat(early.text()).contains("future").doesNotContain("A right one");
        assertThat(upstream.requests()).isEqualTo(before);
      }
    }
  }

  @Test
  void fieldThatSaysWhenItWasSentFirstIsPartOfTheRequest() {
    try (TestGateway gateway =
        gateway(
            "memory",
            "{ header: Idempotency-Key, first-sent: Idempotency-First-Sent, skew: 30s }")) {
      String sent = "Idempotency-First-Sent: " + ago(Duration.ofMinutes(50));
      RawResponse first = once(gateway.port(), post("/orders", "k", "{}", sent));
      assertThat(first.status()).isEqualTo(201);
      assertThat(upstream.last().header("Idempotency-First-Sent")).isNotNull();
      assertThat(once(gateway.port(), post("/orders", "k", "{}", sent)).isReplay()).isTrue();

      String changed = "Idempotency-First-Sent: " + ago(Duration.ofMinutes(1));
      assertThat(once(gateway.port(), post("/orders", "k", "{}", changed)).problem())
          .isEqualTo("key-reused");

      String seconds = "Idempotency-First-Sent: @" + ago(Duration.ofMinutes(50)).getEpochSecond();
      assertThat(once(gateway.port(), post("/orders", "k2", "{}", seconds)).status())
          .isEqualTo(201);
      assertThat(runs).hasValue(2);
    }
  }

  @Test
  void fieldThatIsMissingUnreadableOrOldIsRefused() {
    try (TestGateway gateway =
        gateway("memory", "{ header: Idempotency-Key, first-sent: Idempotency-First-Sent }")) {
      RawResponse missing = once(gateway.port(), post("/orders", "k", "{}"));
      assertThat(missing.problem()).isEqualTo("key-invalid");
      assertThat(missing.text()).contains("The header Idempotency-First-Sent is missing");
      RawResponse unreadable =
          once(gateway.port(), post("/orders", "k", "{}", "Idempotency-First-Sent: yesterday"));
      assertThat(unreadable.problem()).isEqualTo("key-invalid");
      assertThat(unreadable.text()).contains("not one time").doesNotContain("yesterday");
      RawResponse old =
          once(
              gateway.port(),
              post("/orders", "k", "{}", "Idempotency-First-Sent: 2026-01-31T12:00:00+01:00"));
      assertThat(old.problem()).isEqualTo("key-expired");
      assertThat(upstream.requests()).isZero();

      byte[] metrics = RawClient.request("GET", "/metrics", null, null, null);
      await()
          .until(
              () -> once(gateway.adminPort(), metrics).text().contains("outcome=\"key_expired\""));
    }
  }
}
