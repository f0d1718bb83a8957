package dev.idempotency.gateway.exchange;

import static dev.idempotency.gateway.exchange.Stage.answer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.FakeUpstream.Connection;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.StoredOperation.Completed;
import dev.idempotency.gateway.idempotency.StoredOperation.InFlight;
import dev.idempotency.gateway.idempotency.StoredOperation.OutcomeUnknown;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A request with a key, up to the moment its attempt begins or its record answers. */
class KeyedExchangeTest {

  private static final Completed DONE =
      new Completed(
          new StoredResponse(
              201,
              Headers.of("Location", "/orders/1"),
              "made".getBytes(StandardCharsets.ISO_8859_1),
              new Headers()));
  private static final OutcomeUnknown UNKNOWN = new OutcomeUnknown(false);

  private static InFlight inFlight(long millis) {
    return new InFlight(Duration.ofMillis(millis));
  }

  // ---- gathering

  @Test
  void storeIsNotAskedBeforeTheRequestIsWhole() {
    Stage stage = Stage.open();
    Stage.Call call = stage.post("k");
    call.exchange().body(new TextChunk("{"));

    assertThat(stage.store.commands()).isEmpty();
  }

  @Test
  void clientThatGoesBeforeItsRequestIsWholeLeavesNothing() {
    Stage stage = Stage.open();
    Stage.Call call = stage.post("k");
    TextChunk first = new TextChunk("{");
    TextChunk late = new TextChunk("}");
    call.exchange().body(first);
    call.exchange().clientGone();
    call.exchange().body(late);
    call.exchange().bodyEnd();

    assertThat(stage.store.commands()).isEmpty();
    assertThat(first.released()).isEqualTo(1);
    assertThat(late.released()).isEqualTo(1);
    assertThat(stage.heard.results()).containsExactly(Result.CLIENT_GONE);
    isOver(stage);
  }

  @Test
  void bodyOverTheLimitIsRefusedAndItsMemoryGivenBack() {
    Stage stage = Stage.with().requestLimit(4).open();
    Stage.Call call = stage.post("k");
    call.exchange().body(new TextChunk("1234"));
    TextChunk over = new TextChunk("5");
    call.exchange().body(over);
    TextChunk rest = new TextChunk("6");
    call.exchange().body(rest);
    call.exchange().bodyEnd();

    assertThat(call.client().status()).isEqualTo(413);
    assertThat(over.released()).isEqualTo(1);
    assertThat(rest.released()).isEqualTo(1);
    assertThat(stage.store.commands()).isEmpty();
    isOver(stage);
  }

  @Test
  void bodyThatFindsNoMemoryIsReadNoFurtherUntilThereIsSome() {
    Stage stage = Stage.with().budget(6).open();
    Stage.Call holding = stage.post("a");
    holding.exchange().body(new TextChunk("1234"));
    Stage.Call waiting = stage.post("b");
    TextChunk first = new TextChunk("1234");
    waiting.exchange().body(first);
    waiting.exchange().bodyEnd();
    stage.scheduler.advance(Duration.ofSeconds(4));
    assertThat(waiting.client().isBodyPaused()).isTrue();
    assertThat(stage.store.commands()).isEmpty();

    holding.exchange().clientGone();
    stage.scheduler.advance(Duration.ofMillis(100));
    assertThat(waiting.client().isBodyPaused()).isFalse();
    assertThat(first.released()).isEqualTo(1);
    assertThat(stage.store.commands()).containsExactly("reserve 1");
    assertThat(stage.store.fingerprints()).containsExactly(Stage.fingerprint("1234"));
  }

