package dev.idempotency.gateway.exchange;

import static dev.idempotency.gateway.exchange.Stage.answer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.StoredOperation.Completed;
import dev.idempotency.gateway.idempotency.StoredOperation.InFlight;
import dev.idempotency.gateway.idempotency.StoredOperation.OutcomeUnknown;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a caller may begin: a place is taken for what is new, and never lost. */
class QuotaTest {

  private static final Completed DONE =
      new Completed(new StoredResponse(201, new Headers(), new byte[0], new Headers()));

  private final Counted quota = new Counted();

  /** Writes down what is taken and given back. */
  private static final class Counted implements Quota {
    int left = Integer.MAX_VALUE;
    final List<String> callers = new ArrayList<>();
    final List<String> events = new ArrayList<>();

    @Override
    public Answer take(String caller) {
      if (left == 0) {
        return new Answer.Spent(Duration.ofMillis(2500), "this caller has too many");
      }
      left--;
      callers.add(caller);
      events.add("take");
      return new Answer.Place() {
        @Override
        public void giveBack() {
          events.add("back");
        }

        @Override
        public void end() {
          events.add("end");
        }
      };
    }
  }

  private Stage.Settings with() {
    return Stage.with().callers(new Route.Callers(List.of(), null, null, quota));
  }

  @Test
  void operationHoldsItsPlaceUntilItsAttemptEnds() {
    Stage stage = with().open();
    stage.acquired();
    answer(stage.upstream.connect().receiver(), 201, "made");
    assertThat(quota.events).containsExactly("take");
    stage.store.done();

    assertThat(quota.events).containsExactly("take", "end");
  }

  @Test
  void lateResponseHoldsThePlaceToo() {
    Stage stage = with().open();
    stage.acquired();
    FakeUpstream.Connection connection = stage.upstream.connect();
    connection.receiver().overdue();
    stage.store.done();
    assertThat(quota.events).containsExactly("take");
    answer(connection.receiver(), 201, "made");
    stage.store.done();

    assertThat(quota.events).containsExactly("take", "end");
  }

  @Test
  void operationThatWasNeverSentIsNotCounted() {
    Stage stage = with().open();
    stage.acquired();
    stage.upstream.refuse(Upstream.Refusal.UNREACHABLE);
    stage.store.done();

    assertThat(quota.events).containsExactly("take", "back");
  }

  @Test
  void retryOfWhatIsThereTakesNoPlace() {
    Stage stage = with().open();
    stage.whole("k", "{}");
    stage.store.existing(1, DONE);

    assertThat(quota.events).containsExactly("take", "back");
  }

  @Test
  void attemptThatTakesOverIsNoNewOperation() {
    Stage stage = with().retry().open();
    stage.tookOver();
    answer(stage.upstream.connect().receiver(), 201, "made");
    stage.store.done();

    assertThat(quota.events).containsExactly("take", "back");
  }

  @Test
  void duplicateThatWaitsHoldsNoPlace() {
    Stage stage = with().patience(Duration.ofSeconds(1)).open();
    stage.whole("k", "{}");
    stage.store.existing(1, new InFlight(Duration.ofSeconds(9)));
    assertThat(quota.events).containsExactly("take", "back");
    stage.scheduler.advance(Duration.ofMillis(250));
    stage.store.found(1, stage.store.fingerprints().get(0), DONE);

    assertThat(quota.events).containsExactly("take", "back");
  }

  @Test
  void storeThatFailsGivesThePlaceBackAndARecordThatWentTakesOneAnew() {
    Stage stage = with().retry().open();
    stage.whole("k", "{}");
    stage.store.existing(1, new OutcomeUnknown(true));
    stage.store.reply(ReserveReply.GONE);
    assertThat(quota.events).containsExactly("take", "back", "take");
    stage.store.fail();

    assertThat(quota.events).containsExactly("take", "back", "take", "back");
  }

  @Test
  void requestWithoutProtectionHoldsNoPlace() {
    Stage stage = with().bypass().open();
    stage.whole("k", "{}");
    stage.store.failNotExecuted();
    assertThat(stage.upstream.waiting()).isEqualTo(1);

    assertThat(quota.events).containsExactly("take", "back");
  }

