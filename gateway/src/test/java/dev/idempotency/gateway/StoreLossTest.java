package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Redis is restarted without its data, behind two gateways with a guard period. */
class StoreLossTest {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final RedisServer redis = RedisServer.start();
  private final ScriptedUpstream upstream = ScriptedUpstream.ok();
  private TestGateway one;
  private TestGateway two;

  private void start(String guard) {
    one = gateway(guard);
    two = gateway(guard);
    // The first ever start may be one after a loss too.
    age();
    restartGateways(guard);
  }

  private void restartGateways(String guard) {
    one.close();
    two.close();
    one = gateway(guard);
    two = gateway(guard);
  }

  private TestGateway gateway(String guard) {
    TestGateway started =
        TestGateway.start(
            """
            store: { url: "%s", timeout: 500ms }
            drain: 0s
            threads: 1
            upstreams:
              app: { url: "%s" }
            routes:
              - name: orders
                path: /**
                upstream: app
                lease: 1s
                guard: %s
                key: { header: Idempotency-Key, pattern: uuid7, time-bound: true, skew: 0s }
            """
                .formatted(redis.url(), upstream.url(), guard));
    await().atMost(PATIENCE).until(started::isReady);
    return started;
  }

  /** As if the server had been known since 1970. */
  private void age() {
    String marker = redis.call("GET", "idem:epoch");
    redis.call("SET", "idem:epoch", "\0".repeat(7) + "\u0001" + marker.substring(8));
  }

  @AfterEach
  void stop() {
    one.close();
    two.close();
    upstream.close();
    redis.close();
  }

  private static RawResponse send(TestGateway to, String key) {
    return RawClient.once(to.port(), post("/orders", key, "{}"));
  }

  /** A UUID of version 7 that was made that long ago. */
  private static String key(Duration ago) {
    long millis = System.currentTimeMillis() - ago.toMillis();
    long high = millis << 16 | 0x7000 | (UUID.randomUUID().getMostSignificantBits() & 0xfff);
    return new UUID(high, UUID.randomUUID().getLeastSignificantBits()).toString();
  }

  private void lose() {
    redis.restart();
    await().atMost(PATIENCE).until(() -> one.isReady() && two.isReady());
  }

  @Test
  void operationThatWasForgottenIsNotRunAgainByAnyGateway() {
    start("10m");
    String key = key(Duration.ofMinutes(1));
    assertThat(send(one, key).status()).isEqualTo(200);
    lose();
    for (TestGateway each : new TestGateway[] {one, two, one}) {
      await().atMost(PATIENCE).until(() -> send(each, key).status() == 503);
      RawResponse refused = send(each, key);
      assertThat(refused.problem()).isEqualTo("store-recovering");
      assertThat(refused.header("Retry-After")).isEqualTo("60");
    }
    assertThat(upstream.requests()).isEqualTo(1);
  }

  @Test
  void keyThatIsYoungerThanTheLossRunsAtOnce() {
    start("10m");
    lose();
    assertThat(send(two, key(Duration.ofMinutes(1))).problem()).isEqualTo("store-recovering");
    await().atMost(PATIENCE).until(() -> send(one, key(Duration.ZERO)).status() == 200);
  }

  @Test
  void operationUnderWayShowsItselfAgain() {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    upstream.script(gate::passAndAnswer);
    start("10m");
    String key = key(Duration.ofMinutes(1));
    CompletableFuture<RawResponse> first = CompletableFuture.supplyAsync(() -> send(one, key));
    await().atMost(PATIENCE).until(() -> upstream.requests() == 1);
    lose();
    await()
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(50))
        .until(() -> send(two, key).problem().equals("request-in-flight"));
    gate.open();
    assertThat(first.join().status()).isEqualTo(200);
    assertThat(send(two, key).isReplay()).isTrue();
    assertThat(upstream.requests()).isEqualTo(1);
  }

  @Test
  void afterTheGuardPeriodOperationsAreBegunAgain() {
    start("2s");
    lose();
    String key = key(Duration.ofMinutes(1));
    await()
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(100))
        .until(() -> send(one, key).status() == 200);
    assertThat(send(two, key).isReplay()).isTrue();
  }
}
