package dev.idempotency.gateway.exchange;

import static dev.idempotency.gateway.exchange.Stage.answer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.FakeUpstream.Connection;
import dev.idempotency.gateway.exchange.ResponseReceiver.Failure;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.StoredOperation.Completed;
import dev.idempotency.gateway.idempotency.StoredOperation.InFlight;
import dev.idempotency.gateway.idempotency.StoredOperation.NotKept;
import dev.idempotency.gateway.idempotency.StoredOperation.OutcomeUnknown;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A request with a key whose body streams. */
class UploadExchangeTest {

  private static final Fingerprint OPEN = Fingerprint.OPEN;
  private static final InFlight IN_FLIGHT = new InFlight(Duration.ofSeconds(3));
  private static final OutcomeUnknown UNKNOWN = new OutcomeUnknown(false);
  private static final Completed DONE =
      new Completed(
          new StoredResponse(
              201, new Headers(), "made".getBytes(StandardCharsets.ISO_8859_1), new Headers()));

  private static void body(Stage.Call call, String... chunks) {
    for (String chunk : chunks) {
      call.exchange().body(new TextChunk(chunk));
    }
  }

  // ---- the first request

  @Test
  void operationIsReservedOnTheHeadAndTheBodyWantedWhenItCanGo() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", -1);
    assertThat(stage.store.commands()).containsExactly("reserve 1");
    assertThat(stage.store.fingerprints()).containsExactly(OPEN);
    stage.store.acquire();
    assertThat(call.client().isBodyWanted()).isFalse();
    Connection connection = stage.upstream.connect();