  @Test
  void gatewayThatStopsGivesThePlaceBack() {
    Stage asking = with().open();
    asking.whole("k", "{}");
    asking.exchanges.abandon();
    asking.store.acquire();
    assertThat(quota.events).containsExactly("take", "back");
    Stage sent = with().open();
    sent.acquired();
    sent.upstream.connect();
    sent.exchanges.abandon();
    sent.store.done();

    assertThat(quota.events).containsExactly("take", "back", "take", "end");
  }

  @Test
  void clientThatGoesInsideItsUploadGivesThePlaceBack() {
    Stage stage = with().streamsRequest().open();
    Stage.Call call = stage.upload("k", 10);
    call.exchange().clientGone();
    stage.store.acquire();

    assertThat(quota.events).containsExactly("take", "back");
  }

  @Test
  void newOperationOfACallerWhoHasTooManyIsRefused() {
    quota.left = 0;
    Stage stage = with().open();
    Stage.Call call = stage.whole("k", "{}");
    assertThat(stage.store.commands()).containsExactly("find");
    stage.store.reply(Optional.empty());

    assertThat(call.client().status()).isEqualTo(429);
    assertThat(call.client().problem()).isEqualTo("quota-exceeded");
    assertThat(call.client().headers().get("Retry-After")).isEqualTo("3");
    assertThat(stage.heard.results()).containsExactly(Result.QUOTA_EXCEEDED);
    assertThat(stage.exchanges.underWay()).isZero();
    assertThat(quota.events).isEmpty();
  }

  @Test
  void outageBypassesForACallerWhoHasTooManyAsForAll() {
    quota.left = 0;
    Stage stage = with().bypass().open();
    Stage.Call call = stage.whole("k", "{}");
    stage.store.fail();
    answer(stage.upstream.connect().receiver(), 201, "made");

    assertThat(call.client().status()).isEqualTo(201);
    assertThat(call.client().headers().get(ResponseFields.BYPASSED)).isEqualTo("true");
    assertThat(stage.store.commands()).containsExactly("find");
  }

  @Test
  void outageNeverBypassesWhereARecordCanNotBeReadOrTheRouteDoesNotSaySo() {
    quota.left = 0;
    Stage unreadable = with().bypass().open();
    Stage.Call first = unreadable.whole("k", "{}");
    unreadable.store.failUnreadable();
    Stage strict = with().open();
    Stage.Call second = strict.whole("k", "{}");
    strict.store.fail();

    assertThat(first.client().problem()).isEqualTo("store-unavailable");
    assertThat(second.client().problem()).isEqualTo("store-unavailable");
    assertThat(unreadable.upstream.waiting() + strict.upstream.waiting()).isZero();
  }

  @Test
  void retryOfACallerWhoHasTooManyIsAnsweredAsAlways() {
    quota.left = 0;
    Stage stage = with().open();
    Stage.Call done = stage.whole("k", "{}");
    stage.store.found(1, Stage.fingerprint("{}"), DONE);
    Stage.Call reused = stage.whole("k", "other");
    stage.store.found(1, Stage.fingerprint("{}"), DONE);
    Stage.Call held = stage.whole("k", "{}");
    stage.store.found(1, Stage.fingerprint("{}"), new OutcomeUnknown(false));

    assertThat(done.client().status()).isEqualTo(201);
    assertThat(reused.client().status()).isEqualTo(422);
    assertThat(held.client().status()).isEqualTo(409);
    assertThat(stage.upstream.waiting()).isZero();
  }

  @Test
  void callersOfOneRouteAreCountedApart() {
    Stage stage = with().open();
    Peer peer = new Peer("192.0.2.1", "http", "1.1", false, null);
    for (String caller : List.of("Bearer a", "Bearer b", "bearer a")) {
      stage.request(peer, 0, "Idempotency-Key", "k", "Authorization", caller).exchange().bodyEnd();
    }

    assertThat(quota.callers).hasSize(3);
    assertThat(quota.callers.get(0)).isEqualTo(quota.callers.get(2)).doesNotContain("a ");
    assertThat(quota.callers.get(1)).isNotEqualTo(quota.callers.get(0));
  }
}
