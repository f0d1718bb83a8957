package dev.idempotency.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.idempotency.StoredOperation.OutcomeUnknown;
import dev.idempotency.gateway.store.Fixtures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Writes that the store did not take when they were due. */
class DeferredWritesTest {

  private final FakeStore store = new FakeStore();
  private final HandScheduler scheduler = new HandScheduler();
  private final HeardEvents heard = new HeardEvents();
  private final DeferredWrites writes = new DeferredWrites(store, scheduler, heard, 2);
  private final List<String> ended = new ArrayList<>();

  private void add(String name) {
    writes.add(it -> it.release(Fixtures.reservation()), () -> ended.add(name));
  }

  @Test
  void writeIsNotTriedAgainAtOnce() {
    add("a");
    scheduler.advance(Duration.ofMillis(49));
    assertThat(store.commands()).isEmpty();
    scheduler.advance(Duration.ofMillis(51));
    assertThat(store.commands()).hasSize(1);
    assertThat(writes.size()).isEqualTo(1);
  }

  @Test
  void writeIsTriedUntilTheStoreAnswers() {
    add("a");
    for (int i = 0; i < 20; i++) {
      scheduler.advance(Duration.ofSeconds(5));
      store.fail();
    }
    assertThat(ended).isEmpty();
    scheduler.advance(Duration.ofSeconds(5));
    store.done();

    assertThat(ended).containsExactly("a");
    assertThat(writes.size()).isZero();
    assertThat(heard.events()).containsExactly("deferred", "written");
    scheduler.advance(Duration.ofMinutes(1));
    assertThat(store.commands()).hasSize(21);
  }

  @Test
  void writeThatIsFencedHasEnded() {
    add("a");
    scheduler.advance(Duration.ofSeconds(1));
    store.fence(2, new OutcomeUnknown(true));
    assertThat(ended).containsExactly("a");
    assertThat(writes.size()).isZero();
  }

  @Test
  void waitingTimesGrowToOneSecondAtMost() {
    add("a");
    for (int i = 0; i < 12; i++) {
      scheduler.advance(Duration.ofSeconds(1));
      store.fail();
    }
    scheduler.advance(Duration.ofMillis(499));
    assertThat(store.open()).isZero();
    scheduler.advance(Duration.ofMillis(501));
    assertThat(store.open()).isEqualTo(1);
  }

  @Test
  void writeWithoutAPlaceIsGivenUp() {
    add("a");
    add("b");
    add("c");
    assertThat(writes.size()).isEqualTo(2);
    assertThat(ended).containsExactly("c");
    assertThat(heard.events()).endsWith("given up");
  }
}
