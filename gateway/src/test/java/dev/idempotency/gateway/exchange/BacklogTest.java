package dev.idempotency.gateway.exchange;

import static dev.idempotency.gateway.exchange.Stage.answer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.StoredOperation.Completed;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Completions that the store did not take when they were due. */
class BacklogTest {

  /** An attempt whose client has its answer, and whose record is still to be written. */
  private static Stage deferred(Stage.Settings settings) {
    Stage stage = settings.open();
    Stage.Call call = stage.acquired();
    answer(stage.upstream.connect().receiver(), 201, "made");
    stage.store.fail();
    assertThat(call.client().status()).isEqualTo(201);
    assertThat(stage.exchanges.deferredWrites()).isEqualTo(1);
    return stage;
  }

  @Test
  void responsesThatWaitTakeMemoryThatIsSeen() {
    Stage stage = deferred(Stage.with());
    assertThat(stage.exchanges.backlog.used()).isEqualTo(4);
    assertThat(stage.budget.used()).isPositive();
    stage.scheduler.advance(Duration.ofSeconds(1));
    stage.store.done();
    assertThat(stage.exchanges.backlog.used()).isZero();
    assertThat(stage.budget.used()).isZero();
    assertThat(stage.store.commands()).last().isEqualTo("Completed 1");
  }

  @Test
  void responseWithoutRoomIsNotKeptButItsOperationIsDone() {
    Stage stage = deferred(Stage.with().backlog(3));
    assertThat(stage.heard.events()).contains("response dropped");
    assertThat(stage.exchanges.backlog.used()).isZero();
    assertThat(stage.budget.used()).isZero();
    stage.scheduler.advance(Duration.ofSeconds(1));
    assertThat(stage.store.commands()).last().isEqualTo("NotKept 1");
  }

  /** A large record may fail again and again where a small renewal passes. */
  @Test
  void leaseIsRenewedForAsLongAsTheCompletionWaits() {
    Stage stage = deferred(Stage.with());
    int renewals = 0;
    for (int i = 0; i < 600; i++) {
      stage.scheduler.advance(Duration.ofMillis(100));
      while (stage.store.open() > 0) {
        if (stage.store.oldest().equals("renew 1")) {
          renewals++;
          stage.store.done();
        } else {
          stage.store.fail();
        }
      }
    }
    // A minute, and a lease of ten seconds is renewed when two thirds are left.
    assertThat(renewals).isBetween(12, 20);
    stage.scheduler.advance(Duration.ofSeconds(1));
    while (stage.store.open() > 0) {
      stage.store.done();
    }
    int before = stage.store.commands().size();
    stage.scheduler.advance(Duration.ofMinutes(1));
    assertThat(stage.store.commands()).hasSize(before);
  }

  @Test
  void leaseOfARecordThatIsSettledAfterAllIsLeftAlone() {
    Stage stage = deferred(Stage.with());
    stage.scheduler.advance(Duration.ofSeconds(4));
    for (int i = 0; i < 20 && !stage.store.oldest().equals("renew 1"); i++) {
      stage.store.fail();
      stage.scheduler.advance(Duration.ofSeconds(1));
    }
    assertThat(stage.store.oldest()).isEqualTo("renew 1");
    stage.store.fence(
        1, new Completed(new StoredResponse(201, Headers.of(), new byte[0], new Headers())));
    for (int i = 0; i < 60; i++) {
      stage.scheduler.advance(Duration.ofSeconds(1));
      while (stage.store.open() > 0) {
        stage.store.fail();
      }
    }
    assertThat(stage.store.commands()).filteredOn("renew 1"::equals).hasSize(1);
  }

  @Test
  void releaseThatWaitsKeepsNoLease() {
    Stage stage = Stage.open();
    stage.acquired();
    answer(stage.upstream.connect().receiver(), 429, "slow");
    stage.store.fail();
    for (int i = 0; i < 30; i++) {
      stage.scheduler.advance(Duration.ofSeconds(1));
      while (stage.store.open() > 0) {
        stage.store.fail();
      }
    }
    assertThat(stage.store.commands()).doesNotContain("renew 1");
  }
}
