package dev.idempotency.gateway.exchange;

import static dev.idempotency.gateway.exchange.Stage.answer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.FakeUpstream.Connection;
import dev.idempotency.gateway.exchange.ResponseReceiver.Failure;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.idempotency.Outcome;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.StoredOperation.Completed;
import dev.idempotency.gateway.idempotency.StoredOperation.InFlight;
import dev.idempotency.gateway.idempotency.StoredOperation.NotKept;
import dev.idempotency.gateway.idempotency.StoredOperation.OutcomeUnknown;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** One attempt, from the reservation to the settled record. */
class AttemptTest {

  private static final Completed ANOTHERS =
      new Completed(
          new StoredResponse(
              201,
              Headers.of("Location", "/orders/9"),
              "another's".getBytes(StandardCharsets.ISO_8859_1),
              new Headers()));

  // ---- before anything is sent

  @Test
  void sureLeaseSendsAtOnce() {
    Stage stage = Stage.open();
    stage.acquired();
    Connection connection = stage.upstream.connect();

    assertThat(connection.isSent()).isTrue();
    assertThat(connection.head().headers().get("Idempotency-Attempt")).isEqualTo("1");
    assertThat(connection.body()).isEqualTo("{}".getBytes(StandardCharsets.ISO_8859_1));
    assertThat(stage.store.commands()).containsExactly("reserve 1");
  }

  @Test
  void leaseThatIsNotSureIsRenewedBeforeAnythingIsSent() {
    Stage stage = Stage.open();
    stage.acquired();
    stage.scheduler.stopFor(Duration.ofSeconds(8));
    Connection connection = stage.upstream.connect();

    assertThat(connection.isSent()).isFalse();
    assertThat(stage.store.commands()).containsExactly("reserve 1", "renew 1");
    stage.store.done();
    assertThat(connection.isSent()).isTrue();
  }

  @Test
  void leaseIsCountedFromTheMomentTheReservationWasSent() {
    Stage stage = Stage.open();
    stage.whole("k", "{}");
    stage.scheduler.stopFor(Duration.ofSeconds(8));
    stage.store.acquire();
    Connection connection = stage.upstream.connect();

    assertThat(connection.isSent()).isFalse();
    assertThat(stage.store.commands()).endsWith("renew 1");
  }

  @Test
  void renewalThatTookAsLongAsTheLeaseIsNotEnough() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    stage.scheduler.stopFor(Duration.ofSeconds(8));
    Connection connection = stage.upstream.connect();
    for (int i = 0; i < 3; i++) {
      stage.scheduler.stopFor(Duration.ofSeconds(9));
      stage.store.done();
    }

