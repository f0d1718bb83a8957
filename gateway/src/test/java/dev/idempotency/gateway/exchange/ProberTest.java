package dev.idempotency.gateway.exchange;

import static dev.idempotency.gateway.exchange.Stage.answer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.OpenOperations.ProbeClaim;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.StoredOperation.Completed;
import dev.idempotency.gateway.idempotency.StoredOperation.InFlight;
import dev.idempotency.gateway.idempotency.StoredOperation.OutcomeUnknown;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A duplicate of an operation whose outcome is unknown has the upstream asked. */
class ProberTest {

  private static final Completed DONE =
      new Completed(new StoredResponse(201, Headers.of(), new byte[] {'a'}, new Headers()));
  private static final AttemptToken HOLDER = AttemptToken.next();

  private static ProbeClaim claimed(int tries) {
    return new ProbeClaim.Claimed(HOLDER, tries, Duration.ofMinutes(1));
  }

  private static ProbeClaim busy(long millis) {
    return new ProbeClaim.Busy(Duration.ofMillis(millis));
  }

  /** A duplicate that wants to probe; its claim is awaited. */
  private static Stage.Call duplicate(Stage stage, String... fields) {
    Stage.Call call = stage.whole("k", "{}", fields);
    stage.store.existing(1, new OutcomeUnknown(false));
    return call;
  }

  /** The question is on its way. */
  private static FakeUpstream.Connection asked(Stage stage, int tries) {
    stage.store.reply(claimed(tries));
    stage.store.reply(ResolveReply.DONE);
    return stage.upstream.connect();
  }

  private static void assertHeld(Stage.Call call, String after) {
    assertThat(call.client().status()).isEqualTo(409);
    assertThat(call.client().problem()).isEqualTo("outcome-unknown");
    assertThat(call.client().headers().get("Retry-After")).isEqualTo(after);
  }

  // ---- what is asked

  @Test
  void questionBringsWhoseKeyItIsToTheRoutesOwnUpstream() {
    Stage stage =
        Stage.with()
            .probe(ProbeRules.url())
            .scope(new ScopePart.Credential("X-Api-Key"), new ScopePart.Header("X-Tenant"))
            .open();
    Stage.Call unused =
        duplicate(
            stage, "X-Api-Key", "secret", "X-Tenant", "acme", "Cookie", "a=b", "X-Other", "no");
    Headers fields = asked(stage, 0).head().headers();

    assertThat(fields.get("X-Api-Key")).isEqualTo("secret");
    assertThat(fields.get("X-Tenant")).isEqualTo("acme");
    assertThat(fields.get("Cookie")).isEqualTo("a=b");
    assertThat(fields.contains("X-Other")).isFalse();
    assertThat(fields.get("Cache-Control")).isEqualTo("no-cache, no-store");
    assertThat(fields.get("Idempotency-Attempt")).isEqualTo("1");
  }

  @Test
  void anotherUpstreamHearsNothingOfTheCallersCredentials() {
    FakeUpstream other = new FakeUpstream();
    Stage stage =
        Stage.with()
            .probe(ProbeRules.asking(other, "Authorization", "Bearer gateway"))
            .scope(new ScopePart.Credential("X-Api-Key"), new ScopePart.Credential("Authorization"))
            .open();
    Stage.Call unused =
        duplicate(stage, "X-Api-Key", "secret", "Authorization", "Bearer alice", "Cookie", "a=b");
    stage.store.reply(claimed(0));
    stage.store.reply(ResolveReply.DONE);
    Headers fields = other.connect().head().headers();

    assertThat(fields.all("Authorization")).containsExactly("Bearer gateway");
    assertThat(fields.contains("X-Api-Key")).isFalse();
    assertThat(fields.contains("Cookie")).isFalse();
  }

  @Test
  void requestItselfIsSentAsAQuestionAndItsAnswerKept() {
    Stage stage = Stage.with().probe(ProbeRules.same()).open();
    Stage.Call call = duplicate(stage, "Authorization", "Bearer alice");
    FakeUpstream.Connection question = asked(stage, 0);
    assertThat(question.head().method()).isEqualTo("POST");
    assertThat(question.text()).isEqualTo("{}");
    assertThat(question.head().headers().all("Idempotency-Probe")).containsExactly("true");
    answer(question.receiver(), 200, "made");
    stage.store.reply(ResolveReply.DONE);
    stage.store.found(1, Stage.fingerprint("{}"), DONE);

    assertThat(call.client().status()).isEqualTo(201);
    assertThat(call.client().headers().get("Idempotent-Replayed")).isEqualTo("true");
  }

