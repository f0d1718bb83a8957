package dev.idempotency.gateway.exchange;

import static dev.idempotency.gateway.exchange.Stage.answer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.FakeUpstream.Connection;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.StoredOperation.Completed;
import dev.idempotency.gateway.idempotency.StoredOperation.InFlight;
import dev.idempotency.gateway.idempotency.StoredOperation.NotKept;
import dev.idempotency.gateway.idempotency.StoredOperation.OutcomeUnknown;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A route that only observes: everything is found out, nothing is refused or replayed. */
class ObserveTest {

  private static final Completed DONE =
      new Completed(new StoredResponse(201, new Headers(), new byte[] {'x'}, new Headers()));

  private final Stage stage = Stage.with().observe().open();

  private static void isOver(Stage stage) {
    assertThat(stage.budget.used()).isZero();
    assertThat(stage.exchanges.underWay()).isZero();
  }

  /** It went on, and its client got the answer to its own request and no word of it. */
  private static void passed(Stage stage, Stage.Call call, Connection connection, String body) {
    assertThat(connection.text()).isEqualTo(body);
    assertThat(connection.head().headers().contains("Idempotency-Attempt")).isFalse();
    answer(connection.receiver(), 200, "own", "X", "y");
    assertThat(call.client().status()).isEqualTo(200);
    assertThat(call.client().text()).isEqualTo("own");
    call.client()
        .headers()
        .forEach((name, value) -> assertThat(name).doesNotStartWithIgnoringCase("Idempot"));
    assertThat(call.exchange().isOver()).isTrue();
    isOver(stage);
  }

  @Test
  void firstRequestIsReservedForwardedAndSettledAsAlways() {
    Stage.Call call = stage.acquired();
    Connection connection = stage.upstream.connect();
    assertThat(connection.head().headers().get("Idempotency-Attempt")).isEqualTo("1");
    answer(connection.receiver(), 201, "made");
    stage.store.done();

    assertThat(call.client().text()).isEqualTo("made");
    assertThat(stage.store.commands()).containsExactly("reserve 1", "Completed 1");
    assertThat(stage.heard.results()).containsExactly(Result.COMPLETED);
    assertThat(stage.heard.wouldBe()).containsExactly((Result) null);
    isOver(stage);
  }

  static Stream<Arguments> duplicates() {
    return Stream.of(
        Arguments.of(DONE, "{}", Result.REPLAYED),
        Arguments.of(DONE, "other", Result.KEY_REUSED),
        Arguments.of(new InFlight(Duration.ofSeconds(3)), "{}", Result.IN_FLIGHT),
        Arguments.of(new InFlight(Duration.ofSeconds(3)), "other", Result.KEY_REUSED),
        Arguments.of(new OutcomeUnknown(false), "{}", Result.HELD),
        Arguments.of(new NotKept(200), "{}", Result.GONE));
  }

  @ParameterizedTest
  @MethodSource("duplicates")
  void duplicateIsForwardedWithItsBodyAndLeavesTheRecordAlone(
      StoredOperation.State state, String body, Result wouldBe) {
    Stage patient = Stage.with().observe().patience(Duration.ofSeconds(9)).open();
    Stage.Call call = patient.whole("k", body);
    patient.store.existing(1, Stage.fingerprint("{}"), state);

    passed(patient, call, patient.upstream.connect(), body);
    assertThat(patient.store.commands()).containsExactly("reserve 1");
    assertThat(patient.heard.results()).containsExactly(Result.PASSED);
    assertThat(patient.heard.wouldBe()).containsExactly(wouldBe);
  }

  @Test
  void requestWithoutAKeyIsForwarded() {
    Stage.Call call = stage.keyless(2);
    Connection connection = stage.upstream.connect();
    call.exchange().body(new TextChunk("{}"));
    call.exchange().bodyEnd();

    passed(stage, call, connection, "{}");
    assertThat(connection.announced()).isEqualTo(2);
    assertThat(stage.heard.wouldBe()).containsExactly(Result.KEY_MISSING);
  }

