package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import org.junit.jupiter.api.Test;

/** The life of an operation, end to end on the memory store. */
class KeyedLifeTest {

  @Test
  void completedIsReplayedByteForByte() {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = TestGateway.start(upstream.url(), "memory")) {
      RawResponse first = RawClient.once(gateway.port(), post("/orders", "k1", "{\"a\":1}"));
      RawResponse second =
          RawClient.once(gateway.port(), post("/orders", "\"k1\"", "{ \"a\": 1.0 }"));

      assertThat(first.status()).isEqualTo(200);
      assertThat(first.isReplay()).isFalse();
      assertThat(second.isReplay()).isTrue();
      assertThat(second.body()).isEqualTo(first.body());
      assertThat(upstream.requests()).isEqualTo(1);
      assertThat(upstream.last().header("Idempotency-Attempt")).isEqualTo("1");
      assertThat(upstream.last().header("Idempotency-Key")).isEqualTo("k1");
    }
  }
}
