package dev.idempotency.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What an owner believes of its lease; times in milliseconds after the command was sent. */
class LeaseTest {

  private static final long SENT = 5_000_000_000L;
  private final Lease lease = new Lease(Duration.ofMillis(1_200), SENT);

  private static long at(long millis) {
    return SENT + Duration.ofMillis(millis).toNanos();
  }

  @ParameterizedTest
  @CsvSource({"0, true", "899, true", "900, false", "1199, false", "1200, false", "9999, false"})
  void leaseIsSureUntilAQuarterIsLeft(long millis, boolean sure) {
    assertThat(lease.isSure(at(millis))).isEqualTo(sure);
  }

  @ParameterizedTest
  @CsvSource({"0, false", "399, false", "400, true", "1199, true", "5000, true"})
  void leaseIsDueWhenTwoThirdsAreLeft(long millis, boolean due) {
    assertThat(lease.isDue(at(millis))).isEqualTo(due);
  }

  @Test
  void renewalUnderWayIsNotDueAgain() {
    lease.asked();
    assertThat(lease.isDue(at(1_000))).isFalse();
  }

  @Test
  void renewalCountsFromTheMomentItWasSent() {
    lease.asked();
    lease.renewed(at(400));
    assertThat(lease.isSure(at(1_299))).isTrue();
    assertThat(lease.isSure(at(1_300))).isFalse();
    assertThat(lease.isDue(at(799))).isFalse();
    assertThat(lease.isDue(at(800))).isTrue();
  }

  @Test
  void olderRenewalDoesNotShortenTheLease() {
    lease.renewed(at(-500));
    assertThat(lease.isSure(at(899))).isTrue();
  }

  @Test
  void renewalThatFailedIsDueAgainAfterATenth() {
    lease.asked();
    lease.failed(at(500));
    assertThat(lease.isDue(at(619))).isFalse();
    assertThat(lease.isDue(at(620))).isTrue();
  }
}
