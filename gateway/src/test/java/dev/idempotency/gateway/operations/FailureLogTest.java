package dev.idempotency.gateway.operations;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FailureLogTest {

  // Near its largest value, so that the clock turns over while the test runs.
  private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 10);
  private final CapturedLog log = new CapturedLog(FailureLog.class.getName());
  private final FailureLog failures = new FailureLog(clock::get);

  @AfterEach
  void close() {
    log.close();
  }

  private void pass(long millis) {
    clock.addAndGet(millis * 1_000_000);
  }

  @Test
  void manyStoreFailuresInASecondAreOneLine() {
    for (int i = 0; i < 1_000; i++) {
      failures.storeFailed("no connection");
    }
    pass(999);
    failures.storeFailed("no connection");

    assertThat(log.messages()).containsExactly("The store failed: no connection");
    assertThat(log.events().get(0).getLevel()).isEqualTo(Level.WARN);
  }

  @Test
  void nextSecondTellsHowManyWereLeftOut() {
    for (int i = 0; i < 1_000; i++) {
      failures.storeFailed("no connection");
    }
    pass(1_000);
    failures.storeFailed("timeout");
    pass(1_000);
    failures.storeFailed("timeout");

    assertThat(log.messages())
        .containsExactly(
            "The store failed: no connection",
            "The store failed: timeout (and 999 more before this one)",
            "The store failed: timeout");
  }

  @Test
  void kindsDoNotSilenceEachOther() {
    failures.storeFailed("away");
    failures.bug(new IllegalStateException("planted"));
    failures.fenced();
    failures.deferredWriteEnded(false);
    failures.deferredWriteEnded(true);

    assertThat(log.messages()).hasSize(4);
  }

  @Test
  void bugHasItsStackTraceAndIsRateLimitedToo() {
    failures.bug(new IllegalStateException("planted"));
    failures.bug(new IllegalStateException("again"));

    assertThat(log.events()).hasSize(1);
    assertThat(log.events().get(0).getLevel()).isEqualTo(Level.ERROR);
    assertThat(log.events().get(0).getThrowableProxy().getMessage()).isEqualTo("planted");
    assertThat(log.events().get(0).getThrowableProxy().getStackTraceElementProxyArray())
        .isNotEmpty();
  }

  @Test
  void operationThatCannotBeAskedAboutIsOneLineForItsRoute() {
    failures.probed("orders", "unaskable");
    failures.probed("orders", "nothing");
    pass(10_000);
    failures.probed("orders", "unaskable");
    failures.probed("payments", "unaskable");

    assertThat(log.messages())
        .hasSize(2)
        .allMatch(message -> message.contains("can't be put safely into probe.url"));
    assertThat(log.messages().get(0)).startsWith("Route orders: ");
  }
}