  @Test
  void bodyThatFindsNoMemoryIsDroppedWithItsClient() {
    Stage stage = Stage.with().budget(6).open();
    Stage.Call holding = stage.post("a");
    holding.exchange().body(new TextChunk("1234"));
    Stage.Call waiting = stage.post("b");
    TextChunk first = new TextChunk("1234");
    TextChunk second = new TextChunk("5");
    waiting.exchange().body(first);
    waiting.exchange().body(second);
    waiting.exchange().clientGone();
    stage.scheduler.advance(Duration.ofSeconds(6));

    assertThat(first.released()).isEqualTo(1);
    assertThat(second.released()).isEqualTo(1);
    assertThat(stage.heard.results()).containsExactly(Result.CLIENT_GONE);
    holding.exchange().clientGone();
    isOver(stage);
  }

  @Test
  void bodyThatNeverHasRoomIsRefusedAtOnce() {
    Stage stage = Stage.with().budget(6).open();
    Stage.Call call = stage.post("a");
    call.exchange().body(new TextChunk("1234567"));

    assertThat(call.client().problem()).isEqualTo("overloaded");
    isOver(stage);
  }

  @Test
  void bodyOverTheBudgetIsRefusedAndCanComeAgain() {
    Stage stage = Stage.with().budget(6).open();
    Stage.Call holding = stage.post("a");
    holding.exchange().body(new TextChunk("1234"));
    Stage.Call refused = stage.post("b");
    refused.exchange().body(new TextChunk("1234"));
    assertThat(refused.client().hasHead()).isFalse();
    stage.scheduler.advance(Duration.ofMillis(5_100));

    assertThat(refused.client().status()).isEqualTo(503);
    assertThat(refused.client().problem()).isEqualTo("overloaded");
    assertThat(refused.client().headers().contains("Retry-After")).isTrue();
    assertThat(stage.budget.used()).isEqualTo(4);
    holding.exchange().clientGone();
    isOver(stage);
  }

  // ---- deciding

  @Test
  void completedOperationIsReplayed() {
    Stage stage = Stage.open();
    Stage.Call call = stage.whole("k", "{}");
    stage.store.existing(1, DONE);

    assertThat(call.client().status()).isEqualTo(201);
    assertThat(call.client().text()).isEqualTo("made");
    assertThat(call.client().headers().get("Idempotent-Replayed")).isEqualTo("true");
    assertThat(stage.upstream.waiting()).isZero();
    isOver(stage);
  }

  @Test
  void largeReplayIsChargedUntilTheClientHasTakenIt() {
    Stage stage = Stage.open();
    Stage.Call call = stage.whole("k", "{}");
    call.client().writable(1);
    stage.store.existing(1, large(200_000));

    assertThat(call.client().text()).hasSize(Delivery.PIECE);
    assertThat(stage.budget.used()).isEqualTo(200_000);
    call.client().writable(10);
    call.exchange().clientWritable();
    assertThat(call.client().isAnswered()).isTrue();
    assertThat(call.client().text()).isEqualTo("x".repeat(200_000));
    assertThat(stage.heard.results()).containsExactly(Result.REPLAYED);
    isOver(stage);
  }

  @Test
  void largeReplayOfAClientThatGoesIsFreed() {
    Stage stage = Stage.open();
    Stage.Call call = stage.whole("k", "{}");
    call.client().writable(1);
    stage.store.existing(1, large(200_000));
    call.exchange().clientGone();

    assertThat(stage.heard.results()).containsExactly(Result.REPLAYED);
    isOver(stage);
  }

  @Test
  void largeReplayWithoutMemoryIsRefused() {
    Stage stage = Stage.with().budget(100_000).open();
    Stage.Call call = stage.whole("k", "{}");
    stage.store.existing(1, large(200_000));

    assertThat(call.client().problem()).isEqualTo("overloaded");
    assertThat(call.client().headers().contains("Retry-After")).isTrue();
    isOver(stage);
  }