  @Test
  void keyThatCannotBeAskedAboutIsHeldAndCounted() {
    Stage stage = Stage.with().probe(ProbeRules.url()).open();
    Stage.Call call = stage.whole("..", "{}");
    stage.store.existing(1, new OutcomeUnknown(false));

    assertHeld(call, null);
    assertThat(stage.heard.events()).containsExactly("probed unaskable");
    assertThat(stage.store.commands()).containsExactly("reserve 1");
  }

  // ---- what the answer means

  @ParameterizedTest
  @CsvSource({
    "200, '', completed",
    "404, '', never",
    "201, '', nothing",
    "206, completed, nothing",
    "304, completed, nothing",
    "302, '', nothing",
    "500, '', nothing",
    "409, completed, completed",
    "410, released, never",
    "401, released, nothing",
    "403, completed, nothing",
    "429, released, nothing",
    "503, released, nothing",
    "404, pending, nothing",
    "200, unknown, nothing",
    "200, released, never",
    "404, completed, completed",
  })
  void answerIsBelievedWhereItIsSurelyOfTheOperation(int status, String word, String finding) {
    Stage stage = Stage.with().probe(ProbeRules.url()).open();
    Stage.Call unused = duplicate(stage);
    FakeUpstream.Connection question = asked(stage, 0);
    String[] fields = word.isEmpty() ? new String[0] : new String[] {"Idempotency-Outcome", word};
    answer(question.receiver(), status, "made", fields);

    assertThat(stage.heard.events()).containsExactly("probed " + finding);
  }

  @ParameterizedTest
  @ValueSource(ints = {200, 404})
  void answerOutOfACacheTellsNothing(int status) {
    Stage stage = Stage.with().probe(ProbeRules.url()).open();
    Stage.Call call = duplicate(stage);
    answer(asked(stage, 0).receiver(), status, "made", "Age", "7");

    assertHeld(call, "1");
    assertThat(stage.heard.events()).containsExactly("probed nothing");
  }

  @Test
  void responseWithoutABodyGetsNoneFromTheAnswer() {
    Stage stage = Stage.with().probe(ProbeRules.url()).open();
    Stage.Call unused = duplicate(stage);
    answer(asked(stage, 0).receiver(), 200, "made", "Idempotency-Status", "204");
    Resolution resolution = stage.store.resolutions().get(1);
    StoredResponse stored = ((Resolution.Complete) resolution.action()).response();

    assertThat(stored.status()).isEqualTo(204);
    assertThat(stored.body()).isEmpty();
    assertThat(resolution.holder()).isEqualTo(HOLDER);
  }

  @Test
  void answerThatIsCutTellsNothing() {
    Stage stage = Stage.with().probe(ProbeRules.url()).open();
    Stage.Call call = duplicate(stage);
    ResponseReceiver receiver = asked(stage, 0).receiver();
    receiver.head(new dev.idempotency.gateway.http.ResponseHead(200, new Headers()), 10);
    receiver.chunk(new TextChunk("ma"));
    receiver.failed(ResponseReceiver.Failure.CLOSED);

    assertHeld(call, "1");
    assertThat(stage.store.resolutions()).hasSize(1);
  }

  @Test
  void answerThatIsTooLongTellsNothing() {
    Stage stage = Stage.with().probe(ProbeRules.url()).responseLimit(3).open();
    Stage.Call call = duplicate(stage);
    FakeUpstream.Connection question = asked(stage, 0);
    answer(question.receiver(), 200, "made");

    assertHeld(call, "1");
    assertThat(question.isCancelled()).isTrue();
    assertThat(stage.heard.events()).containsExactly("probed nothing");
  }

  @Test
  void upstreamThatCannotBeReachedTellsNothingAndThePauseGrowsToItsEnd() {
    Stage stage = Stage.with().probe(ProbeRules.url()).open();
    String[] pauses = {"1", "2", "4", "8", "8", "8"};
    for (int i = 0; i < pauses.length; i++) {
      Stage.Call call = duplicate(stage);
      stage.store.reply(claimed(i));
      stage.store.reply(ResolveReply.DONE);
      stage.upstream.refuse(Upstream.Refusal.UNREACHABLE);
      assertHeld(call, pauses[i]);
    }
  }

  @Test
  void answerThatComesTooLateTellsNothing() {
    Stage stage = Stage.with().probe(ProbeRules.url()).open();
    Stage.Call call = duplicate(stage);
    FakeUpstream.Connection question = asked(stage, 0);
    stage.scheduler.advance(ProbeRules.TIMEOUT);
    answer(question.receiver(), 404, "");

    assertHeld(call, "1");
    assertThat(question.isCancelled()).isTrue();
    assertThat(stage.heard.events()).containsExactly("probed nothing");
  }

