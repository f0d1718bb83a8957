package dev.idempotency.loadtest;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads the history of a run in which things were broken on purpose, and the upstream's ledger, and
 * says what the contract does not allow. Knows no network, no clock and no faults.
 */
final class HistoryChecker {

  /** What the route does with an unknown outcome. */
  enum Policy {
    HOLD,
    RETRY,
    PROBE
  }

  /** What is allowed besides. */
  enum Allowance {
    /** The route forwards without protection while the store is away. */
    BYPASS,
    /** The route refuses, after a loss, what may have been forgotten. */
    GUARD,
    /**
     * The upstream takes attempts of an operation for operations, which a route must not say {@code
     * retry} to: then two of them may be told to clients, where a gateway was cut off from the
     * store beyond its lease. What is replayed is the same all the same.
     */
    EFFECT_PER_ATTEMPT
  }

  private final Policy policy;
  private final Set<Allowance> allowed;
  private final List<Violation> violations = new ArrayList<>();

  HistoryChecker(Policy policy, Allowance... allowed) {
    this.policy = policy;
    this.allowed = Set.of(allowed);
  }

  /**
   * Compares.
   *
   * @param history all requests of the run
   * @param ledger what the upstream did, by key
   */
  List<Violation> check(List<Heard> history, Map<String, Effects> ledger) {
    Map<Heard.Operation, List<Heard>> operations = new LinkedHashMap<>();
    Map<String, Set<String>> scopes = new HashMap<>();
    for (Heard heard : history) {
      operations.computeIfAbsent(heard.operation(), key -> new ArrayList<>()).add(heard);
      scopes.computeIfAbsent(heard.key(), key -> new HashSet<>()).add(heard.scope());
    }
    operations.forEach((operation, told) -> checkAnswers(operation, told));
    checkStrangers(operations);
    scopes.forEach(
        (key, of) -> checkLedger(key, of, operations, ledger.getOrDefault(key, Effects.NONE)));
    for (String key : ledger.keySet()) {
      require(scopes.containsKey(key), Rule.NO_STRANGERS, key, ledger.get(key));
    }
    return violations;
  }

  private void checkAnswers(Heard.Operation operation, List<Heard> told) {
    String key = operation.toString();
    Answer.Response first = null;
    for (Heard heard : told) {
      if (heard.bypassed()) {
        require(allowed.contains(Allowance.BYPASS), Rule.BYPASS_WHERE_ALLOWED, key, heard.answer());
      }
      if (!(heard.answer() instanceof Answer.Response response)) {
        continue;
      }
      boolean refused = "key-reused".equals(response.problem());
      if (response.isSuccess() && heard.original() && isFinal(response)) {
        first = first == null ? response : first;
        require(
            first.tellsTheSameAs(response), Rule.ANSWERS_ARE_EQUAL, key, first + ", " + response);
      }
      require(
          heard.original() ? !refused : !response.isSuccess(),
          Rule.REUSE_ONLY_IS_REFUSED,
          key,
          response);
    }
    told.stream().filter(Heard::last).forEach(heard -> checkEnd(key, heard.answer()));
  }

  private boolean isFinal(Answer.Response response) {
    return response.replayed() || !allowed.contains(Allowance.EFFECT_PER_ATTEMPT);
  }

  /** After all faults a duplicate finds the operation done, or held for a reason. */
  private void checkEnd(String key, Answer answer) {
    if (!(answer instanceof Answer.Response response)) {
      require(false, Rule.NOTHING_IS_STUCK, key, answer);
      return;
    }
    boolean held = policy == Policy.HOLD && "outcome-unknown".equals(response.problem());
    boolean refused =
        allowed.contains(Allowance.GUARD) && "store-recovering".equals(response.problem());
    require(response.isSuccess() || held || refused, Rule.NOTHING_IS_STUCK, key, answer);
  }

  private void checkStrangers(Map<Heard.Operation, List<Heard>> operations) {
    Map<Long, Heard.Operation> bodies = new HashMap<>();
    operations.forEach(
        (operation, told) -> {
          for (Heard heard : told) {
            if (heard.answer() instanceof Answer.Response response && response.isSuccess()) {
              Heard.Operation owner = bodies.putIfAbsent(response.body(), operation);
              require(
                  owner == null || owner.equals(operation),
                  Rule.NO_ANSWER_OF_ANOTHER,
                  operation.toString(),
                  "the answer of " + owner);
            }
          }
        });
  }

  private void checkLedger(
      String key,
      Set<String> scopes,
      Map<Heard.Operation, List<Heard>> operations,
      Effects happened) {
    long acknowledged =
        scopes.stream()
            .filter(
                scope ->
                    isAcknowledged(
                        operations.getOrDefault(new Heard.Operation(scope, key), List.of())))
            .count();
    require(happened.effects() >= acknowledged, Rule.ACKNOWLEDGED_HAPPENED, key, happened);
    if (policy == Policy.RETRY) {
      Set<Long> numbers = new HashSet<>(happened.numbers());
      boolean distinct = scopes.size() > 1 || numbers.size() == happened.numbers().size();
      require(distinct, Rule.ATTEMPTS_ARE_NUMBERED, key, happened);
    }
    if (allowed.contains(Allowance.EFFECT_PER_ATTEMPT)) {
      return;
    }
    require(happened.effects() <= scopes.size(), Rule.AT_MOST_ONE_EFFECT, key, happened);
    if (policy == Policy.HOLD) {
      boolean firstOnly = happened.numbers().stream().allMatch(number -> number == 1);
      require(firstOnly, Rule.ATTEMPTS_ARE_ALLOWED, key, happened);
    }
  }

  private static boolean isAcknowledged(List<Heard> told) {
    return told.stream()
        .anyMatch(
            heard -> heard.answer() instanceof Answer.Response response && response.isSuccess());
  }

  private void require(boolean holds, Rule rule, String key, Object seen) {
    if (!holds) {
      violations.add(new Violation(rule, key, seen.toString()));
    }
  }
}
