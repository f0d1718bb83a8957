package dev.idempotency.loadtest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.loadtest.HistoryChecker.Allowance;
import dev.idempotency.loadtest.HistoryChecker.Policy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each rule is broken once on purpose, and is the only one that is reported. */
class HistoryCheckerTest {

  private static final Answer DONE = new Answer.Response(201, false, false, null, 7);
  private static final Answer REPLAY = new Answer.Response(201, true, false, null, 7);
  private static final Answer OTHER = new Answer.Response(201, false, false, null, 8);
  private static final Answer UNKNOWN =
      new Answer.Response(409, false, false, "outcome-unknown", 1);
  private static final Answer IN_FLIGHT =
      new Answer.Response(409, false, true, "request-in-flight", 1);
  private static final Answer REUSED = new Answer.Response(422, false, false, "key-reused", 1);
  private static final Answer AWAY = new Answer.None("reset");
  private static final Map<String, Effects> ONCE = Map.of("k", new Effects(1, List.of(1L)));

  private static Heard told(String scope, Answer answer) {
    return new Heard(scope, "k", true, false, 0, 1, false, answer);
  }

  private static Heard another(Answer answer) {
    return new Heard("a", "k", false, false, 0, 1, false, answer);
  }

  private static Heard last(Answer answer) {
    return new Heard("a", "k", true, true, 0, 1, false, answer);
  }

  private static List<Rule> broken(Policy policy, Map<String, Effects> ledger, Heard... history) {
    return new HistoryChecker(policy)
        .check(List.of(history), ledger).stream().map(Violation::rule).distinct().toList();
  }

  @Test
  void whatTheContractAllowsIsNoViolation() {
    assertThat(
            broken(
                Policy.HOLD,
                ONCE,
                told("a", AWAY),
                told("a", IN_FLIGHT),
                told("a", DONE),
                another(REUSED),
                last(REPLAY)))
        .isEmpty();
    assertThat(broken(Policy.HOLD, ONCE, told("a", AWAY), last(UNKNOWN))).isEmpty();
    assertThat(
            broken(
                Policy.RETRY,
                Map.of("k", new Effects(1, List.of(1L, 2L))),
                told("a", AWAY),
                last(DONE)))
        .isEmpty();
    assertThat(
            broken(
                Policy.HOLD,
                Map.of("k", new Effects(2, List.of(1L, 1L))),
                told("a", DONE),
                told("b", OTHER)))
        .isEmpty();
  }

  @Test
  void operationThatHappenedTwiceIsReported() {
    Map<String, Effects> twice = Map.of("k", new Effects(2, List.of(1L, 1L)));

    assertThat(broken(Policy.HOLD, twice, told("a", DONE)))
        .containsExactly(Rule.AT_MOST_ONE_EFFECT);
    assertThat(broken(Policy.PROBE, twice, told("a", DONE)))
        .containsExactly(Rule.AT_MOST_ONE_EFFECT);
    Map<String, Effects> numbered = Map.of("k", new Effects(2, List.of(1L, 2L)));
    assertThat(broken(Policy.RETRY, numbered, told("a", DONE)))
        .containsExactly(Rule.AT_MOST_ONE_EFFECT);
  }

  @Test
  void anotherAttemptUnderHoldIsReported() {
    assertThat(broken(Policy.HOLD, Map.of("k", new Effects(1, List.of(1L, 2L))), told("a", DONE)))
        .containsExactly(Rule.ATTEMPTS_ARE_ALLOWED);
  }

  @Test
  void numberThatIsGivenTwiceIsReported() {
    assertThat(broken(Policy.RETRY, Map.of("k", new Effects(1, List.of(1L, 1L))), told("a", DONE)))
        .containsExactly(Rule.ATTEMPTS_ARE_NUMBERED);
  }