    assertThat(connection.isSent()).isFalse();
    assertThat(connection.isGivenBack()).isTrue();
    stage.store.done();
    assertThat(call.client().problem()).isEqualTo("store-unavailable");
    assertThat(stage.store.commands()).endsWith("release 1");
    isOver(stage);
  }

  static Stream<Arguments> states() {
    return Stream.of(
        Arguments.of(ANOTHERS, 201, null),
        Arguments.of(new NotKept(200), 409, "response-not-kept"),
        Arguments.of(new InFlight(Duration.ofSeconds(3)), 409, "request-in-flight"),
        Arguments.of(new OutcomeUnknown(true), 409, "outcome-unknown"));
  }

  @ParameterizedTest
  @MethodSource("states")
  void fencedBeforeSendingAnswersFromTheRecord(
      StoredOperation.State state, int status, @org.jspecify.annotations.Nullable String problem) {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    stage.scheduler.stopFor(Duration.ofSeconds(12));
    Connection connection = stage.upstream.connect();
    stage.store.fence(2, state);

    assertThat(connection.isSent()).isFalse();
    assertThat(connection.isGivenBack()).isTrue();
    assertThat(call.client().status()).isEqualTo(status);
    if (problem == null) {
      assertThat(call.client().text()).isEqualTo("another's");
      assertThat(call.client().headers().get("Idempotent-Replayed")).isEqualTo("true");
    } else {
      assertThat(call.client().problem()).isEqualTo(problem);
    }
    assertThat(stage.store.commands()).containsExactly("reserve 1", "renew 1");
    assertThat(stage.heard.events()).containsExactly("fenced");
    isOver(stage);
  }

  @Test
  void fencedWhileWaitingForAConnectionSendsNothingWhenItComes() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    stage.scheduler.advance(Duration.ofSeconds(4));
    stage.store.fence(2, ANOTHERS);
    Connection connection = stage.upstream.connect();

    assertThat(call.client().text()).isEqualTo("another's");
    assertThat(connection.isSent()).isFalse();
    assertThat(connection.isGivenBack()).isTrue();
    isOver(stage);
  }

  @Test
  void renewalThatFailsBeforeSendingRefusesAndSendsNothing() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    stage.scheduler.stopFor(Duration.ofSeconds(8));
    Connection connection = stage.upstream.connect();
    stage.store.fail();

    assertThat(connection.isSent()).isFalse();
    assertThat(connection.isGivenBack()).isTrue();
    stage.store.done();
    assertThat(call.client().status()).isEqualTo(503);
    assertThat(call.client().problem()).isEqualTo("store-unavailable");
    assertThat(stage.store.commands()).containsExactly("reserve 1", "renew 1", "release 1");
    assertThat(stage.heard.events()).containsExactly("renewal failed");
    isOver(stage);
  }

  @ParameterizedTest
  @EnumSource(Upstream.Refusal.class)
  void withoutConnectionTheReservationGoesBeforeTheClientIsTold(Upstream.Refusal refusal) {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    stage.upstream.refuse(refusal);

    assertThat(call.client().isAnswered()).isFalse();
    stage.store.done();
    assertThat(call.client().status())
        .isEqualTo(
            refusal == Upstream.Refusal.UNREACHABLE
                    || refusal == Upstream.Refusal.CONNECT_TIMEOUT
                    || refusal == Upstream.Refusal.TLS_FAILED
                ? 502
                : 503);
    assertThat(call.client().headers().contains("Retry-After")).isTrue();
    assertThat(stage.store.commands()).containsExactly("reserve 1", "release 1");
    isOver(stage);
  }

  @Test
  void releaseThatFailsIsTriedAgainBehindTheAnswer() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    stage.upstream.refuse(Upstream.Refusal.UNREACHABLE);
    stage.store.fail();

    assertThat(call.client().status()).isEqualTo(502);
    stage.scheduler.advance(Duration.ofSeconds(1));
    stage.store.done();
    assertThat(stage.exchanges.deferredWrites()).isZero();
    // The reservation may yet be written by a command that is still on its way.
    stage.scheduler.advance(Stage.LEASE);
    assertThat(stage.store.commands())
        .containsExactly("reserve 1", "release 1", "release 1", "release 1");
  }

  @Test
  void laterAttemptThatWasNotSentLeavesTheOutcomeUnknown() {
    Stage stage = Stage.with().retry().open();
    Stage.Call call = stage.tookOver();
    stage.upstream.refuse(Upstream.Refusal.UNREACHABLE);
    stage.store.done();

    assertThat(call.client().status()).isEqualTo(502);
    assertThat(stage.store.commands()).containsExactly("reserve 1", "takeOver 2", "Unknown 2");
    isOver(stage);
  }

  @Test
  void connectionThatDiedWhileItWaitedIsReplacedByAnother() {
    Stage stage = Stage.open();
    stage.acquired();
    stage.upstream.connectDead();
    Connection second = stage.upstream.connect();

    assertThat(second.isSent()).isTrue();
    assertThat(stage.store.commands()).containsExactly("reserve 1");
  }

  @Test
  void connectionsThatDieAgainAndAgainEndInARefusal() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    for (int i = 0; i < 4; i++) {
      stage.upstream.connectDead();
    }
    stage.store.done();

    assertThat(call.client().problem()).isEqualTo("upstream-unreachable");
    assertThat(stage.upstream.waiting()).isZero();
    assertThat(stage.store.commands()).containsExactly("reserve 1", "release 1");
    isOver(stage);
  }

  // ---- while the upstream works

  @Test
  void leaseIsRenewedForAsLongAsTheResponseIsAwaited() {
    Stage stage = Stage.open();
    stage.acquired();
    stage.upstream.connect();
    for (int i = 0; i < 10; i++) {
      stage.scheduler.advance(Duration.ofMillis(3_400));
      stage.store.done();
    }

    assertThat(stage.store.commands()).hasSize(11).endsWith("renew 1");
  }

  @Test
  void renewalIsNotAskedTwiceAtATime() {
    Stage stage = Stage.open();
    stage.acquired();
    stage.upstream.connect();
    stage.scheduler.advance(Duration.ofSeconds(9));

    assertThat(stage.store.commands()).containsExactly("reserve 1", "renew 1");
  }

  @Test
  void renewalThatFailsWhileTheUpstreamWorksIsTriedAgainAndTheRequestRunsOn() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    Connection connection = stage.upstream.connect();
    stage.scheduler.advance(Duration.ofMillis(3_400));
    stage.store.fail();
    stage.scheduler.advance(Duration.ofMillis(900));
    assertThat(stage.store.open()).isZero();
    stage.scheduler.advance(Duration.ofMillis(200));
    stage.store.done();
    answer(connection.receiver(), 201, "made");
    stage.store.done();

    assertThat(call.client().status()).isEqualTo(201);
    assertThat(stage.store.commands())
        .containsExactly("reserve 1", "renew 1", "renew 1", "Completed 1");
    isOver(stage);
  }

  @Test
  void fencedWhileTheUpstreamWorksAnswersFromTheRecordWhenItSettles() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    Connection connection = stage.upstream.connect();
    stage.scheduler.advance(Duration.ofMillis(3_400));
    stage.store.fence(2, new InFlight(Duration.ofSeconds(5)));
    answer(connection.receiver(), 201, "own");
    stage.store.fence(2, ANOTHERS);

    assertThat(call.client().text()).isEqualTo("another's");
    assertThat(stage.heard.events()).containsExactly("fenced");
    isOver(stage);
  }

  @Test
  void interimResponsesArePassedOnButNotThoseOfTheExpectation() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    ResponseReceiver receiver = stage.upstream.connect().receiver();
    receiver.informational(new ResponseHead(100, new Headers()));
    receiver.informational(new ResponseHead(103, Headers.of("Link", "</a.css>; rel=preload")));

    assertThat(call.client().interim()).containsExactly(103);
  }

  // ---- settling

  @Test
  void responseIsStoredBeforeTheClientGetsIt() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    answer(stage.upstream.connect().receiver(), 201, "made", "Location", "/orders/1");

    assertThat(stage.store.commands()).endsWith("Completed 1");
    assertThat(call.client().hasHead()).isFalse();
    stage.store.done();
    assertThat(call.client().text()).isEqualTo("made");
    assertThat(stage.store.completed().get(0).headers())
        .isEqualTo(Headers.of("Location", "/orders/1", "Date", Stage.DATE));
    assertThat(stage.heard.results()).containsExactly(Result.COMPLETED);
    isOver(stage);
  }

  @Test
  void responseThatTheStoreDoesNotTakeIsGivenToTheClientAndStoredLater() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    answer(stage.upstream.connect().receiver(), 201, "made");
    stage.store.fail();

    assertThat(call.client().text()).isEqualTo("made");
    assertThat(stage.budget.used()).isEqualTo(4);
    stage.scheduler.advance(Duration.ofSeconds(1));
    stage.store.fail();
    stage.scheduler.advance(Duration.ofSeconds(1));
    stage.store.done();
    assertThat(stage.store.commands())
        .containsExactly("reserve 1", "Completed 1", "Completed 1", "Completed 1");
    assertThat(stage.store.completed().get(2).body())
        .isEqualTo("made".getBytes(StandardCharsets.ISO_8859_1));
    isOver(stage);
  }

  @ParameterizedTest
  @CsvSource({
    // status, the upstream's own word, first attempt settles with, second attempt settles with
    "201, ,          Completed, Completed",
    "422, ,          Completed, Completed",
    "500, ,          Completed, Completed",
    "502, ,          Unknown,   Unknown",
    "429, ,          release,   Unknown",
    "429, released,  release,   release",
    "500, released,  release,   release",
    "429, completed, Completed, Completed",
    // A word that is none says nothing of the operation.
    "429, perhaps,   release,   Unknown",
  })
  void responseSettlesTheRecord(
      int status,
      @org.jspecify.annotations.Nullable String word,
      String firstAttempt,
      String secondAttempt) {
    String[] fields = word == null ? new String[0] : new String[] {"Idempotency-Outcome", word};
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    answer(stage.upstream.connect().receiver(), status, "body", fields);
    stage.store.done();
    assertThat(stage.store.commands()).endsWith(firstAttempt + " 1");
    assertThat(call.client().status()).isEqualTo(status);
    assertThat(call.client().headers().contains("Idempotency-Outcome")).isFalse();
    isOver(stage);

    Stage later = Stage.with().retry().open();
    Stage.Call second = later.tookOver();
    answer(later.upstream.connect().receiver(), status, "body", fields);
    later.store.done();
    assertThat(later.store.commands()).endsWith(secondAttempt + " 2");
    assertThat(second.client().status()).isEqualTo(status);
    isOver(later);
  }

  @Test
  void routeMapsStatusesToOutcomes() {
    Stage stage = Stage.with().outcomes(Map.of(500, Outcome.RELEASED)).open();
    stage.acquired();
    answer(stage.upstream.connect().receiver(), 500, "");

    assertThat(stage.store.commands()).endsWith("release 1");
  }

  @Test
  void leaseIsNotRenewedBehindARelease() {
    Stage stage = Stage.open();
    stage.acquired();
    Connection connection = stage.upstream.connect();
    stage.scheduler.stopFor(Duration.ofMillis(3_300));
    answer(connection.receiver(), 429, "");
    stage.scheduler.advance(Duration.ofSeconds(5));

    assertThat(stage.store.commands()).containsExactly("reserve 1", "release 1");
  }

  // ---- sent, and no response

  @ParameterizedTest
  @EnumSource(
      value = Failure.class,
      names = {"TIMEOUT", "NOT_PROCESSED"},
      mode = EnumSource.Mode.EXCLUDE)
  void requestThatWasSentAndLostIsUnknown(Failure failure) {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    stage.upstream.connect().receiver().failed(failure);
    assertThat(call.client().isAnswered()).isFalse();
    stage.store.done();

    assertThat(call.client().status()).isEqualTo(502);
    assertThat(call.client().problem()).isEqualTo("outcome-unknown");
    assertThat(call.client().headers().contains("Retry-After")).isFalse();
    assertThat(stage.store.commands()).containsExactly("reserve 1", "Unknown 1");
    isOver(stage);
  }

  @Test
  void requestThatTheUpstreamDidNotProcessIsReleasedThenTheClientIsTold() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    stage.upstream.connect().receiver().failed(Failure.NOT_PROCESSED);
    assertThat(call.client().isAnswered()).isFalse();
    stage.store.done();

    assertThat(call.client().status()).isEqualTo(503);
    assertThat(call.client().problem()).isEqualTo("upstream-unreachable");
    assertThat(call.client().headers().get("Retry-After")).isEqualTo("1");
    assertThat(stage.store.commands()).containsExactly("reserve 1", "release 1");
    assertThat(stage.upstream.waiting()).isZero();
    isOver(stage);
  }

  @Test
  void laterAttemptThatTheUpstreamDidNotProcessLeavesTheOutcomeUnknown() {
    Stage stage = Stage.with().retry().open();
    Stage.Call call = stage.tookOver();
    stage.upstream.connect().receiver().failed(Failure.NOT_PROCESSED);
    stage.store.done();

    assertThat(call.client().status()).isEqualTo(503);
    assertThat(stage.store.commands()).endsWith("Unknown 2");
    isOver(stage);
  }

  @Test
  void overdueRequestThatTheUpstreamDidNotProcessIsReleased() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    Connection connection = stage.upstream.connect();
    connection.receiver().overdue();
    stage.store.done();
    connection.receiver().failed(Failure.NOT_PROCESSED);
    stage.store.done();

    assertThat(call.client().problem()).isEqualTo("outcome-unknown");
    assertThat(stage.store.commands()).containsExactly("reserve 1", "Unknown 1", "release 1");
    isOver(stage);
  }

  @Test
  void overdueRequestThatWasNotProcessedIsReleasedAsSoonAsTheStoreIsBack() {
    Stage stage = Stage.open();
    stage.acquired();
    Connection connection = stage.upstream.connect();
    connection.receiver().overdue();
    stage.store.fail();
    connection.receiver().failed(Failure.NOT_PROCESSED);
    stage.store.fail();
    stage.scheduler.advance(Duration.ofSeconds(30));
    stage.store.done();

    assertThat(stage.store.commands())
        .containsExactly("reserve 1", "Unknown 1", "release 1", "release 1");
    isOver(stage);
  }

  @Test
  void overdueResponseIsUnknownUntilItComes() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    Connection connection = stage.upstream.connect();
    connection.receiver().overdue();
    stage.store.done();
    assertThat(call.client().status()).isEqualTo(504);
    assertThat(connection.isCancelled()).isFalse();

    answer(connection.receiver(), 201, "late");
    stage.store.done();
    assertThat(stage.store.commands()).containsExactly("reserve 1", "Unknown 1", "Completed 1");
    isOver(stage);
  }

  @Test
  void overdueResponseThatNeverComesLeavesTheRecordUnknown() {
    Stage stage = Stage.open();
    stage.acquired();
    Connection connection = stage.upstream.connect();
    connection.receiver().overdue();
    stage.store.done();
    connection.receiver().failed(Failure.TIMEOUT);

    assertThat(stage.store.commands()).containsExactly("reserve 1", "Unknown 1");
    isOver(stage);
  }

  @Test
  void lateReleaseIsNotOverwrittenByAnUnknownThatWasDeferred() {
    Stage stage = Stage.open();
    stage.acquired();
    Connection connection = stage.upstream.connect();
    connection.receiver().overdue();
    stage.store.fail();
    answer(connection.receiver(), 429, "");
    stage.store.done();
    stage.scheduler.advance(Duration.ofSeconds(30));

    assertThat(stage.store.commands()).containsExactly("reserve 1", "Unknown 1", "release 1");
    isOver(stage);
  }

  // ---- streaming and large responses

  @Test
  void streamedResponseIsStoredWithoutTheFramingThatItsClientGot() {
    Stage stage = Stage.with().streaming().open();
    Stage.Call call = stage.acquired();
    ResponseReceiver receiver = stage.upstream.connect().receiver();
    receiver.head(new ResponseHead(200, Headers.of("Content-Type", "text/event-stream")), -1);
    receiver.chunk(new TextChunk("one"));
    receiver.flush();
    assertThat(call.client().text()).isEqualTo("one");
    receiver.end(new Headers());
    assertThat(call.client().isAnswered()).isFalse();
    stage.store.done();

    assertThat(call.client().isAnswered()).isTrue();
    assertThat(stage.store.completed().get(0).headers())
        .isEqualTo(Headers.of("Content-Type", "text/event-stream", "Date", Stage.DATE));
    isOver(stage);
  }

  @Test
  void streamedResponseThatBreaksIsCutAndUnknown() {
    Stage stage = Stage.with().streaming().open();
    Stage.Call call = stage.acquired();
    ResponseReceiver receiver = stage.upstream.connect().receiver();
    receiver.head(new ResponseHead(200, new Headers()), -1);
    receiver.chunk(new TextChunk("one"));
    receiver.flush();
    receiver.failed(Failure.CLOSED);
    stage.store.done();

    assertThat(call.client().isAborted()).isTrue();
    assertThat(call.client().isAnswered()).isFalse();
    assertThat(stage.store.commands()).endsWith("Unknown 1");
    isOver(stage);
  }

  @Test
  void streamedResponseThatBreaksInItsFirstBurstIsAnError() {
    Stage stage = Stage.with().streaming().open();
    Stage.Call call = stage.acquired();
    ResponseReceiver receiver = stage.upstream.connect().receiver();
    receiver.head(new ResponseHead(200, new Headers()), -1);
    receiver.failed(Failure.MALFORMED);
    stage.store.done();

    assertThat(call.client().problem()).isEqualTo("outcome-unknown");
    assertThat(call.client().status()).isEqualTo(502);
    isOver(stage);
  }

  @Test
  void streamedResponseOfWhichNothingIsOutYetIsTakenBackWhenItBreaks() {
    Stage stage = Stage.with().streaming().open();
    Stage.Call call = stage.acquired();
    call.client().takesBack();
    ResponseReceiver receiver = stage.upstream.connect().receiver();
    receiver.head(new ResponseHead(200, new Headers()), -1);
    receiver.flush();
    receiver.failed(Failure.CLOSED);
    stage.store.done();

    assertThat(call.client().isAborted()).isFalse();
    assertThat(call.client().problem()).isEqualTo("outcome-unknown");
    isOver(stage);
  }

  @Test
  void responseThatIsTakenBackGivesItsMemoryBack() {
    Stage stage = Stage.with().streaming().open();
    Stage.Call call = stage.acquired();
    call.client().takesBack();
    call.client().writable(false);
    ResponseReceiver receiver = stage.upstream.connect().receiver();
    receiver.head(new ResponseHead(200, new Headers()), -1);
    receiver.chunk(new TextChunk("gathered before the client took anything"));
    receiver.flush();
    receiver.failed(Failure.CLOSED);
    stage.store.done();

    assertThat(call.client().problem()).isEqualTo("outcome-unknown");
    isOver(stage);
  }

  @Test
  void storeThatThrowsWhenTheResponseIsToBeStoredIsTriedAgainBehindTheAnswer() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    stage.store.throwsOnce(new OutOfMemoryError("made by a test"));
    answer(stage.upstream.connect().receiver(), 201, "made");
    assertThat(call.client().text()).isEqualTo("made");
    assertThat(stage.exchanges.deferredWrites()).isEqualTo(1);
    stage.scheduler.advance(Duration.ofSeconds(1));
    stage.store.done();

    assertThat(stage.store.commands()).containsExactly("reserve 1", "Completed 1");
    isOver(stage);
  }

  @Test
  void trailersThatBelongToTheConnectionOrTheGatewayEndHere() {
    Stage stage = Stage.open();
    stage.acquired();
    ResponseReceiver receiver = stage.upstream.connect().receiver();
    receiver.head(new ResponseHead(200, Headers.of("Connection", "close, X-Hop")), -1);
    receiver.end(
        Headers.of(
            "x-hop", "1", "X-Sum", "9", "Transfer-Encoding", "chunked", "Set-Cookie", "a=b"));
    stage.store.done();

    Headers kept = stage.store.completed().get(0).trailers();
    assertThat(kept.size()).isEqualTo(1);
    assertThat(kept.get("X-Sum")).isEqualTo("9");
    isOver(stage);
  }

  @Test
  void eventStreamIsPassedOnAsItComesWhateverTheRouteSays() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    ResponseReceiver receiver = stage.upstream.connect().receiver();
    receiver.head(
        new ResponseHead(200, Headers.of("Content-Type", "Text/Event-Stream; charset=utf-8")), -1);
    receiver.chunk(new TextChunk("data: 1\n\n"));
    receiver.flush();

    assertThat(call.client().text()).isEqualTo("data: 1\n\n");
    receiver.end(new Headers());
    stage.store.done();
    assertThat(stage.store.commands()).endsWith("Completed 1");
    isOver(stage);
  }

  @Test
  void endlessResponseWithoutItsClientIsEndedAndNotKept() {
    Stage stage = Stage.with().streaming().open();
    Stage.Call call = stage.acquired();
    Connection connection = stage.upstream.connect();
    connection.receiver().head(new ResponseHead(200, new Headers()), -1);
    connection.receiver().flush();
    call.exchange().clientGone();
    for (int i = 0; i < 80; i++) {
      connection.receiver().chunk(new TextChunk("tick"));
      stage.scheduler.advance(Duration.ofMillis(3_700));
      stage.store.done();
    }
    assertThat(connection.isCancelled()).isFalse();
    stage.scheduler.advance(Duration.ofSeconds(5));
    while (stage.store.open() > 0) {
      stage.store.done();
    }

    assertThat(connection.isCancelled()).isTrue();
    assertThat(stage.store.commands()).endsWith("NotKept 1");
    assertThat(stage.heard.results()).containsExactly(Result.NOT_KEPT);
    isOver(stage);
  }

  @Test
  void largeResponseIsChargedUntilTheClientHasTakenIt() {
    Stage stage = Stage.with().responseLimit(300_000).open();
    Stage.Call call = stage.acquired();
    call.client().writable(1);
    answer(stage.upstream.connect().receiver(), 200, "x".repeat(200_000));
    stage.store.done();

    assertThat(call.client().text()).hasSize(Delivery.PIECE);
    assertThat(stage.budget.used()).isEqualTo(200_000);
    assertThat(stage.exchanges.underWay()).isZero();
    call.client().writable(10);
    call.exchange().clientWritable();
    assertThat(call.client().text()).isEqualTo("x".repeat(200_000));
    assertThat(call.client().isAnswered()).isTrue();
    isOver(stage);
  }

  @Test
  void largeResponseIsChargedOnceWhileItIsBothDeliveredAndStoredLater() {
    Stage stage = Stage.with().responseLimit(300_000).open();
    Stage.Call call = stage.acquired();
    call.client().writable(1);
    answer(stage.upstream.connect().receiver(), 200, "x".repeat(200_000));
    stage.store.fail();
    assertThat(stage.budget.used()).isEqualTo(200_000);
    call.exchange().clientGone();
    assertThat(stage.budget.used()).isEqualTo(200_000);
    stage.scheduler.advance(Duration.ofSeconds(1));
    stage.store.done();

    isOver(stage);
  }

  @Test
  void overflowIsHandedOutNoFasterThanTheClientTakesIt() {
    Stage stage = Stage.with().responseLimit(200_000).open();
    Stage.Call call = stage.acquired();
    Connection connection = stage.upstream.connect();
    connection.receiver().head(new ResponseHead(200, new Headers()), -1);
    connection.receiver().chunk(TextChunk.ofLength(200_000));
    call.client().writable(1);
    connection.receiver().chunk(new TextChunk("over"));

    assertThat(call.client().text()).hasSize(Delivery.PIECE);
    assertThat(connection.isPaused()).isTrue();
    assertThat(stage.budget.used()).isEqualTo(200_000 + 2);
    call.client().writable(2);
    call.exchange().clientWritable();
    assertThat(connection.isPaused()).isTrue();
    call.client().writable(5);
    call.exchange().clientWritable();
    assertThat(connection.isPaused()).isFalse();
    assertThat(stage.budget.used()).isEqualTo(2);
    connection.receiver().end(new Headers());
    stage.store.done();
    assertThat(call.client().text()).isEqualTo("x".repeat(200_000) + "over");
    assertThat(call.client().isAnswered()).isTrue();
    isOver(stage);
  }

  @Test
  void fencedWhileStreamingCutsTheResponse() {
    Stage stage = Stage.with().streaming().open();
    Stage.Call call = stage.acquired();
    ResponseReceiver receiver = stage.upstream.connect().receiver();
    receiver.head(new ResponseHead(200, new Headers()), -1);
    receiver.flush();
    receiver.end(new Headers());
    stage.store.fence(2, ANOTHERS);

    assertThat(call.client().isAborted()).isTrue();
    assertThat(call.client().isAnswered()).isFalse();
    isOver(stage);
  }

  @Test
  void responseOverTheLimitIsPassedWholeAndNotKept() {
    Stage stage = Stage.with().responseLimit(8).open();
    Stage.Call call = stage.acquired();
    ResponseReceiver receiver = stage.upstream.connect().receiver();
    receiver.head(new ResponseHead(200, new Headers()), -1);
    receiver.chunk(new TextChunk("12345678"));
    assertThat(call.client().hasHead()).isFalse();
    receiver.chunk(new TextChunk("9"));
    // What is not kept takes no memory: only the request's two bytes are left.
    assertThat(stage.budget.used()).isEqualTo(2);
    receiver.end(new Headers());
    stage.store.done();

    assertThat(call.client().text()).isEqualTo("123456789");
    assertThat(stage.store.commands()).endsWith("NotKept 1");
    assertThat(stage.heard.results()).containsExactly(Result.NOT_KEPT);
    isOver(stage);
  }

  @Test
  void responseThatIsAnnouncedTooLargeBeginsAtOnce() {
    Stage stage = Stage.with().responseLimit(8).open();
    Stage.Call call = stage.acquired();
    stage.upstream.connect().receiver().head(new ResponseHead(200, new Headers()), 9);

    assertThat(call.client().hasHead()).isTrue();
  }

  @Test
  void slowClientPausesTheResponseUntilItTakesMoreOrGoes() {
    Stage stage = Stage.with().streaming().open();
    Stage.Call call = stage.acquired();
    Connection connection = stage.upstream.connect();
    connection.receiver().head(new ResponseHead(200, new Headers()), -1);
    connection.receiver().flush();
    call.client().writable(false);
    connection.receiver().chunk(new TextChunk("one"));
    assertThat(connection.isPaused()).isTrue();
    call.exchange().clientWritable();
    assertThat(connection.isPaused()).isFalse();
    connection.receiver().chunk(new TextChunk("two"));
    assertThat(connection.isPaused()).isTrue();
    call.exchange().clientGone();
    assertThat(connection.isPaused()).isFalse();
    connection.receiver().chunk(new TextChunk("three"));
    assertThat(connection.isPaused()).isFalse();
    connection.receiver().end(new Headers());
    stage.store.done();

    assertThat(new String(stage.store.completed().get(0).body(), StandardCharsets.ISO_8859_1))
        .isEqualTo("onetwothree");
    isOver(stage);
  }

  @Test
  void clientThatGoesWhileTheUpstreamWorksChangesNothing() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    Connection connection = stage.upstream.connect();
    call.exchange().clientGone();
    assertThat(connection.isCancelled()).isFalse();
    answer(connection.receiver(), 201, "made");
    stage.store.done();

    assertThat(stage.store.commands()).containsExactly("reserve 1", "Completed 1");
    isOver(stage);
  }

  // ---- the gateway stops

  @Test
  void stopWhileWaitingForAConnectionReleasesAndRefuses() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    stage.exchanges.abandon();
    stage.store.done();
    Connection connection = stage.upstream.connect();

    assertThat(call.client().problem()).isEqualTo("shutting-down");
    assertThat(connection.isGivenBack()).isTrue();
    assertThat(connection.isSent()).isFalse();
    assertThat(stage.store.commands()).containsExactly("reserve 1", "release 1");
    isOver(stage);
  }

  @Test
  void stopWhileTheLeaseIsMadeSureSendsNothing() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    stage.scheduler.stopFor(Duration.ofSeconds(8));
    Connection connection = stage.upstream.connect();
    stage.exchanges.abandon();
    stage.store.done();
    stage.store.done();

    assertThat(connection.isSent()).isFalse();
    assertThat(connection.isGivenBack()).isTrue();
    assertThat(call.client().problem()).isEqualTo("shutting-down");
    assertThat(stage.store.commands()).containsExactly("reserve 1", "renew 1", "release 1");
    isOver(stage);
  }

  @Test
  void stopWhileTheUpstreamWorksMarksUnknown() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    Connection connection = stage.upstream.connect();
    stage.exchanges.abandon();
    stage.store.done();

    assertThat(connection.isCancelled()).isTrue();
    assertThat(call.client().status()).isEqualTo(502);
    assertThat(call.client().problem()).isEqualTo("outcome-unknown");
    assertThat(stage.store.commands()).containsExactly("reserve 1", "Unknown 1");
    isOver(stage);
  }

  @Test
  void stopWhileAResponseIsOverdueGivesItUp() {
    Stage stage = Stage.open();
    stage.acquired();
    Connection connection = stage.upstream.connect();
    connection.receiver().overdue();
    stage.store.done();
    stage.exchanges.abandon();

    assertThat(connection.isCancelled()).isTrue();
    assertThat(stage.store.commands()).containsExactly("reserve 1", "Unknown 1");
    isOver(stage);
  }

  @Test
  void stopWhileTheRecordIsWrittenLetsItFinish() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    answer(stage.upstream.connect().receiver(), 201, "made");
    stage.exchanges.abandon();
    assertThat(stage.exchanges.underWay()).isEqualTo(1);
    stage.store.done();

    assertThat(call.client().text()).isEqualTo("made");
    isOver(stage);
  }

  private static void isOver(Stage stage) {
    assertThat(stage.exchanges.underWay()).isZero();
    assertThat(stage.exchanges.deferredWrites()).isZero();
    assertThat(stage.budget.used()).isZero();
    assertThat(stage.store.open()).isZero();
  }
}