    assertThat(call.client().isBodyWanted()).isTrue();
    assertThat(connection.announced()).isEqualTo(-1);
    assertThat(connection.head().headers().get("Idempotency-Attempt")).isEqualTo("1");
    body(call, "one", "two");
    assertThat(connection.text()).isEqualTo("onetwo");
    assertThat(stage.budget.used()).isZero();
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 6})
  void requestEndsOnlyAfterItsFingerprintIsWritten(long length) {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", length);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    body(call, "one", "two");
    call.exchange().bodyEnd();

    assertThat(connection.isEnded()).isFalse();
    assertThat(connection.text()).isEqualTo(length < 0 ? "onetwo" : "one");
    assertThat(stage.store.commands()).containsExactly("reserve 1", "renew 1");
    assertThat(stage.store.fingerprints()).containsExactly(OPEN, Stage.fingerprint("onetwo"));
    stage.store.done();
    assertThat(connection.isEnded()).isTrue();
    assertThat(connection.text()).isEqualTo("onetwo");
    answer(connection.receiver(), 201, "made");
    stage.store.done();
    assertThat(stage.store.commands()).endsWith("Completed 1");
    assertThat(stage.store.fingerprints()).endsWith(Stage.fingerprint("onetwo"));
    assertThat(call.client().text()).isEqualTo("made");
    isOver(stage);
  }

  @Test
  void storeThatIsAwayWhenTheRequestIsWholeDoesNotStopIt() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", -1);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    body(call, "one");
    call.exchange().bodyEnd();
    stage.store.fail();

    assertThat(connection.isEnded()).isTrue();
  }

  @Test
  void fencedWhenTheRequestIsWholeNeverEndsIt() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", -1);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    body(call, "one");
    call.exchange().bodyEnd();
    stage.store.fence(2, DONE);

    assertThat(connection.isEnded()).isFalse();
    assertThat(connection.isCancelled()).isTrue();
    assertThat(call.client().text()).isEqualTo("made");
    isOver(stage);
  }

  @Test
  void leaseIsRenewedDuringTheUpload() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", -1);
    stage.store.acquire();
    stage.upstream.connect();
    for (int i = 0; i < 5; i++) {
      body(call, "more");
      stage.scheduler.advance(Duration.ofMillis(3_400));
      stage.store.done();
    }

    assertThat(stage.store.commands()).hasSize(6).endsWith("renew 1");
    assertThat(stage.store.fingerprints()).containsOnly(OPEN);
  }

  @Test
  void slowUpstreamPausesTheClient() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", -1);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    connection.writable(false);
    body(call, "one");
    assertThat(call.client().isBodyPaused()).isTrue();
    connection.writable(true);
    connection.receiver().writable();
    assertThat(call.client().isBodyPaused()).isFalse();
  }

  @Test
  void connectionThatDiedWhileItWaitedIsReplacedBeforeTheBodyIsWanted() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", -1);
    stage.store.acquire();
    stage.upstream.connectDead();
    assertThat(call.client().isBodyWanted()).isFalse();
    Connection second = stage.upstream.connect();
    body(call, "one");

    assertThat(second.text()).isEqualTo("one");
  }

  @Test
  void requestWithoutContentIsReservedWithItsFingerprint() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", 0);
    call.exchange().bodyEnd();

    assertThat(stage.store.fingerprints()).containsExactly(Stage.fingerprint(""));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void endThatComesBeforeTheBodyIsWantedIsNotLost(boolean whileAsked) {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", -1);
    if (whileAsked) {
      call.exchange().bodyEnd();
      stage.store.acquire();
    } else {
      stage.store.acquire();
      call.exchange().bodyEnd();
    }
    Connection connection = stage.upstream.connect();
    stage.store.done();

    assertThat(connection.isEnded()).isTrue();
    assertThat(stage.store.commands()).containsExactly("reserve 1", "renew 1");
    assertThat(stage.store.fingerprints()).endsWith(Stage.fingerprint(""));
  }

  @Test
  void endOfADuplicateThatComesBeforeItsBodyIsWantedIsNotLost() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", -1);
    call.exchange().bodyEnd();
    stage.store.existing(1, Stage.fingerprint(""), DONE);
    stage.store.found(1, Stage.fingerprint(""), DONE);

    assertThat(call.client().text()).isEqualTo("made");
    isOver(stage);
  }

  @Test
  void endThatComesBeforeTheStoreIsFoundAwayEndsTheBypassToo() {
    Stage stage = Stage.with().streamsRequest().bypass().open();
    Stage.Call call = stage.upload("k", -1);
    call.exchange().bodyEnd();
    stage.store.failNotExecuted();

    assertThat(stage.upstream.connect().isEnded()).isTrue();
  }

  @Test
  void lastChunkIsReleasedOnceWhereItsWriteFails() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", 3);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    TextChunk last = new TextChunk("one");
    call.exchange().body(last);
    call.exchange().bodyEnd();
    connection.failsToWrite();
    stage.store.done();
    stage.store.done();

    assertThat(last.released()).isEqualTo(1);
    assertThat(stage.store.commands()).endsWith("release 1");
    isOver(stage);
  }

  @Test
  void requestThatIsOverdueBeforeItsEndIsOutNeverEnds() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", -1);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    body(call, "one");
    call.exchange().bodyEnd();
    connection.receiver().overdue();
    stage.store.done();
    stage.store.done();

    assertThat(connection.isCancelled()).isTrue();
    assertThat(connection.isEnded()).isFalse();
    assertThat(call.client().status()).isEqualTo(504);
    assertThat(stage.store.commands()).endsWith("Unknown 1");
    isOver(stage);
  }

  // ---- it does not become whole

  @Test
  void clientThatGoesBeforeAnythingIsSentLeavesNothing() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", -1);
    stage.store.acquire();
    call.exchange().clientGone();
    stage.store.done();
    Connection connection = stage.upstream.connect();

    assertThat(connection.isSent()).isFalse();
    assertThat(connection.isGivenBack()).isTrue();
    assertThat(stage.store.commands()).containsExactly("reserve 1", "release 1");
    assertThat(stage.heard.results()).containsExactly(Result.CLIENT_GONE);
    isOver(stage);
  }

  @Test
  void clientThatGoesWhileTheStoreIsAskedLeavesNothing() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", -1);
    call.exchange().clientGone();
    stage.store.acquire();
    stage.scheduler.advance(Duration.ofSeconds(1));
    stage.store.done();

    assertThat(stage.upstream.waiting()).isZero();
    assertThat(stage.store.commands()).containsExactly("reserve 1", "release 1");
    isOver(stage);
  }

  @Test
  void clientThatGoesInsideItsRequestCutsItAndLeavesTheOutcomeUnknown() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", 6);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    body(call, "one");
    call.exchange().clientGone();
    stage.store.done();

    assertThat(connection.isCancelled()).isTrue();
    assertThat(connection.isEnded()).isFalse();
    assertThat(stage.store.commands()).containsExactly("reserve 1", "Unknown 1");
    assertThat(stage.store.fingerprints()).containsOnly(OPEN);
    isOver(stage);
  }

  @Test
  void clientThatGoesAfterItsRequestChangesNothing() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", 3);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    body(call, "one");
    call.exchange().bodyEnd();
    call.exchange().clientGone();
    stage.store.done();
    assertThat(connection.isEnded()).isTrue();
    answer(connection.receiver(), 201, "made");
    stage.store.done();

    assertThat(stage.store.commands()).endsWith("Completed 1");
    isOver(stage);
  }

  @Test
  void requestThatGrowsOverTheLimitIsCutAndUnknown() {
    Stage stage = Stage.with().streamsRequest().requestLimit(5).open();
    Stage.Call call = stage.upload("k", -1);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    body(call, "12345");
    TextChunk over = new TextChunk("6");
    call.exchange().body(over);
    stage.store.done();

    assertThat(call.client().problem()).isEqualTo("body-too-large");
    assertThat(connection.isCancelled()).isTrue();
    assertThat(connection.text()).isEqualTo("12345");
    assertThat(over.released()).isEqualTo(1);
    assertThat(stage.store.commands()).containsExactly("reserve 1", "Unknown 1");
    isOver(stage);
  }

  @Test
  void requestThatIsAnnouncedTooLargeIsNotReserved() {
    Stage stage = Stage.with().streamsRequest().requestLimit(5).open();
    Stage.Call call = stage.upload("k", 6);

    assertThat(call.client().problem()).isEqualTo("body-too-large");
    assertThat(stage.store.commands()).isEmpty();
    isOver(stage);
  }

  @Test
  void upstreamThatGoesInsideTheRequestLeavesTheOutcomeUnknown() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", 6);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    body(call, "one");
    connection.receiver().failed(Failure.CLOSED);
    stage.store.done();
    TextChunk late = new TextChunk("two");
    call.exchange().body(late);
    call.exchange().bodyEnd();

    assertThat(call.client().problem()).isEqualTo("outcome-unknown");
    assertThat(late.released()).isEqualTo(1);
    assertThat(stage.store.commands()).containsExactly("reserve 1", "Unknown 1");
    isOver(stage);
  }

  @Test
  void upstreamThatStopsReadingIsCutWhenItIsOverdue() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", 6);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    body(call, "one");
    connection.receiver().overdue();
    stage.store.done();

    assertThat(call.client().status()).isEqualTo(504);
    assertThat(connection.isCancelled()).isTrue();
    isOver(stage);
  }

  @Test
  void stopInsideTheRequestCutsItAndLeavesTheOutcomeUnknown() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", 6);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    body(call, "one", "two");
    stage.exchanges.abandon();
    stage.store.done();

    assertThat(connection.isCancelled()).isTrue();
    assertThat(connection.isEnded()).isFalse();
    assertThat(stage.store.commands()).containsExactly("reserve 1", "Unknown 1");
    isOver(stage);
  }

  // ---- the upstream answers early

  @Test
  void earlyResponseIsStoredWhenTheRestOfTheRequestHasBeenSeen() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", 6);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    body(call, "one");
    answer(connection.receiver(), 413, "too much");
    assertThat(call.client().hasHead()).isFalse();
    body(call, "two");
    call.exchange().bodyEnd();
    assertThat(connection.text()).isEqualTo("one");
    stage.store.done();

    assertThat(stage.store.commands()).containsExactly("reserve 1", "Completed 1");
    assertThat(stage.store.fingerprints()).endsWith(Stage.fingerprint("onetwo"));
    assertThat(call.client().text()).isEqualTo("too much");
    isOver(stage);
  }

  @Test
  void earlyResponseIsNotKeptWhereTheRestNeverComes() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", 6);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    body(call, "one");
    answer(connection.receiver(), 413, "too much");
    stage.scheduler.advance(Duration.ofMillis(5_100));
    while (stage.store.open() > 0) {
      stage.store.done();
    }

    assertThat(stage.store.commands()).endsWith("NotKept 1");
    assertThat(stage.store.fingerprints()).containsOnly(OPEN);
    assertThat(call.client().text()).isEqualTo("too much");
    isOver(stage);
  }

  @Test
  void earlyResponseIsNotKeptWhereTheClientGoes() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", 6);
    stage.store.acquire();
    body(call, "one");
    answer(stage.upstream.connect().receiver(), 413, "too much");
    call.exchange().clientGone();
    stage.store.done();

    assertThat(stage.store.commands()).containsExactly("reserve 1", "NotKept 1");
    isOver(stage);
  }

  @Test
  void earlyResponseToAnEndlessRestIsGivenAtOnce() {
    Stage stage = Stage.with().streamsRequest().requestLimit(1L << 40).open();
    Stage.Call call = stage.upload("k", 1L << 40);
    stage.store.acquire();
    answer(stage.upstream.connect().receiver(), 413, "too much");
    stage.store.done();

    assertThat(stage.store.commands()).containsExactly("reserve 1", "NotKept 1");
    assertThat(call.client().text()).isEqualTo("too much");
    isOver(stage);
  }

  @Test
  void earlyResponseThatReleasesNeedsNoFingerprint() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", 6);
    stage.store.acquire();
    answer(stage.upstream.connect().receiver(), 401, "who?");
    stage.store.done();

    assertThat(stage.store.commands()).containsExactly("reserve 1", "release 1");
    assertThat(call.client().text()).isEqualTo("who?");
    isOver(stage);
  }

  // ---- a duplicate

  static Stream<Arguments> open() {
    return Stream.of(
        Arguments.of(IN_FLIGHT, "request-in-flight"),
        Arguments.of(UNKNOWN, "outcome-unknown"),
        Arguments.of(new NotKept(413), "response-not-kept"),
        Arguments.of(DONE, "response-not-kept"));
  }

  @ParameterizedTest
  @MethodSource("open")
  void duplicateOfARequestThatIsNotWholeIsRefusedUnread(
      StoredOperation.State state, String problem) {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", -1);
    stage.store.existing(1, OPEN, state);

    assertThat(call.client().problem()).isEqualTo(problem);
    assertThat(call.client().isBodyWanted()).isFalse();
    isOver(stage);
  }

  static Stream<Arguments> known() {
    return Stream.of(
        Arguments.of(IN_FLIGHT, 409),
        Arguments.of(UNKNOWN, 409),
        Arguments.of(new NotKept(200), 409),
        Arguments.of(DONE, 201));
  }

  @ParameterizedTest
  @MethodSource("known")
  void duplicateOfAWholeRequestIsReadAndJudged(StoredOperation.State state, int status) {
    for (String body : new String[] {"same", "other"}) {
      Stage stage = Stage.with().streamsRequest().open();
      Stage.Call call = stage.upload("k", -1);
      stage.store.existing(1, Stage.fingerprint("same"), state);
      assertThat(call.client().isBodyWanted()).isTrue();
      assertThat(call.client().hasHead()).isFalse();
      body(call, body);
      call.exchange().bodyEnd();
      stage.store.found(1, Stage.fingerprint("same"), state);

      assertThat(call.client().status()).isEqualTo(body.equals("same") ? status : 422);
      assertThat(stage.store.commands()).containsExactly("reserve 1", "find");
      assertThat(stage.upstream.waiting()).isZero();
      isOver(stage);
    }
  }

  @Test
  void duplicateThatWaitsGetsTheReplay() {
    Stage stage = Stage.with().streamsRequest().patience(Duration.ofSeconds(2)).open();
    Stage.Call call = stage.upload("k", -1);
    stage.store.existing(1, OPEN, IN_FLIGHT);
    stage.store.tell();
    stage.store.found(1, Stage.fingerprint("same"), IN_FLIGHT);
    body(call, "same");
    call.exchange().bodyEnd();
    stage.store.found(1, Stage.fingerprint("same"), IN_FLIGHT);
    stage.store.tell();
    stage.store.found(1, Stage.fingerprint("same"), DONE);

    assertThat(call.client().text()).isEqualTo("made");
    isOver(stage);
  }

  @Test
  void duplicateWhoseRecordIsGoneWhenItHasBeenReadComesAgain() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", -1);
    stage.store.existing(1, Stage.fingerprint("same"), IN_FLIGHT);
    body(call, "same");
    call.exchange().bodyEnd();
    stage.store.reply(Optional.empty());

    assertThat(call.client().problem()).isEqualTo("request-in-flight");
    assertThat(call.client().headers().get("Retry-After")).isEqualTo("1");
    isOver(stage);
  }

  @Test
  void duplicateOverTheLimitIsRefused() {
    Stage stage = Stage.with().streamsRequest().requestLimit(5).open();
    Stage.Call call = stage.upload("k", -1);
    stage.store.existing(1, Stage.fingerprint("same"), DONE);
    body(call, "12345", "6");

    assertThat(call.client().problem()).isEqualTo("body-too-large");
    isOver(stage);
  }

  @Test
  void duplicateWhoseClientGoesLeavesNothing() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", -1);
    stage.store.existing(1, Stage.fingerprint("same"), DONE);
    body(call, "sa");
    call.exchange().clientGone();

    assertThat(stage.heard.results()).containsExactly(Result.CLIENT_GONE);
    isOver(stage);
  }

  // ---- the next attempt

  @Test
  void openRecordIsFollowedByAnyRequest() {
    Stage stage = Stage.with().streamsRequest().retry().open();
    Stage.Call call = stage.upload("k", -1);
    stage.store.existing(1, OPEN, UNKNOWN);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    body(call, "another");
    call.exchange().bodyEnd();
    stage.store.done();

    assertThat(connection.isEnded()).isTrue();
    assertThat(stage.store.commands()).containsExactly("reserve 1", "takeOver 2", "renew 2");
    assertThat(stage.store.fingerprints())
        .containsExactly(OPEN, OPEN, Stage.fingerprint("another"));
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 4})
  void wholeRequestIsFollowedByTheSame(long length) {
    Stage stage = Stage.with().streamsRequest().retry().open();
    Stage.Call call = stage.upload("k", length);
    AttemptToken holder = AttemptToken.next();
    stage.store.unknown(1, Stage.fingerprint("same"), holder);
    assertThat(stage.store.reservations().get(1).follows()).isEqualTo(holder);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    body(call, "sa", "me");
    call.exchange().bodyEnd();
    assertThat(connection.isEnded()).isFalse();
    stage.store.done();

    assertThat(connection.isEnded()).isTrue();
    assertThat(connection.text()).isEqualTo("same");
    assertThat(stage.store.commands()).containsExactly("reserve 1", "takeOver 2", "renew 2");
    answer(connection.receiver(), 201, "made");
    stage.store.done();
    assertThat(call.client().text()).isEqualTo("made");
    isOver(stage);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 4})
  void anotherRequestThatFollowsAWholeOneNeverEnds(long length) {
    Stage stage = Stage.with().streamsRequest().retry().open();
    Stage.Call call = stage.upload("k", length);
    stage.store.existing(1, Stage.fingerprint("same"), UNKNOWN);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    body(call, "sa", "xx");
    call.exchange().bodyEnd();
    stage.store.done();

    assertThat(connection.isEnded()).isFalse();
    assertThat(connection.isCancelled()).isTrue();
    assertThat(connection.text()).isEqualTo(length < 0 ? "saxx" : "sa");
    assertThat(call.client().problem()).isEqualTo("key-reused");
    assertThat(stage.store.commands()).containsExactly("reserve 1", "takeOver 2", "Unknown 2");
    assertThat(stage.store.fingerprints()).endsWith(Stage.fingerprint("same"));
    isOver(stage);
  }

  @Test
  void anotherRequestThatFindsItselfFencedGetsNoReplay() {
    Stage stage = Stage.with().streamsRequest().retry().open();
    Stage.Call call = stage.upload("k", -1);
    stage.store.existing(1, Stage.fingerprint("same"), UNKNOWN);
    stage.store.acquire();
    stage.upstream.connect();
    body(call, "other");
    call.exchange().bodyEnd();
    stage.store.fence(3, DONE);

    assertThat(call.client().problem()).isEqualTo("key-reused");
    isOver(stage);
  }

  @Test
  void requestThatIsFencedBeforeItWasSeenWholeGetsNoReplay() {
    Stage stage = Stage.with().streamsRequest().retry().open();
    Stage.Call call = stage.upload("k", -1);
    stage.store.existing(1, Stage.fingerprint("same"), UNKNOWN);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    body(call, "sa");
    connection.receiver().failed(Failure.CLOSED);
    stage.store.fence(3, DONE);

    assertThat(call.client().problem()).isEqualTo("request-in-flight");
    isOver(stage);
  }

  @Test
  void takeOverThatComesTooLateIsReadAndJudged() {
    for (String body : new String[] {"same", "other"}) {
      Stage stage = Stage.with().streamsRequest().retry().open();
      Stage.Call call = stage.upload("k", -1);
      stage.store.existing(1, Stage.fingerprint("same"), UNKNOWN);
      stage.store.existing(1, Stage.fingerprint("same"), DONE);
      assertThat(call.client().hasHead()).isFalse();
      assertThat(call.client().isBodyWanted()).isTrue();
      body(call, body);
      call.exchange().bodyEnd();
      stage.store.found(1, Stage.fingerprint("same"), DONE);

      assertThat(call.client().status()).isEqualTo(body.equals("same") ? 201 : 422);
      isOver(stage);
    }
  }

  @Test
  void takeOverOfARecordThatIsGoneClaimsNothing() {
    Stage stage = Stage.with().streamsRequest().retry().open();
    stage.upload("k", -1);
    stage.store.existing(1, Stage.fingerprint("same"), UNKNOWN);
    stage.store.reply(ReserveReply.GONE);

    assertThat(stage.store.commands()).containsExactly("reserve 1", "takeOver 2", "reserve 1");
    assertThat(stage.store.fingerprints()).endsWith(OPEN);
  }

  @Test
  void uploadThatLostItsLeaseToAnotherAttemptNeverEnds() {
    Stage stage = Stage.with().streamsRequest().retry().open();
    Stage.Call call = stage.upload("k", -1);
    stage.store.existing(1, Stage.fingerprint("same"), UNKNOWN);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    body(call, "same");
    call.exchange().bodyEnd();
    stage.store.fence(3, DONE);

    assertThat(connection.isEnded()).isFalse();
    assertThat(connection.isCancelled()).isTrue();
    assertThat(call.client().text()).isEqualTo("made");
    isOver(stage);
  }

  @Test
  void duplicateWhoseClientGoesWhileTheStoreIsAskedLeavesNothing() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", -1);
    call.exchange().clientGone();
    stage.store.existing(1, Stage.fingerprint("same"), DONE);

    assertThat(call.exchange().isOver()).isTrue();
    assertThat(stage.heard.results()).containsExactly(Result.CLIENT_GONE);
    isOver(stage);
  }

  @Test
  void duplicateIsNotReadAnyMoreWhenTheGatewayStops() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", -1);
    stage.exchanges.abandon();
    stage.store.existing(1, Stage.fingerprint("same"), DONE);

    assertThat(call.client().problem()).isEqualTo("shutting-down");
    isOver(stage);
  }

  // ---- the store is away

  @Test
  void bypassStreamsWithoutAnAttemptAndSaysSo() {
    Stage stage = Stage.with().streamsRequest().bypass().open();
    Stage.Call call = stage.upload("k", 6);
    stage.store.failNotExecuted();
    Connection connection = stage.upstream.connect();
    body(call, "one", "two");
    call.exchange().bodyEnd();
    answer(connection.receiver(), 201, "made");

    assertThat(connection.text()).isEqualTo("onetwo");
    assertThat(connection.isEnded()).isTrue();
    assertThat(connection.head().headers().contains("Idempotency-Attempt")).isFalse();
    assertThat(call.client().headers().get("Idempotency-Bypassed")).isEqualTo("true");
    isOver(stage);
  }

  @Test
  void storeThatIsAwayRefusesBeforeTheBodyIsRead() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", 6);
    stage.store.failNotExecuted();

    assertThat(call.client().problem()).isEqualTo("store-unavailable");
    assertThat(call.client().isBodyWanted()).isFalse();
    isOver(stage);
  }

  @Test
  void laterHeadOfAResponseIsPassedOnWhileTheRequestStreams() {
    Stage stage = Stage.with().streamsRequest().streaming().open();
    Stage.Call call = stage.upload("k", -1);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    body(call, "one");
    connection.receiver().head(new ResponseHead(200, new Headers()), -1);
    connection.receiver().chunk(new TextChunk("echo"));
    connection.receiver().flush();
    assertThat(call.client().text()).isEqualTo("echo");
    body(call, "two");
    call.exchange().bodyEnd();
    stage.store.done();
    connection.receiver().end(new Headers());
    stage.store.done();

    assertThat(connection.text()).isEqualTo("onetwo");
    assertThat(call.client().isAnswered()).isTrue();
    assertThat(stage.store.commands()).endsWith("Completed 1");
    isOver(stage);
  }

  private static void isOver(Stage stage) {
    assertThat(stage.exchanges.underWay()).isZero();
    assertThat(stage.exchanges.deferredWrites()).isZero();
    assertThat(stage.budget.used()).isZero();
    assertThat(stage.store.open()).isZero();
  }
}