  // ---- what becomes of it

  @Test
  void neverIsNotBelievedBeforeItsGraceIsOver() {
    Stage stage = Stage.with().probe(ProbeRules.after(Duration.ofMinutes(2))).open();
    Stage.Call call = duplicate(stage);
    answer(asked(stage, 0).receiver(), 404, "");

    assertHeld(call, "60");
    assertThat(stage.store.resolutions()).hasSize(1);
  }

  @Test
  void whatNeverHappenedIsTakenOverByTheDuplicate() {
    Stage stage = Stage.with().probe(ProbeRules.url()).open();
    Stage.Call call = duplicate(stage);
    answer(asked(stage, 0).receiver(), 404, "");
    stage.store.acquire();
    FakeUpstream.Connection rerun = stage.upstream.connect();
    assertThat(rerun.head().headers().get("Idempotency-Attempt")).isEqualTo("2");
    answer(rerun.receiver(), 201, "run");
    stage.store.done();

    assertThat(call.client().text()).isEqualTo("run");
    assertThat(stage.store.commands())
        .containsExactly(
            "reserve 1", "claimProbe 1", "resolve 1 mark-unknown", "takeOver 2", "Completed 2");
  }

  @Test
  void whatNeverHappenedIsReleasedAndBegunAnew() {
    Stage stage = Stage.with().probe(ProbeRules.releasing()).open();
    Stage.Call call = duplicate(stage);
    FakeUpstream.Connection question = asked(stage, 0);
    assertThat(question.head().headers().contains("Idempotency-Attempt")).isFalse();
    answer(question.receiver(), 404, "");
    stage.store.reply(ResolveReply.DONE);
    assertThat(stage.store.resolutions().get(1).holder()).isEqualTo(HOLDER);
    stage.store.reply(Optional.empty());
    stage.store.acquire();
    answer(stage.upstream.connect().receiver(), 201, "run");
    stage.store.done();

    assertThat(call.client().text()).isEqualTo("run");
    assertThat(stage.store.commands())
        .endsWith("resolve 1 release", "find", "reserve 1", "Completed 1");
  }

  @Test
  void lateResponseOfTheOwnerCountsBeforeWhatTheUpstreamSays() {
    Stage stage = Stage.with().probe(ProbeRules.url()).open();
    Stage.Call call = duplicate(stage);
    answer(asked(stage, 0).receiver(), 200, "asked");
    stage.store.reply(
        new ResolveReply.Refused(
            new dev.idempotency.gateway.idempotency.StoredOperation(
                1, Stage.fingerprint("{}"), DONE)));
    stage.store.found(1, Stage.fingerprint("{}"), DONE);

    assertThat(call.client().text()).isEqualTo("a");
  }

  @Test
  void recordThatIsNoLongerUnknownIsNotAskedAbout() {
    Stage stage = Stage.with().probe(ProbeRules.url()).open();
    Stage.Call call = duplicate(stage);
    stage.store.reply(claimed(0));
    stage.store.reply(
        new ResolveReply.Refused(
            new dev.idempotency.gateway.idempotency.StoredOperation(
                1, Stage.fingerprint("{}"), DONE)));
    stage.store.found(1, Stage.fingerprint("{}"), DONE);

    assertThat(call.client().text()).isEqualTo("a");
    assertThat(stage.upstream.waiting()).isZero();
  }

  @Test
  void storeThatIsAwayIsSaidSo() {
    Stage stage = Stage.with().probe(ProbeRules.url()).open();
    Stage.Call call = duplicate(stage);
    stage.store.fail();

    assertThat(call.client().problem()).isEqualTo("store-unavailable");
  }

  // ---- the key was begun anew

  @Test
  void onlyTheRecordThatTheDuplicateWasComparedWithIsClaimed() {
    Stage stage = Stage.with().probe(ProbeRules.url()).open();
    Stage.Call call = stage.whole("k", "{}");
    stage.store.unknown(1, HOLDER);
    stage.store.reply(busy(0));
    stage.store.found(1, Stage.fingerprint("{\"other\":1}"), new OutcomeUnknown(false));

    assertThat(stage.store.seen()).containsExactly(Optional.of(HOLDER));
    assertThat(call.client().problem()).isEqualTo("key-reused");
    assertThat(stage.upstream.waiting()).isZero();
  }

