package dev.idempotency.gateway.exchange;

import static dev.idempotency.gateway.exchange.Stage.answer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.Note;
import dev.idempotency.gateway.idempotency.OpenOperation;
import dev.idempotency.gateway.idempotency.OpenOperations.Page;
import dev.idempotency.gateway.idempotency.OpenOperations.ProbeClaim;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.StoredOperation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Operations that nobody asks for heal all the same. */
class SweeperTest {

  private static final Duration EVERY = Duration.ofSeconds(5);

  /** Longer than the longest pause between two rounds. */
  private static final Duration ROUND = Duration.ofSeconds(10);

  private static final AttemptToken HOLDER = AttemptToken.next();
  private static final List<Long> COUNTS = Collections.nCopies(Sweeper.AGES.size(), 1L);
  private static final Page NOTHING = new Page(List.of(), "");

  private final List<Duration> counted = new ArrayList<>();

  private static OpenOperation open(int number, boolean lapsed, String key) {
    byte[] id = new byte[32];
    id[0] = (byte) (number >> 8);
    id[1] = (byte) number;
    StoredOperation operation =
        new StoredOperation(
            1,
            Stage.fingerprint("{}"),
            new StoredOperation.OutcomeUnknown(lapsed),
            new Note("create-order", "", key, "/orders"),
            HOLDER);
    return new OpenOperation(OperationId.of(id), operation, Duration.ofSeconds(number));
  }

  private static Page page(int number) {
    List<OpenOperation> operations = new ArrayList<>();
    for (int i = 0; i < number; i++) {
      operations.add(open(i, false, "k" + i));
    }
    return new Page(operations, "");
  }

  private static ProbeClaim claimed(AttemptToken holder) {
    return new ProbeClaim.Claimed(holder, 0, Duration.ofMinutes(1));
  }

  private Stage sweeping(Stage.Settings settings) {
    Stage stage = settings.open();
    stage.exchanges.sweep(EVERY, (oldest, counts) -> counted.add(oldest));
    return stage;
  }

  /** A store that answers at once: everything is claimed and resolved as it is wanted. */
  private static @Nullable Object granted(String command) {
    if (command.startsWith("claimProbe")) {
      return claimed(HOLDER);
    }
    return command.startsWith("resolve") ? ResolveReply.DONE : null;
  }

  private static void round(Stage stage, Page page) {
    stage.scheduler.advance(ROUND);
    stage.store.reply(page);
    stage.store.reply(COUNTS);
  }

  @Test
  void manyThatAStoreAnswersAtOnceDoNotGrowTheStack() {
    Stage stage = sweeping(Stage.with().probe(ProbeRules.url()));
    // The first four are on their way when the others become due.
    stage.scheduler.advance(ROUND);
    stage.store.reply(page(1_000));
    stage.store.answers(command -> command.startsWith("claimProbe") ? busy() : granted(command));
    stage.store.reply(busy());

    assertThat(stage.heard.bugs()).isEmpty();
    assertThat(stage.store.commands()).filteredOn("claimProbe 1"::equals).hasSize(1_000);
  }

  private static ProbeClaim busy() {
    return new ProbeClaim.Busy(Duration.ofSeconds(1));
  }

  @Test
  void manyWhoseUpstreamRefusesAtOnceDoNotGrowTheStackEither() {
    Upstream full = acquirer -> acquirer.refused(Upstream.Refusal.QUEUE_FULL);
    Stage stage = sweeping(Stage.with().probe(ProbeRules.asking(full)));
    // The first four are on their way when the others become due.
    stage.scheduler.advance(ROUND);
    stage.store.reply(page(1_000));
    stage.store.answers(SweeperTest::granted);
    for (int i = 0; i < 4; i++) {
      stage.store.reply(claimed(HOLDER));
    }
    assertThat(stage.heard.bugs()).isEmpty();
    assertThat(stage.heard.events()).filteredOn("probed nothing"::equals).hasSize(1_000);
  }

  @Test
  void fourAreAskedAboutAtOnceAndTheNextWhenOneIsAnswered() {
    Stage stage = sweeping(Stage.with().probe(ProbeRules.url()));
    stage.store.answers(SweeperTest::granted);
    round(stage, page(6));
    assertThat(stage.upstream.waiting()).isEqualTo(4);
    answer(stage.upstream.connect().receiver(), 200, "made");
    assertThat(stage.upstream.waiting()).isEqualTo(4);
    assertThat(stage.store.commands()).filteredOn("resolve 1 complete"::equals).hasSize(1);
    // What is under way is not begun twice, whatever the next round finds.
    answer(stage.upstream.connect().receiver(), 500, "");
    assertThat(stage.upstream.waiting()).isEqualTo(4);
  }

  @Test
  void questionWithoutACallerHasOnlyWhatTheRuleNames() {
    Stage stage =
        sweeping(
            Stage.with()
                .scope(new ScopePart.Credential("Authorization"))
                .probe(ProbeRules.asking(Stage.ROUTES_OWN, "X-Probe", "gateway")));
    stage.store.answers(SweeperTest::granted);
    round(stage, page(1));

    assertThat(stage.upstream.connect().head().headers())
        .isEqualTo(
            dev.idempotency.gateway.http.Headers.of(
                "X-Probe", "gateway",
                "Cache-Control", "no-cache, no-store",
                "Idempotency-Probe", "true",
                "Idempotency-Attempt", "1"));
  }

  @Test
  void operationOfACallerWhomNoQuestionNamesIsLeftToItsCaller() {
    Stage stage =
        sweeping(
            Stage.with().scope(new ScopePart.Credential("Authorization")).probe(ProbeRules.url()));
    round(stage, page(1));

    assertThat(stage.store.commands()).containsExactly("list", "count");
  }

