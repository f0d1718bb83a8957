package dev.idempotency.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

class BodyPaceTest {

  private static final long SECOND = 1_000_000_000L;

  /** Ten seconds of grace. */
  private static BodyPace pace(long rate) {
    ServerOptions some = RequestHeadsTest.options();
    BodyPace pace =
        new BodyPace(
            new ServerOptions(
                some.headerBytes(),
                some.headerCount(),
                some.targetBytes(),
                some.connections(),
                some.connectionsPerAddress(),
                some.idleTimeout(),
                some.headTimeout(),
                Duration.ofSeconds(10),
                rate,
                some.tunnelTimeout(),
                some.paths(),
                Set.of(),
                some.trustedProxies(),
                some.http2()));
    pace.begin(0);
    return pace;
  }

  @Test
  void bodyAtTheRateIsNeverTooSlow() {
    BodyPace pace = pace(100);
    for (int second = 1; second < 1_000; second++) {
      pace.came(100);
      assertThat(pace.isTooSlow(second * SECOND, true)).isFalse();
    }
  }

  @Test
  void bodyBelowTheRateIsTooSlowAfterTheGrace() {
    BodyPace pace = pace(100);
    for (int second = 1; second <= 10; second++) {
      pace.came(1);
      assertThat(pace.isTooSlow(second * SECOND, true)).isFalse();
    }
    assertThat(pace.isTooSlow(11 * SECOND, true)).isTrue();
  }

  @Test
  void timeInWhichTheGatewayDoesNotReadIsNotCounted() {
    BodyPace pace = pace(100);
    for (int second = 1; second < 1_000; second++) {
      assertThat(pace.isTooSlow(second * SECOND, false)).isFalse();
    }
    assertThat(pace.isTooSlow(1_010 * SECOND, true)).isTrue();
  }

  @Test
  void nextRequestBeginsAnew() {
    BodyPace pace = pace(100);
    assertThat(pace.isTooSlow(11 * SECOND, true)).isTrue();
    pace.begin(11 * SECOND);
    assertThat(pace.isTooSlow(12 * SECOND, true)).isFalse();
  }

  @Test
  void withoutARateNothingIsTooSlow() {
    assertThat(pace(0).isTooSlow(1_000_000 * SECOND, true)).isFalse();
  }
}