  @Test
  void whatNeverHappenedIsFollowedInTheRecordThatWasAskedAbout() {
    Stage stage = Stage.with().probe(ProbeRules.url()).open();
    Stage.Call call = duplicate(stage);
    answer(asked(stage, 0).receiver(), 404, "");
    assertThat(stage.store.reservations().get(1).follows()).isEqualTo(HOLDER);
    stage.store.existing(1, Stage.fingerprint("{\"other\":1}"), new OutcomeUnknown(false));

    assertThat(call.client().problem()).isEqualTo("key-reused");
    assertThat(stage.upstream.waiting()).isZero();
  }

  // ---- somebody else asks

  @Test
  void operationThatWasFinishedMeanwhileIsReplayed() {
    Stage stage = Stage.with().probe(ProbeRules.url()).open();
    Stage.Call call = duplicate(stage);
    stage.store.reply(busy(0));
    stage.store.found(1, Stage.fingerprint("{}"), DONE);

    assertThat(call.client().text()).isEqualTo("a");
    assertThat(stage.heard.results()).containsExactly(Result.REPLAYED);
  }

  @Test
  void whoDoesNotWaitIsSentAwayWhileSomebodyElseAsks() {
    Stage stage = Stage.with().probe(ProbeRules.url()).open();
    Stage.Call call = duplicate(stage);
    stage.store.reply(busy(2_500));

    assertHeld(call, "3");
    assertThat(stage.store.watches()).isZero();
  }

  @Test
  void whoWaitsGetsWhatSomebodyElseHasFound() {
    Stage stage = Stage.with().probe(ProbeRules.url()).patience(Duration.ofSeconds(5)).open();
    Stage.Call call = duplicate(stage);
    stage.store.reply(busy(2_500));
    assertThat(stage.store.watches()).isEqualTo(1);
    stage.store.tell();
    stage.store.found(1, Stage.fingerprint("{}"), new OutcomeUnknown(false));
    assertThat(call.client().isAnswered()).isFalse();
    stage.store.tell();
    stage.store.found(1, Stage.fingerprint("{}"), DONE);

    assertThat(call.client().text()).isEqualTo("a");
    assertThat(stage.store.watches()).isZero();
  }

  @Test
  void whoAsksToWaitWaitsForTheRerunOfSomebodyElse() {
    Stage stage =
        Stage.with()
            .probe(ProbeRules.url())
            .waiting(new Route.Waiting(Duration.ZERO, Duration.ofSeconds(30), 10))
            .open();
    Stage.Call call = duplicate(stage, "Prefer", "wait=20");
    stage.store.reply(busy(500));
    stage.store.tell();
    stage.store.found(2, Stage.fingerprint("{}"), new InFlight(Duration.ofSeconds(9)));
    stage.store.tell();
    stage.store.found(2, Stage.fingerprint("{}"), DONE);

    assertThat(call.client().text()).isEqualTo("a");
    assertThat(call.client().headers().get("Preference-Applied")).isEqualTo("wait=20");
  }

  @Test
  void whoWaitsAsksItselfWhenNobodyElseMayAnyMore() {
    Stage stage = Stage.with().probe(ProbeRules.url()).patience(Duration.ofSeconds(5)).open();
    Stage.Call call = duplicate(stage);
    stage.store.reply(busy(100));
    stage.scheduler.advance(Duration.ofMillis(110));
    stage.store.found(1, Stage.fingerprint("{}"), new OutcomeUnknown(false));
    answer(asked(stage, 1).receiver(), 200, "made");
    stage.store.reply(ResolveReply.DONE);
    stage.store.found(1, Stage.fingerprint("{}"), DONE);

    assertThat(call.client().text()).isEqualTo("a");
  }

  @Test
  void patienceThatEndsWhileSomebodyElseAsksLeavesTheOutcomeUnknown() {
    Stage stage = Stage.with().probe(ProbeRules.url()).patience(Duration.ofMillis(200)).open();
    Stage.Call call = duplicate(stage);
    stage.store.reply(busy(60_000));
    stage.scheduler.advance(Duration.ofMillis(200));

    assertHeld(call, "60");
    assertThat(stage.store.watches()).isZero();
    assertThat(stage.exchanges.waitingDuplicates()).isZero();
  }

  @Test
  void claimThatStaysBusyForNothingDoesNotGoRoundForEver() {
    Stage stage = Stage.with().probe(ProbeRules.url()).open();
    Stage.Call call = duplicate(stage);
    for (int i = 0; !call.client().isAnswered() && i < 50; i++) {
      stage.store.reply(busy(0));
      if (!call.client().isAnswered()) {
        stage.store.found(1, Stage.fingerprint("{}"), new OutcomeUnknown(false));
      }
    }
    assertThat(call.client().status()).isEqualTo(409);
    assertThat(List.copyOf(stage.heard.bugs())).isEmpty();
  }
}