  @Test
  void neverToAQuestionWithACredentialReleases() {
    Stage stage = sweeping(Stage.with().probe(ProbeRules.releasing("Authorization", "Bearer g")));
    stage.store.answers(SweeperTest::granted);
    round(stage, page(1));
    answer(stage.upstream.connect().receiver(), 404, "");

    assertThat(stage.store.commands()).endsWith("resolve 1 release");
    Resolution last = stage.store.resolutions().get(stage.store.resolutions().size() - 1);
    assertThat(last.holder()).isEqualTo(HOLDER);
  }

  @Test
  void neverToAQuestionOfNobodyIsLeftToTheDuplicateAndNotAskedAgain() {
    Stage stage = sweeping(Stage.with().probe(ProbeRules.releasing()));
    stage.store.answers(SweeperTest::granted);
    round(stage, page(1));
    answer(stage.upstream.connect().receiver(), 404, "");
    round(stage, page(1));

    assertThat(stage.store.commands()).doesNotContain("resolve 1 release");
    assertThat(stage.upstream.waiting()).isZero();
  }

  @Test
  void keyThatCannotBeAskedAboutIsCountedOnce() {
    Stage stage = sweeping(Stage.with().probe(ProbeRules.url()));
    Page page = new Page(List.of(open(1, false, "..")), "");
    round(stage, page);
    round(stage, page);

    assertThat(stage.heard.events()).containsExactly("probed unaskable");
  }

  @Test
  void recordThatWasBegunAnewMeanwhileIsNotAskedAbout() {
    Stage stage = sweeping(Stage.with().probe(ProbeRules.url()));
    round(stage, NOTHING);
    stage.scheduler.advance(ROUND);
    stage.store.reply(page(1));
    stage.store.reply(new ProbeClaim.Busy(Duration.ZERO));
    stage.store.reply(COUNTS);

    assertThat(stage.store.seen()).containsExactly(Optional.of(HOLDER));
    assertThat(stage.upstream.waiting()).isZero();
    assertThat(stage.store.resolutions()).isEmpty();
  }

  @Test
  void leaseThatRanOutIsWrittenDownForTheRecordThatWasSeen() {
    Stage stage = sweeping(Stage.with());
    stage.scheduler.advance(ROUND);
    stage.store.reply(new Page(List.of(open(1, true, "")), ""));

    assertThat(stage.store.resolutions()).hasSize(1);
    assertThat(stage.store.resolutions().get(0).holder()).isEqualTo(HOLDER);
    assertThat(stage.store.resolutions().get(0).action())
        .isInstanceOf(Resolution.MarkUnknown.class);
  }

  @Test
  void bugInOneRoundIsToldAndTheNextComesAllTheSame() {
    Stage stage = Stage.with().probe(ProbeRules.url()).open();
    boolean[] broken = {true};
    stage.exchanges.sweep(
        EVERY,
        (oldest, counts) -> {
          if (broken[0]) {
            throw new IllegalStateException("on purpose");
          }
          counted.add(oldest);
        });
    round(stage, NOTHING);
    assertThat(stage.heard.bugs()).filteredOn(IllegalStateException.class::isInstance).hasSize(1);
    broken[0] = false;
    round(stage, NOTHING);

    assertThat(counted).hasSize(1);
  }

  @Test
  void storeThatThrowsIsAskedAgainInTheNextRound() {
    Stage stage = sweeping(Stage.with().probe(ProbeRules.url()));
    stage.store.answers(
        command -> {
          throw new IllegalStateException("on purpose");
        });
    try {
      stage.scheduler.advance(ROUND);
    } catch (AssertionError told) {
      // The stage's listener lets nobody miss a bug.
    }
    assertThat(stage.heard.bugs()).isNotEmpty();
    stage.store.answers(command -> null);
    round(stage, NOTHING);

    assertThat(counted).hasSize(1);
  }

  @Test
  void storeThatIsAwayIsAskedAgainInTheNextRound() {
    Stage stage = sweeping(Stage.with().probe(ProbeRules.url()));
    stage.scheduler.advance(ROUND);
    stage.store.fail();
    round(stage, NOTHING);

    assertThat(counted).hasSize(1);
  }

  @Test
  void bugInAProbeFreesItsSlot() {
    boolean[] broken = {true};
    FakeUpstream sound = new FakeUpstream();
    Upstream upstream =
        acquirer -> {
          if (broken[0]) {
            throw new IllegalStateException("on purpose");
          }
          sound.acquire(acquirer);
        };
    Stage stage = sweeping(Stage.with().probe(ProbeRules.asking(upstream)));
    stage.store.answers(SweeperTest::granted);
    round(stage, page(4));
    assertThat(stage.heard.bugs()).filteredOn(IllegalStateException.class::isInstance).hasSize(4);
    broken[0] = false;
    round(stage, page(4));

    assertThat(sound.waiting()).isEqualTo(4);
  }

  @Test
  void nothingIsBegunAfterTheEnd() {
    Stage stage = sweeping(Stage.with().probe(ProbeRules.url()));
    stage.scheduler.advance(ROUND);
    stage.exchanges.stopSweeping();
    stage.store.reply(page(1));
    stage.scheduler.advance(ROUND);

    assertThat(stage.store.commands()).containsExactly("list");
  }

  @Test
  void oldestIsTheOneThatIsOverdueForLongest() {
    Stage stage = sweeping(Stage.with());
    round(stage, page(8));

    assertThat(counted).containsExactly(Duration.ofSeconds(7));
  }
}
