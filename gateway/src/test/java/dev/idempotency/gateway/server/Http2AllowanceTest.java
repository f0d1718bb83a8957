package dev.idempotency.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class Http2AllowanceTest {

  private static final long SECOND = 1_000_000_000L;

  private final Http2Allowance allowance = new Http2Allowance(3, 0);

  @Test
  void framesComeBackWithTime() {
    allowance.spend(2_001);
    assertThat(allowance.isOverdrawn(0)).isTrue();
    assertThat(allowance.isOverdrawn(SECOND)).isFalse();
    allowance.spend(100);
    assertThat(allowance.isOverdrawn(SECOND)).isTrue();
  }

  @Test
  void requestsAndResponsesPayForFrames() {
    allowance.spend(2_000);
    allowance.earnRequest();
    allowance.earnBytes(2_560);
    allowance.spend(22);
    assertThat(allowance.isOverdrawn(0)).isFalse();
    allowance.spend(1);
    assertThat(allowance.isOverdrawn(0)).isTrue();
  }

  @Test
  void noMoreIsSavedThanAllowed() {
    for (int i = 0; i < 1_000; i++) {
      allowance.earnRequest();
    }
    allowance.spend(2_001);
    assertThat(allowance.isOverdrawn(0)).isTrue();
  }

  @Test
  void resetsAreCountedInWindows() {
    assertThat(allowance.takeReset(1)).isTrue();
    assertThat(allowance.takeReset(2)).isTrue();
    assertThat(allowance.takeReset(3)).isTrue();
    assertThat(allowance.takeReset(29 * SECOND)).isFalse();
    assertThat(allowance.takeReset(30 * SECOND)).isTrue();
  }
}
