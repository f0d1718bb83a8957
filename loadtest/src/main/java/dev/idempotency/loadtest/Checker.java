package dev.idempotency.loadtest;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Compares what was answered with what the contract promises. Knows no network and no clock: it is
 * told what happened and keeps what was broken.
 *
 * <p>Threading: confined to one thread at a time.
 */
final class Checker {

  /** So many are kept with their particulars; the others are counted. */
  static final int KEPT_VIOLATIONS = 50;

  private final Strictness strictness;
  private final Map<String, Told> operations = new HashMap<>();
  private final Map<Rule, Long> counts = new EnumMap<>(Rule.class);
  private final List<Violation> violations = new ArrayList<>();
  private long failures;

  /** What the first caller of an operation was told; null while nothing, or nothing final. */
  private record Told(Answer.@Nullable Response answer) {
    static final Told NOTHING = new Told(null);
  }

  Checker(Strictness strictness) {
    this.strictness = strictness;
  }

  /** A request with a new key is about to be sent. */
  void sent(String key) {
    operations.put(key, Told.NOTHING);
  }

  /**
   * A request with a new key has its answer.
   *
   * @return whether the operation is done, so that the key can be sent again
   */
  boolean fresh(String key, Answer answer) {
    if (answer instanceof Answer.Response response && response.isSuccess()) {
      require(!response.replayed(), Rule.FRESH_IS_NO_REPLAY, key, answer);
      operations.put(key, new Told(response));
      return true;
    }
    failed(Rule.FRESH_SUCCEEDS, key, answer);
    return false;
  }

  /** The same request with a key that was answered has its answer. */
  void replay(String key, Answer answer) {
    if (!(answer instanceof Answer.Response response) || isFailure(response)) {
      failed(Rule.REPLAY_SUCCEEDS, key, answer);
      return;
    }
    require(isEqualToFirst(key, response), Rule.REPLAY_IS_EQUAL, key, answer);
    require(response.replayed(), Rule.REPLAY_IS_MARKED, key, answer);
  }

  /**
   * The same request with a key whose first answer was a failure has its answer.
   *
   * @return whether the operation is done now
   */
  boolean retry(String key, Answer answer) {
    if (answer instanceof Answer.Response response && response.isSuccess()) {
      // Marked or not: the first attempt may have been completed after its caller gave up.
      operations.put(key, new Told(response));
      return true;
    }
    boolean inFlight = answer instanceof Answer.Response response && isInFlight(response);
    if (!inFlight) {
      failed(Rule.REPLAY_SUCCEEDS, key, answer);
    }
    return false;
  }

  /** Another request with a key that was answered has its answer. */
  void mismatch(String key, Answer answer) {
    if (!(answer instanceof Answer.Response response) || isFailure(response)) {
      failed(Rule.MISMATCH_IS_REFUSED, key, answer);
      return;
    }
    boolean refused = response.status() == 422 && "key-reused".equals(response.problem());
    require(refused, Rule.MISMATCH_IS_REFUSED, key, answer);
  }

  /**
   * All requests that were sent at once with one new key have their answers.
   *
   * @return whether the operation is done, so that the key can be sent again
   */
  boolean duplicates(String key, Collection<Answer> answers) {
    List<Answer.Response> done = new ArrayList<>();
    long originals = 0;
    long failed = 0;
    for (Answer answer : answers) {
      if (answer instanceof Answer.Response response && response.isSuccess()) {
        done.add(response);
        originals += response.replayed() ? 0 : 1;
      } else if (answer instanceof Answer.Response response && isInFlight(response)) {
        require(response.retryAfter(), Rule.IN_FLIGHT_SAYS_WHEN, key, answer);
      } else {
        failed(Rule.DUPLICATE_WAITS_OR_REPLAYS, key, answer);
        failed++;
      }
    }
    // The original may be among those that failed, if failures are allowed.
    boolean one = originals == 1 || (originals == 0 && failed > 0 && allowsFailures());
    require(one, Rule.ONE_ORIGINAL, key, originals + " originals in " + answers);
    return !done.isEmpty() && remember(key, done);
  }

  private boolean remember(String key, List<Answer.Response> done) {
    Answer.Response first = done.get(0);
    for (Answer.Response other : done) {
      require(first.tellsTheSameAs(other), Rule.DUPLICATE_WAITS_OR_REPLAYS, key, done);
    }
    operations.put(key, new Told(first));
    return true;
  }

  /**
   * Everything has its answer, and this is what the upstream's ledger says.
   *
   * @param ledger the keys of this run and their counts
   * @param untracked how many effects and attempts the ledger counted without their keys
   */
  void ledger(Map<String, Tally> ledger, Tally untracked) {
    if (!untracked.equals(Tally.NONE)) {
      violated(Rule.LEDGER_IS_COMPLETE, "(any)", untracked + " without a key");
    }
    operations.forEach((key, told) -> check(key, told, ledger.getOrDefault(key, Tally.NONE)));
    for (Map.Entry<String, Tally> entry : ledger.entrySet()) {
      if (!operations.containsKey(entry.getKey())) {
        violated(Rule.NO_STRANGERS, entry.getKey(), entry.getValue().toString());
      }
    }
  }

  private void check(String key, Told told, Tally tally) {
    require(tally.effects() <= 1, Rule.AT_MOST_ONE_EFFECT, key, tally);
    if (told.answer() != null) {
      require(tally.effects() >= 1, Rule.ONE_EFFECT, key, tally);
    }
    if (!allowsFailures()) {
      require(tally.attempts() <= 1, Rule.ONE_ATTEMPT, key, tally);
    }
  }

  private boolean isEqualToFirst(String key, Answer.Response response) {
    Answer.Response first = operations.getOrDefault(key, Told.NOTHING).answer();
    return first != null && first.tellsTheSameAs(response);
  }

  private static boolean isInFlight(Answer.Response response) {
    return response.status() == 409 && "request-in-flight".equals(response.problem());
  }

  private boolean allowsFailures() {
    return strictness == Strictness.FAILURES_ALLOWED;
  }

  private static boolean isFailure(Answer answer) {
    return !(answer instanceof Answer.Response response)
        || response.status() >= 500
        || response.status() == 429
        || (response.status() == 409 && "outcome-unknown".equals(response.problem()));
  }

  private void failed(Rule rule, String key, Answer answer) {
    if (isFailure(answer)) {
      failures++;
    }
    if (!isFailure(answer) || !allowsFailures()) {
      violated(rule, key, answer.toString());
    }
  }

  private void require(boolean holds, Rule rule, String key, Object seen) {
    if (!holds) {
      violated(rule, key, seen.toString());
    }
  }

  private void violated(Rule rule, String key, String seen) {
    counts.merge(rule, 1L, Long::sum);
    if (violations.size() < KEPT_VIOLATIONS) {
      violations.add(new Violation(rule, key, seen));
    }
  }

  /** How many operations were begun. */
  int operations() {
    return operations.size();
  }

  /** How many requests got no answer, or one that says that the service failed. */
  long failures() {
    return failures;
  }

  /** How often each rule was broken; a rule that held is not there. */
  Map<Rule, Long> counts() {
    return Collections.unmodifiableMap(counts);
  }

  /** The first {@value #KEPT_VIOLATIONS} violations. */
  List<Violation> violations() {
    return Collections.unmodifiableList(violations);
  }
}