  @Test
  void whereEachAttemptHasAnEffectReplaysAreEqualAllTheSame() {
    HistoryChecker checker = new HistoryChecker(Policy.RETRY, Allowance.EFFECT_PER_ATTEMPT);
    Map<String, Effects> twice = Map.of("k", new Effects(2, List.of(1L, 2L)));
    Answer other = new Answer.Response(201, true, false, null, 8);

    assertThat(checker.check(List.of(told("a", OTHER), told("a", DONE), last(REPLAY)), twice))
        .isEmpty();
    assertThat(checker.check(List.of(told("a", other), last(REPLAY)), twice))
        .extracting(Violation::rule)
        .containsExactly(Rule.ANSWERS_ARE_EQUAL);
  }

  @Test
  void refusalAfterALossIsAnEndOnlyWhereTheRouteAsksForIt() {
    Answer recovering = new Answer.Response(503, false, true, "store-recovering", 1);

    assertThat(broken(Policy.HOLD, ONCE, last(recovering))).containsExactly(Rule.NOTHING_IS_STUCK);
    assertThat(
            new HistoryChecker(Policy.HOLD, Allowance.GUARD).check(List.of(last(recovering)), ONCE))
        .isEmpty();
  }

  @Test
  void twoAnswersOfOneOperationAreReported() {
    assertThat(broken(Policy.HOLD, ONCE, told("a", DONE), told("a", OTHER)))
        .containsExactly(Rule.ANSWERS_ARE_EQUAL);
  }

  @Test
  void answerOfAnotherScopeIsReported() {
    assertThat(
            broken(
                Policy.HOLD,
                Map.of("k", new Effects(2, List.of(1L, 1L))),
                told("a", DONE),
                told("b", REPLAY)))
        .containsExactly(Rule.NO_ANSWER_OF_ANOTHER);
  }

  @Test
  void acknowledgedOperationThatIsNotInTheLedgerIsReported() {
    assertThat(broken(Policy.HOLD, Map.of(), told("a", DONE)))
        .containsExactly(Rule.ACKNOWLEDGED_HAPPENED);
  }

  @Test
  void operationThatIsStuckIsReported() {
    assertThat(broken(Policy.PROBE, ONCE, last(UNKNOWN))).containsExactly(Rule.NOTHING_IS_STUCK);
    assertThat(broken(Policy.HOLD, ONCE, last(IN_FLIGHT))).containsExactly(Rule.NOTHING_IS_STUCK);
    assertThat(broken(Policy.HOLD, ONCE, last(AWAY))).containsExactly(Rule.NOTHING_IS_STUCK);
  }

  @Test
  void refusalOfTheSameRequestAndSuccessOfAnotherAreReported() {
    assertThat(broken(Policy.HOLD, ONCE, told("a", REUSED)))
        .containsExactly(Rule.REUSE_ONLY_IS_REFUSED);
    assertThat(broken(Policy.HOLD, ONCE, told("a", DONE), another(REPLAY)))
        .containsExactly(Rule.REUSE_ONLY_IS_REFUSED);
  }

  @Test
  void bypassThatNobodyAllowedIsReported() {
    Heard bypassed = new Heard("a", "k", true, false, 0, 1, true, DONE);

    assertThat(broken(Policy.HOLD, ONCE, bypassed)).containsExactly(Rule.BYPASS_WHERE_ALLOWED);
  }

  @Test
  void keyThatWasNeverSentIsReported() {
    assertThat(broken(Policy.HOLD, ONCE)).containsExactly(Rule.NO_STRANGERS);
  }

  @Test
  void ledgerOnDiskIsReadAndAHalfLineLeftOut(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("ledger");
    Files.writeString(
        file,
        """
        {"event":"attempt","at":"2026-01-01T00:00:00Z","key":"k","attempt":1}
        {"event":"effect","at":"2026-01-01T00:00:00Z","key":"k","order":"o1"}
        {"event":"attempt","at":"2026-01-01T00:00:00Z","key":"k","attempt":2}
        {"event":"attempt","at":"2026-01-01T00:00:00Z","key":null,"attempt":0}
        {"event":"effect","at":"2026-01""");

    assertThat(Effects.read(file)).isEqualTo(Map.of("k", new Effects(1, List.of(1L, 2L))));
  }
}