  private static Completed large(int length) {
    return new Completed(
        new StoredResponse(
            200,
            new Headers(),
            "x".repeat(length).getBytes(StandardCharsets.ISO_8859_1),
            new Headers()));
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "999, 1", "1000, 1", "1001, 2", "2500, 3", "10000, 10"})
  void operationInFlightIsRefusedForWhatIsLeftOfItsLease(long leftMillis, String retryAfter) {
    Stage stage = Stage.open();
    Stage.Call call = stage.whole("k", "{}");
    stage.store.existing(1, inFlight(leftMillis));

    assertThat(call.client().problem()).isEqualTo("request-in-flight");
    assertThat(call.client().headers().get("Retry-After")).isEqualTo(retryAfter);
    isOver(stage);
  }

  @Test
  void unknownOutcomeIsHeld() {
    Stage stage = Stage.open();
    Stage.Call call = stage.whole("k", "{}");
    stage.store.existing(1, UNKNOWN);

    assertThat(call.client().status()).isEqualTo(409);
    assertThat(call.client().problem()).isEqualTo("outcome-unknown");
    assertThat(call.client().headers().contains("Retry-After")).isFalse();
    assertThat(stage.store.commands()).containsExactly("reserve 1");
    isOver(stage);
  }

  @Test
  void unknownOutcomeIsTakenOverWhereTheUpstreamCanTakeIt() {
    Stage stage = Stage.with().retry().open();
    stage.whole("k", "{}");
    stage.store.existing(4, UNKNOWN);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();

    assertThat(stage.store.commands()).containsExactly("reserve 1", "takeOver 5");
    assertThat(connection.head().headers().get("Idempotency-Attempt")).isEqualTo("5");
  }

  @Test
  void onlyTheRecordThatWasComparedIsTakenOver() {
    Stage stage = Stage.with().retry().open();
    AttemptToken holder = AttemptToken.next();
    Stage.Call call = stage.whole("k", "{}");
    stage.store.unknown(1, holder);
    assertThat(stage.store.reservations().get(1).follows()).isEqualTo(holder);
    stage.store.existing(1, Stage.fingerprint("{\"other\":1}"), UNKNOWN);

    assertThat(call.client().problem()).isEqualTo("key-reused");
    isOver(stage);
  }

  @Test
  void takeOverThatAnotherOneWonIsRefused() {
    Stage stage = Stage.with().retry().open();
    Stage.Call call = stage.whole("k", "{}");
    stage.store.existing(1, UNKNOWN);
    stage.store.existing(2, inFlight(9_000));

    assertThat(call.client().problem()).isEqualTo("request-in-flight");
    assertThat(stage.upstream.waiting()).isZero();
    isOver(stage);
  }

  @Test
  void takeOverOfARecordThatIsGoneReservesAnew() {
    Stage stage = Stage.with().retry().open();
    stage.whole("k", "{}");
    stage.store.existing(1, UNKNOWN);
    stage.store.reply(ReserveReply.GONE);
    stage.store.acquire();

    assertThat(stage.store.commands()).containsExactly("reserve 1", "takeOver 2", "reserve 1");
    assertThat(stage.upstream.waiting()).isEqualTo(1);
  }

  @Test
  void racesThatAreLostAgainAndAgainEnd() {
    Stage stage = Stage.with().retry().open();
    Stage.Call call = stage.whole("k", "{}");
    for (int i = 1; i <= 6; i++) {
      stage.store.existing(i, UNKNOWN);
    }

    assertThat(call.client().problem()).isEqualTo("request-in-flight");
    isOver(stage);
  }

  // ---- the store is away

  @Test
  void reservationThatMayHaveBeenWrittenIsTakenBackTwice() {
    Stage stage = Stage.open();
    Stage.Call call = stage.whole("k", "{}");
    stage.store.fail();
    assertThat(call.client().problem()).isEqualTo("store-unavailable");
    assertThat(call.client().headers().contains("Retry-After")).isTrue();
    stage.scheduler.advance(Duration.ofSeconds(1));
    stage.store.done();
    stage.scheduler.advance(Stage.LEASE);
    stage.store.done();

    assertThat(stage.store.commands()).containsExactly("reserve 1", "release 1", "release 1");
    assertThat(stage.upstream.waiting()).isZero();
    isOver(stage);
  }

  @Test
  void reservationThatSurelyWasNotWrittenIsNotTakenBack() {
    Stage stage = Stage.open();
    Stage.Call call = stage.whole("k", "{}");
    stage.store.failNotExecuted();
    stage.scheduler.advance(Duration.ofMinutes(1));

    assertThat(call.client().problem()).isEqualTo("store-unavailable");
    assertThat(stage.store.commands()).containsExactly("reserve 1");
    isOver(stage);
  }

  @Test
  void takeOverThatMayHaveBeenWrittenIsLeftUnknown() {
    Stage stage = Stage.with().retry().open();
    stage.whole("k", "{}");
    stage.store.existing(1, UNKNOWN);
    stage.store.fail();
    stage.scheduler.advance(Duration.ofSeconds(1));

    assertThat(stage.store.commands()).containsExactly("reserve 1", "takeOver 2", "Unknown 2");
  }

  @Test
  void bypassForwardsWithoutAnAttemptAndSaysSo() {
    Stage stage = Stage.with().bypass().open();
    Stage.Call call = stage.whole("k", "{}");
    stage.store.failNotExecuted();
    Connection connection = stage.upstream.connect();
    answer(connection.receiver(), 201, "made");

    assertThat(connection.head().headers().contains("Idempotency-Attempt")).isFalse();
    assertThat(call.client().text()).isEqualTo("made");
    assertThat(call.client().headers().get("Idempotency-Bypassed")).isEqualTo("true");
    assertThat(stage.heard.results()).containsExactly(Result.BYPASSED);
    isOver(stage);
  }

  @Test
  void recordThatWasMetForbidsTheBypass() {
    Stage stage = Stage.with().bypass().patience(Duration.ofSeconds(2)).open();
    Stage.Call call = stage.whole("k", "{}");
    stage.store.existing(1, new InFlight(Duration.ofSeconds(3)));
    stage.store.tell();
    stage.store.failNotExecuted();

    assertThat(call.client().problem()).isEqualTo("store-unavailable");
    assertThat(stage.upstream.waiting()).isZero();
    isOver(stage);
  }

  // ---- waiting

  @Test
  void duplicateThatWaitsGetsTheReplay() {
    Stage stage = Stage.with().patience(Duration.ofSeconds(2)).open();
    Stage.Call call = stage.whole("k", "{}");
    stage.store.existing(1, inFlight(9_000));
    assertThat(call.client().isAnswered()).isFalse();
    stage.store.tell();
    stage.store.found(1, Stage.fingerprint("{}"), DONE);

    assertThat(call.client().text()).isEqualTo("made");
    isOver(stage);
  }

  @Test
  void duplicateWhosePatienceEndsIsRefusedAndTakesNothingOver() {
    Stage stage = Stage.with().patience(Duration.ofSeconds(2)).open();
    Stage.Call call = stage.whole("k", "{}");
    stage.store.existing(1, inFlight(9_000));
    for (int i = 0; i < 100 && !call.client().isAnswered(); i++) {
      stage.scheduler.advance(Duration.ofMillis(250));
      if (stage.store.open() > 0) {
        stage.store.found(1, Stage.fingerprint("{}"), inFlight(9_000));
      }
    }

    assertThat(call.client().problem()).isEqualTo("request-in-flight");
    assertThat(stage.scheduler.currentTimeMillis()).isEqualTo(3_000);
    assertThat(stage.store.commands()).containsExactly("reserve 1", "find", "find", "find");
    isOver(stage);
  }

  @Test
  void clientThatGoesWhileItWaitsStopsAsking() {
    Stage stage = Stage.with().patience(Duration.ofSeconds(2)).open();
    Stage.Call call = stage.whole("k", "{}");
    stage.store.existing(1, inFlight(9_000));
    call.exchange().clientGone();
    stage.scheduler.advance(Duration.ofSeconds(5));

    assertThat(stage.store.commands()).containsExactly("reserve 1");
    assertThat(stage.heard.results()).containsExactly(Result.CLIENT_GONE);
    isOver(stage);
  }

  @Test
  void waiterThatFindsTheOperationReleasedRunsIt() {
    Stage stage = Stage.with().patience(Duration.ofSeconds(2)).open();
    stage.whole("k", "{}");
    stage.store.existing(1, inFlight(9_000));
    stage.store.tell();
    stage.store.reply(Optional.empty());
    stage.store.acquire();

    assertThat(stage.store.commands()).containsExactly("reserve 1", "find", "reserve 1");
    assertThat(stage.upstream.waiting()).isEqualTo(1);
  }

  // ---- the client goes while the store is asked

  @Test
  void clientThatGoesWhileTheStoreIsAskedStillHasItsOperationRun() {
    Stage stage = Stage.open();
    Stage.Call call = stage.whole("k", "{}");
    call.exchange().clientGone();
    stage.store.acquire();
    answer(stage.upstream.connect().receiver(), 201, "made");
    stage.store.done();

    assertThat(stage.store.commands()).containsExactly("reserve 1", "Completed 1");
    isOver(stage);
  }

  @Test
  void clientThatGoesWhileTheStoreIsAskedDoesNotWait() {
    Stage stage = Stage.with().patience(Duration.ofSeconds(2)).open();
    Stage.Call call = stage.whole("k", "{}");
    call.exchange().clientGone();
    stage.store.existing(1, inFlight(9_000));

    isOver(stage);
  }

  // ---- the gateway stops

  @Test
  void stopWhileGatheringRefuses() {
    Stage stage = Stage.open();
    Stage.Call call = stage.post("k");
    call.exchange().body(new TextChunk("{"));
    stage.exchanges.abandon();
    call.exchange().bodyEnd();

    assertThat(call.client().problem()).isEqualTo("shutting-down");
    assertThat(stage.store.commands()).isEmpty();
    isOver(stage);
  }

  @Test
  void stopWhileTheStoreIsAskedTakesTheReservationBack() {
    Stage stage = Stage.open();
    Stage.Call call = stage.whole("k", "{}");
    stage.exchanges.abandon();
    assertThat(stage.exchanges.underWay()).isEqualTo(1);
    stage.store.acquire();
    assertThat(call.client().problem()).isEqualTo("shutting-down");
    stage.scheduler.advance(Duration.ofSeconds(1));
    stage.store.done();

    assertThat(stage.store.commands()).containsExactly("reserve 1", "release 1");
    assertThat(stage.upstream.waiting()).isZero();
    isOver(stage);
  }

  @Test
  void stopWhileWaitingRefuses() {
    Stage stage = Stage.with().patience(Duration.ofSeconds(2)).open();
    Stage.Call call = stage.whole("k", "{}");
    stage.store.existing(1, inFlight(9_000));
    stage.exchanges.abandon();
    stage.scheduler.advance(Duration.ofSeconds(5));

    assertThat(call.client().problem()).isEqualTo("shutting-down");
    assertThat(stage.store.commands()).containsExactly("reserve 1");
    isOver(stage);
  }

  @Test
  void stoppedGatewayRefusesWhatComes() {
    Stage stage = Stage.open();
    stage.exchanges.abandon();
    Stage.Call call = stage.post("k");

    assertThat(call.client().problem()).isEqualTo("shutting-down");
    isOver(stage);
  }

  private static void isOver(Stage stage) {
    assertThat(stage.exchanges.underWay()).isZero();
    assertThat(stage.exchanges.deferredWrites()).isZero();
    assertThat(stage.budget.used()).isZero();
  }
}
