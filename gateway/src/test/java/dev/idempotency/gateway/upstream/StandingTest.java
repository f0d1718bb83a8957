package dev.idempotency.gateway.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When an address is passed over, and for how long. Times are in seconds. */
class StandingTest {

  private static final long SECOND = 1_000_000_000;

  private final Standing standing = new Standing(new Ejection(3, Duration.ofSeconds(10)));

  private boolean fails(long at) {
    return standing.failed(at * SECOND);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, Long.MAX_VALUE / SECOND - 5, Long.MIN_VALUE / SECOND})
  void failuresInARowEjectWhateverTheClockShows(long now) {
    assertThat(fails(now)).isFalse();
    assertThat(fails(now)).isFalse();
    assertThat(standing.isUsable(now * SECOND)).isTrue();
    assertThat(fails(now)).isTrue();
    assertThat(standing.isUsable(now * SECOND)).isFalse();
    assertThat(standing.isUsable((now + 9) * SECOND)).isFalse();
    assertThat(standing.isUsable((now + 10) * SECOND)).isTrue();
  }

  @Test
  void successBetweenFailuresBeginsAnew() {
    for (int i = 0; i < 10; i++) {
      assertThat(fails(i)).isFalse();
      assertThat(fails(i)).isFalse();
      assertThat(standing.succeeded(i * SECOND)).isFalse();
    }
    assertThat(standing.isEjected()).isFalse();
  }

  @Test
  void failuresWhilePassedOverChangeNothing() {
    fails(0);
    fails(0);
    assertThat(fails(0)).isTrue();
    assertThat(fails(5)).isFalse();
    assertThat(standing.isUsable(10 * SECOND)).isTrue();
  }

  @Test
  void eachFailedTrialDoublesTheTimeUpToTenTimes() {
    fails(0);
    fails(0);
    fails(0);
    List<Long> spans = new ArrayList<>();
    long now = 0;
    for (int i = 0; i < 6; i++) {
      spans.add(standing.span() / SECOND);
      now += standing.span() / SECOND;
      assertThat(standing.isUsable(now * SECOND)).isTrue();
      standing.chosen(now * SECOND);
      assertThat(standing.isUsable(now * SECOND)).isFalse();
      assertThat(fails(now)).isTrue();
    }
    assertThat(spans).containsExactly(10L, 20L, 40L, 80L, 100L, 100L);
  }

  @Test
  void ejectionSoonAfterTheReturnIsLongerAndOneMuchLaterIsNot() {
    fails(0);
    fails(0);
    fails(0);
    assertThat(standing.succeeded(10 * SECOND)).isTrue();
    assertThat(standing.isEjected()).isFalse();
    fails(11);
    fails(11);
    assertThat(fails(11)).isTrue();
    assertThat(standing.span()).isEqualTo(20 * SECOND);
    assertThat(standing.succeeded(40 * SECOND)).isTrue();
    fails(60);
    fails(60);
    assertThat(fails(60)).isTrue();
    assertThat(standing.span()).isEqualTo(10 * SECOND);
  }

  @Test
  void zeroFailuresMeanNever() {
    Standing never = new Standing(new Ejection(0, Duration.ofSeconds(10)));
    for (int i = 0; i < 100; i++) {
      assertThat(never.failed(i)).isFalse();
    }
    assertThat(never.isUsable(100)).isTrue();
  }
}