  @Test
  void requestWithABadKeyIsForwardedWithIt() {
    Stage.Call call = stage.post("");
    Connection connection = stage.upstream.connect();
    call.exchange().bodyEnd();

    assertThat(connection.head().headers().all("Idempotency-Key")).containsExactly("");
    passed(stage, call, connection, "");
    assertThat(stage.heard.wouldBe()).containsExactly(Result.KEY_INVALID);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void storeThatDoesNotAnswerKeepsNobodyOut(boolean bypass) {
    Stage.Settings settings = Stage.with().observe();
    Stage away = (bypass ? settings.bypass() : settings).open();
    Stage.Call call = away.whole("k", "{}");
    away.store.failNotExecuted();

    passed(away, call, away.upstream.connect(), "{}");
    assertThat(away.heard.results()).containsExactly(Result.PASSED);
    assertThat(away.heard.wouldBe())
        .containsExactly(bypass ? Result.BYPASSED : Result.STORE_UNAVAILABLE);
  }

  @Test
  void requestWhoseLeaseCanNotBeSecuredIsForwardedAllTheSame() {
    Stage.Call call = stage.acquired();
    stage.scheduler.stopFor(Stage.LEASE.plusSeconds(1));
    stage.upstream.connect();
    stage.store.failNotExecuted();
    stage.store.done();

    passed(stage, call, stage.upstream.connect(), "{}");
    assertThat(stage.heard.wouldBe()).containsExactly(Result.STORE_UNAVAILABLE);
  }

  @Test
  void requestThatLostItsRecordBeforeItWasSentIsForwardedAllTheSame() {
    Stage.Call call = stage.acquired();
    stage.scheduler.stopFor(Stage.LEASE.plusSeconds(1));
    stage.upstream.connect();
    stage.store.fence(2, DONE);

    passed(stage, call, stage.upstream.connect(), "{}");
    assertThat(stage.heard.wouldBe()).containsExactly(Result.REPLAYED);
  }

  @Test
  void requestThatLostItsRecordMeanwhileGetsItsOwnAnswer() {
    Stage.Call call = stage.acquired();
    answer(stage.upstream.connect().receiver(), 201, "own");
    stage.store.fence(2, DONE);

    assertThat(call.client().text()).isEqualTo("own");
    assertThat(stage.heard.events()).containsExactly("fenced");
    assertThat(stage.heard.results()).containsExactly(Result.NOT_KEPT);
    isOver(stage);
  }

  @Test
  void upstreamThatCanNotBeReachedIsToldAsAProxyTellsIt() {
    Stage.Call call = stage.whole("k", "{}");
    stage.store.existing(1, DONE);
    stage.upstream.refuse(Upstream.Refusal.UNREACHABLE);

    assertThat(call.client().status()).isEqualTo(502);
    assertThat(stage.heard.results()).containsExactly(Result.NOT_SENT);
    assertThat(stage.heard.wouldBe()).containsExactly(Result.REPLAYED);
    isOver(stage);
  }

  @Test
  void duplicateWhoseClientIsGoneIsNotForwarded() {
    Stage.Call call = stage.whole("k", "{}");
    call.exchange().clientGone();
    stage.store.existing(1, DONE);

    assertThat(stage.upstream.waiting()).isZero();
    assertThat(stage.heard.results()).containsExactly(Result.CLIENT_GONE);
    isOver(stage);
  }

  // ---- bodies that are not gathered to their end

  @Test
  void bodyOverTheLimitStreamsOnBehindWhatWasGathered() {
    Stage small = Stage.with().observe().requestLimit(4).open();
    Stage.Call call = small.post("k");
    call.exchange().body(new TextChunk("1234"));
    TextChunk over = new TextChunk("5");
    call.exchange().body(over);
    TextChunk next = new TextChunk("6");
    call.exchange().body(next);
    assertThat(call.client().isBodyPaused()).isTrue();
    Connection connection = small.upstream.connect();
    assertThat(connection.announced()).isEqualTo(-1);
    assertThat(connection.text()).isEqualTo("123456");
    assertThat(call.client().isBodyPaused()).isFalse();
    call.exchange().body(new TextChunk("7"));
    assertThat(connection.isEnded()).isFalse();
    call.exchange().bodyEnd();

    assertThat(connection.isEnded()).isTrue();
    passed(small, call, connection, "1234567");
    assertThat(over.released()).isEqualTo(1);
    assertThat(next.released()).isEqualTo(1);
    assertThat(small.store.commands()).isEmpty();
    assertThat(small.heard.wouldBe()).containsExactly(Result.TOO_LARGE);
  }

  @Test
  void bodyOverTheLimitObeysBackPressure() {
    Stage small = Stage.with().observe().requestLimit(4).open();
    Stage.Call call = small.post("k");
    call.exchange().body(new TextChunk("1234"));
    call.exchange().body(new TextChunk("5"));
    Connection connection = small.upstream.connect(c -> c.writable(false));
    assertThat(call.client().isBodyPaused()).isTrue();

    connection.writable(true);
    connection.receiver().writable();
    assertThat(call.client().isBodyPaused()).isFalse();
    call.exchange().bodyEnd();
    passed(small, call, connection, "12345");
  }

  @Test
  void bodyOverTheLimitThatIsWholeBeforeThereIsAConnectionIsSentWhole() {
    Stage small = Stage.with().observe().requestLimit(4).open();
    Stage.Call call = small.post("k");
    call.exchange().body(new TextChunk("12345"));
    call.exchange().bodyEnd();
    Connection connection = small.upstream.connect();

    assertThat(connection.isEnded()).isTrue();
    passed(small, call, connection, "12345");
  }

  @Test
  void bodyOverTheLimitIsReleasedWhereNoUpstreamIsReached() {
    Stage small = Stage.with().observe().requestLimit(4).open();
    Stage.Call call = small.post("k");
    call.exchange().body(new TextChunk("1234"));
    List<TextChunk> chunks = List.of(new TextChunk("5"), new TextChunk("6"), new TextChunk("7"));
    call.exchange().body(chunks.get(0));
    call.exchange().body(chunks.get(1));
    small.upstream.refuse(Upstream.Refusal.UNREACHABLE);
    call.exchange().body(chunks.get(2));
    call.exchange().bodyEnd();

    assertThat(chunks).allMatch(chunk -> chunk.released() == 1);
    assertThat(call.client().status()).isEqualTo(502);
    assertThat(call.client().isBodyPaused()).isFalse();
    isOver(small);
  }

  @Test
  void bodyOverTheLimitIsReleasedWithItsClient() {
    Stage small = Stage.with().observe().requestLimit(4).open();
    Stage.Call call = small.post("k");
    call.exchange().body(new TextChunk("1234"));
    TextChunk over = new TextChunk("5");
    call.exchange().body(over);
    call.exchange().clientGone();
    Connection connection = small.upstream.connect();

    assertThat(over.released()).isEqualTo(1);
    assertThat(connection.isGivenBack()).isTrue();
    isOver(small);
  }

  @Test
  void bodyThatFindsNoMemoryStreamsOn() {
    Stage tight = Stage.with().observe().budget(6).open();
    Stage.Call holding = tight.post("a");
    holding.exchange().body(new TextChunk("1234"));
    Stage.Call call = tight.post("b");
    call.exchange().body(new TextChunk("56"));
    call.exchange().body(new TextChunk("78"));
    Connection connection = tight.upstream.connect();
    call.exchange().bodyEnd();
    holding.exchange().clientGone();

    passed(tight, call, connection, "5678");
    assertThat(tight.heard.wouldBe()).containsExactly(null, Result.OVERLOADED);
  }

  @Test
  void announcedBodyOverTheLimitStreamsThrough() {
    Stage small = Stage.with().observe().requestLimit(4).open();
    Stage.Call call = small.upload("k", 5);
    Connection connection = small.upstream.connect();
    call.exchange().body(new TextChunk("12345"));
    call.exchange().bodyEnd();

    passed(small, call, connection, "12345");
    assertThat(small.heard.wouldBe()).containsExactly(Result.TOO_LARGE);
  }

  // ---- bodies that stream

  static Stream<Arguments> uploads() {
    return Stream.of(
        Arguments.of(DONE, "{}", Result.REPLAYED),
        Arguments.of(DONE, "other", Result.KEY_REUSED),
        Arguments.of(new OutcomeUnknown(false), "{}", Result.HELD));
  }

  @ParameterizedTest
  @MethodSource("uploads")
  void duplicateThatStreamsIsHashedOnItsWay(
      StoredOperation.State state, String body, Result wouldBe) {
    Stage streams = Stage.with().observe().streamsRequest().open();
    Stage.Call call = streams.upload("k", body.length());
    streams.store.existing(1, Stage.fingerprint("{}"), state);
    Connection connection = streams.upstream.connect();
    assertThat(call.client().isBodyWanted()).isTrue();
    call.exchange().body(new TextChunk(body));
    call.exchange().bodyEnd();

    passed(streams, call, connection, body);
    assertThat(streams.store.commands()).containsExactly("reserve 1");
    assertThat(streams.heard.wouldBe()).containsExactly(wouldBe);
  }

  @Test
  void streamOverTheLimitGoesOn() {
    Stage streams = Stage.with().observe().streamsRequest().requestLimit(4).open();
    Stage.Call call = streams.upload("k", -1);
    streams.store.acquire();
    Connection connection = streams.upstream.connect();
    call.exchange().body(new TextChunk("12345"));
    call.exchange().bodyEnd();
    streams.store.done();
    assertThat(connection.text()).isEqualTo("12345");
    assertThat(connection.isEnded()).isTrue();
    answer(connection.receiver(), 200, "own");
    streams.store.done();

    assertThat(call.client().text()).isEqualTo("own");
    assertThat(streams.heard.wouldBe()).containsExactly(Result.TOO_LARGE);
    isOver(streams);
  }
}
