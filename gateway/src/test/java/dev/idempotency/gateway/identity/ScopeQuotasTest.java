package dev.idempotency.gateway.identity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.Quota.Answer;
import dev.idempotency.gateway.exchange.QuotaOptions;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** How many operations each caller may begin and have unfinished. */
class ScopeQuotasTest {

  private final AtomicLong now = new AtomicLong();

  private ScopeQuotas quotas(int newKeys, int unfinished) {
    return ScopeQuotas.create(
        new QuotaOptions(newKeys, Duration.ofSeconds(60), unfinished), now::get);
  }

  private static Answer.Place place(Answer answer) {
    assertThat(answer).isInstanceOf(Answer.Place.class);
    return (Answer.Place) answer;
  }

  private static Answer.Spent spent(Answer answer) {
    assertThat(answer).isInstanceOf(Answer.Spent.class);
    return (Answer.Spent) answer;
  }

  @Test
  void bucketThatIsEmptyFillsEvenly() {
    ScopeQuotas quotas = quotas(3, 0);
    for (int i = 0; i < 3; i++) {
      place(quotas.take("a")).end();
    }
    assertThat(spent(quotas.take("a")).retryAfter()).isEqualTo(Duration.ofSeconds(20));
    now.addAndGet(Duration.ofSeconds(15).toNanos());
    assertThat(spent(quotas.take("a")).retryAfter()).isEqualTo(Duration.ofSeconds(5));
    now.addAndGet(Duration.ofSeconds(6).toNanos());
    place(quotas.take("a")).end();
    spent(quotas.take("a"));
    now.addAndGet(Duration.ofHours(1).toNanos());
    for (int i = 0; i < 3; i++) {
      place(quotas.take("a")).end();
    }
    spent(quotas.take("a"));
  }

  @Test
  void callersDoNotShareABucket() {
    ScopeQuotas quotas = quotas(1, 0);
    place(quotas.take("a"));
    spent(quotas.take("a"));
    place(quotas.take("b"));
  }

  @Test
  void placeThatIsGivenBackWasNotBegun() {
    ScopeQuotas quotas = quotas(1, 1);
    for (int i = 0; i < 10; i++) {
      place(quotas.take("a")).giveBack();
    }
    place(quotas.take("a")).end();
    spent(quotas.take("a"));
  }

  @Test
  void unfinishedOperationsAreCountedUntilTheyEnd() {
    ScopeQuotas quotas = quotas(0, 2);
    Answer.Place first = place(quotas.take("a"));
    place(quotas.take("a"));
    Answer.Spent spent = spent(quotas.take("a"));
    assertThat(spent.retryAfter()).isPositive();
    assertThat(spent.reason()).contains("2 operations");
    first.end();
    place(quotas.take("a"));
    spent(quotas.take("a"));
  }

  @Test
  void refusalForUnfinishedOnesTakesNothingFromTheBucket() {
    ScopeQuotas quotas = quotas(2, 1);
    Answer.Place first = place(quotas.take("a"));
    for (int i = 0; i < 5; i++) {
      spent(quotas.take("a"));
    }
    first.end();
    place(quotas.take("a"));
  }
}
