package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import org.junit.jupiter.api.Test;

/** An upstream that the configuration names by its host name. */
class NamedUpstreamTest {

  @Test
  void hostNameIsLookedUp() {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway =
            TestGateway.start(upstream.url().replace("127.0.0.1", "localhost"), "memory")) {
      assertThat(RawClient.once(gateway.port(), post("/orders", "k1", "{}")).status())
          .isEqualTo(200);
      assertThat(upstream.last().header("Host")).isNotNull();
    }
  }

  @Test
  void hostNameThatDoesNotExistMeansThatNothingWasSent() {
    try (TestGateway gateway = TestGateway.start("http://nowhere.invalid:1", "memory")) {
      assertThat(RawClient.once(gateway.port(), post("/orders", "k1", "{}")).status())
          .isEqualTo(502);
    }
  }
}
