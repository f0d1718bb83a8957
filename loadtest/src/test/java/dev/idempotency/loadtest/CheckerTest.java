package dev.idempotency.loadtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CheckerTest {

  private static final Answer ORIGINAL = new Answer.Response(201, false, false, null, 7);
  private static final Answer REPLAY = new Answer.Response(201, true, false, null, 7);
  private static final Answer OTHER_BODY = new Answer.Response(201, true, false, null, 8);
  private static final Answer OTHER_STATUS = new Answer.Response(200, true, false, null, 7);
  private static final Answer IN_FLIGHT = problem(409, "request-in-flight", true);
  private static final Answer KEY_REUSED = problem(422, "key-reused", false);
  private static final Answer UNKNOWN = problem(504, "outcome-unknown", false);
  private static final Answer HELD = problem(409, "outcome-unknown", false);
  private static final Answer NOTHING = new Answer.None("reset");

  private final Checker checker = new Checker(Strictness.NOTHING_FAILS);
  private final Checker lenient = new Checker(Strictness.FAILURES_ALLOWED);

  private static Answer problem(int status, String type, boolean retryAfter) {
    return new Answer.Response(status, false, retryAfter, type, 1);
  }

  private static void answered(Checker checker, String key) {
    checker.sent(key);
    checker.fresh(key, ORIGINAL);
  }

  private static void ledger(Checker checker, String key, long effects, long attempts) {
    checker.ledger(Map.of(key, new Tally(effects, attempts)), Tally.NONE);
  }

  @Test
  void everythingAsPromisedIsNoViolation() {
    answered(checker, "a");
    checker.replay("a", REPLAY);
    checker.mismatch("a", KEY_REUSED);
    checker.sent("b");
    checker.duplicates("b", List.of(IN_FLIGHT, ORIGINAL, REPLAY));
    checker.replay("b", REPLAY);
    checker.ledger(Map.of("a", new Tally(1, 1), "b", new Tally(1, 1)), Tally.NONE);

    assertThat(checker.violations()).isEmpty();
    assertThat(checker.failures()).isZero();
    assertThat(checker.operations()).isEqualTo(2);
  }

  @Test
  void newKeyThatIsRefusedBreaksFreshSucceeds() {
    checker.sent("a");

    assertThat(checker.fresh("a", IN_FLIGHT)).isFalse();
    assertThat(checker.counts()).containsOnlyKeys(Rule.FRESH_SUCCEEDS);
  }

  @Test
  void newKeyWithoutAnAnswerBreaksFreshSucceeds() {
    checker.sent("a");
    checker.fresh("a", NOTHING);

    assertThat(checker.counts()).containsOnlyKeys(Rule.FRESH_SUCCEEDS);
    assertThat(checker.failures()).isEqualTo(1);
  }

  @Test
  void newKeyThatIsReplayedBreaksFreshIsNoReplay() {
    checker.sent("a");
    checker.fresh("a", REPLAY);

    assertThat(checker.counts()).containsOnlyKeys(Rule.FRESH_IS_NO_REPLAY);
  }

  @Test
  void replayWithoutItsMarkBreaksReplayIsMarked() {
    answered(checker, "a");
    checker.replay("a", ORIGINAL);

    assertThat(checker.counts()).containsOnlyKeys(Rule.REPLAY_IS_MARKED);
  }

  @Test
  void replayOfAnotherBodyBreaksReplayIsEqual() {
    answered(checker, "a");
    checker.replay("a", OTHER_BODY);

    assertThat(checker.counts()).containsOnlyKeys(Rule.REPLAY_IS_EQUAL);
  }

  @Test
  void replayWithAnotherStatusBreaksReplayIsEqual() {
    answered(checker, "a");
    checker.replay("a", OTHER_STATUS);

    assertThat(checker.counts()).containsOnlyKeys(Rule.REPLAY_IS_EQUAL);
  }

  @Test
  void replayThatFailsBreaksReplaySucceeds() {
    answered(checker, "a");
    checker.replay("a", UNKNOWN);

    assertThat(checker.counts()).containsOnlyKeys(Rule.REPLAY_SUCCEEDS);
  }

  @Test
  void twoOriginalsBreakOneOriginal() {
    checker.sent("a");
    checker.duplicates("a", List.of(ORIGINAL, ORIGINAL));

    assertThat(checker.counts()).containsOnlyKeys(Rule.ONE_ORIGINAL);
  }

  @Test
  void noOriginalBreaksOneOriginal() {
    checker.sent("a");

    assertThat(checker.duplicates("a", List.of(IN_FLIGHT, IN_FLIGHT))).isFalse();
    assertThat(checker.counts()).containsOnlyKeys(Rule.ONE_ORIGINAL);
  }

  @Test
  void duplicateWithAnotherAnswerBreaksDuplicateWaitsOrReplays() {
    checker.sent("a");
    checker.duplicates("a", List.of(ORIGINAL, OTHER_BODY));

    assertThat(checker.counts()).containsOnlyKeys(Rule.DUPLICATE_WAITS_OR_REPLAYS);
  }

  @Test
  void duplicateThatIsRefusedOtherwiseBreaksDuplicateWaitsOrReplays() {
    checker.sent("a");
    checker.duplicates("a", List.of(ORIGINAL, KEY_REUSED));

    assertThat(checker.counts()).containsOnlyKeys(Rule.DUPLICATE_WAITS_OR_REPLAYS);
  }

  @Test
  void inFlightWithoutRetryAfterBreaksInFlightSaysWhen() {
    checker.sent("a");
    checker.duplicates("a", List.of(ORIGINAL, problem(409, "request-in-flight", false)));

    assertThat(checker.counts()).containsOnlyKeys(Rule.IN_FLIGHT_SAYS_WHEN);
  }

  @Test
  void mismatchThatIsReplayedBreaksMismatchIsRefused() {
    answered(checker, "a");
    checker.mismatch("a", REPLAY);

    assertThat(checker.counts()).containsOnlyKeys(Rule.MISMATCH_IS_REFUSED);
  }

  @Test
  void mismatchWithAnotherProblemBreaksMismatchIsRefused() {
    answered(checker, "a");
    checker.mismatch("a", problem(422, "something-else", false));

    assertThat(checker.counts()).containsOnlyKeys(Rule.MISMATCH_IS_REFUSED);
  }

  @Test
  void answeredOperationThatIsNotInTheLedgerBreaksOneEffect() {
    answered(checker, "a");
    checker.ledger(Map.of(), Tally.NONE);

    assertThat(checker.counts()).containsOnlyKeys(Rule.ONE_EFFECT);
  }

  @Test
  void operationThatHappenedTwiceBreaksAtMostOneEffect() {
    answered(lenient, "a");
    ledger(lenient, "a", 2, 2);

    assertThat(lenient.counts()).containsOnlyKeys(Rule.AT_MOST_ONE_EFFECT);
  }

  @Test
  void unansweredOperationThatHappenedTwiceBreaksAtMostOneEffect() {
    lenient.sent("a");
    lenient.fresh("a", NOTHING);
    ledger(lenient, "a", 2, 2);

    assertThat(lenient.counts()).containsOnlyKeys(Rule.AT_MOST_ONE_EFFECT);
  }

  @Test
  void secondRequestAtTheUpstreamBreaksOneAttempt() {
    answered(checker, "a");
    ledger(checker, "a", 1, 2);

    assertThat(checker.counts()).containsOnlyKeys(Rule.ONE_ATTEMPT);
  }

  @Test
  void keyThatWasNeverSentBreaksNoStrangers() {
    ledger(checker, "stranger", 1, 1);

    assertThat(checker.counts()).containsOnlyKeys(Rule.NO_STRANGERS);
  }

  @Test
  void effectsWithoutTheirKeysBreakLedgerIsComplete() {
    checker.ledger(Map.of(), new Tally(1, 0));

    assertThat(checker.counts()).containsOnlyKeys(Rule.LEDGER_IS_COMPLETE);
  }

  @Test
  void allowedFailuresAreCountedAndBreakNothing() {
    lenient.sent("a");
    lenient.fresh("a", NOTHING);
    lenient.sent("b");
    lenient.duplicates("b", List.of(UNKNOWN, IN_FLIGHT));
    answered(lenient, "c");
    lenient.replay("c", UNKNOWN);
    lenient.mismatch("c", problem(503, "store-unavailable", true));
    lenient.retry("a", HELD);
    lenient.ledger(Map.of("a", new Tally(1, 1), "c", new Tally(1, 2)), Tally.NONE);

    assertThat(lenient.violations()).isEmpty();
    assertThat(lenient.failures()).isEqualTo(5);
  }

  @Test
  void refusalThatIsNoFailureIsNeverAllowed() {
    lenient.sent("a");
    lenient.fresh("a", problem(404, "no-route", false));

    assertThat(lenient.counts()).containsOnlyKeys(Rule.FRESH_SUCCEEDS);
  }

  @Test
  void answerToARetryIsWhatLaterReplaysMustTell() {
    lenient.sent("a");
    lenient.fresh("a", UNKNOWN);

    assertThat(lenient.retry("a", IN_FLIGHT)).isFalse();
    assertThat(lenient.retry("a", REPLAY)).isTrue();
    lenient.replay("a", OTHER_BODY);

    assertThat(lenient.counts()).containsOnlyKeys(Rule.REPLAY_IS_EQUAL);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, Checker.KEPT_VIOLATIONS + 10})
  void violationsAreAllCountedAndTheFirstAreKept(int times) {
    for (int i = 0; i < times; i++) {
      checker.sent("k" + i);
      checker.fresh("k" + i, REPLAY);
    }

    assertThat(checker.counts()).containsEntry(Rule.FRESH_IS_NO_REPLAY, (long) times);
    assertThat(checker.violations()).hasSize(Math.min(times, Checker.KEPT_VIOLATIONS));
    assertThat(checker.violations().get(0).key()).isEqualTo("k0");
  }
}
