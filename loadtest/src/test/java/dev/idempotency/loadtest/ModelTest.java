package dev.idempotency.loadtest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.loadtest.ModelChecker.Bounds;
import dev.idempotency.loadtest.ModelChecker.Verdict;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The protocol of the record in every interleaving of a few requests: all properties hold, and
 * without any one of its guards one of them does not.
 */
class ModelTest {

  private static final List<String> PROPERTIES = List.of("CompletedStays", "OwnerWrites");
  private static final List<String> INVARIANTS =
      List.of(
          "AtMostOneEffect",
          "OneUnderLease",
          "AllAreToldTheSame",
          "SentIsRemembered",
          "HeldIsNotFollowed",
          "NumbersAreUnique",
          "LeaseHasRecord");

  /** What a client is told while the store is away is kept later, or not at all. */
  private static final String TOLD = "ToldIsKept";

  private static final Map<Bounds, Future<Verdict>> RUNS = new LinkedHashMap<>();
  private static final ExecutorService THREADS = Executors.newFixedThreadPool(2);
  private static ModelChecker checker;

  static Stream<Bounds> whole() {
    // Some 400,000 states: -Dlab.whole=true.
    Stream<Bounds> large =
        Boolean.getBoolean("lab.whole")
            ? Stream.of(new Bounds("retry", 2, 1, false, ""))
            : Stream.of(new Bounds("retry", 2, 0, false, ""));
    return Stream.concat(large, small());
  }

  private static Stream<Bounds> small() {
    return Stream.of(
        new Bounds("probe", 2, 1, false, ""),
        new Bounds("hold", 2, 1, false, ""),
        new Bounds("hold", 3, 0, false, ""),
        new Bounds("hold", 2, 0, true, ""),
        new Bounds("retry", 2, 0, true, ""),
        new Bounds("probe", 2, 0, true, ""));
  }

  static Stream<Bounds> broken() {
    return Stream.of(
        new Bounds("hold", 2, 0, false, "AtomicReserve"),
        new Bounds("hold", 2, 0, false, "HoldsUnknown"),
        new Bounds("retry", 2, 0, false, "FencesWrites"),
        new Bounds("hold", 3, 0, false, "FencesByToken"),
        new Bounds("retry", 2, 0, false, "RenewsOwnOnly"),
        new Bounds("probe", 2, 0, false, "SecuresBeforeSending"),
        new Bounds("retry", 2, 0, false, "StoreClock"),
        new Bounds("hold", 2, 0, false, "OutlivesLease"),
        new Bounds("hold", 2, 0, false, "SettlesBeforeAnswer"),
        new Bounds("retry", 3, 0, false, "FollowerKeepsRecord"),
        new Bounds("retry", 3, 0, false, "TakeOverCompares"),
        new Bounds("hold", 2, 1, false, "Waits"),
        new Bounds("probe", 2, 0, false, "MarksBeforeAsking"),
        new Bounds("hold", 2, 0, false, "ResolveCompares"),
        new Bounds("hold", 3, 0, false, "ResolveComparesToken"),
        new Bounds("probe", 2, 0, false, "OneProbeAtATime"),
        new Bounds("probe", 2, 0, false, "WaitsForGrace"));
  }

  @BeforeAll
  static void start() throws IOException {
    checker = new ModelChecker();
    Stream.concat(whole(), broken())
        .forEach(bounds -> RUNS.put(bounds, THREADS.submit(() -> check(bounds))));
  }

  @AfterAll
  static void stop() {
    THREADS.shutdownNow();
  }

  private static Verdict check(Bounds bounds) throws IOException, InterruptedException {
    List<String> invariants = new ArrayList<>(INVARIANTS);
    if (!bounds.outages()) {
      invariants.add(TOLD);
    }
    return checker.check(bounds, invariants, PROPERTIES);
  }

  @ParameterizedTest
  @MethodSource("whole")
  void everyPropertyHoldsInEveryState(Bounds bounds) throws Exception {
    Verdict verdict = RUNS.get(bounds).get();

    assertThat(verdict.violated()).as(verdict.text()).isEmpty();
    assertThat(verdict.states()).isGreaterThan(1_000);
  }

  @ParameterizedTest
  @MethodSource("broken")
  void withoutAGuardAPropertyIsViolated(Bounds bounds) throws Exception {
    Verdict verdict = RUNS.get(bounds).get();

    assertThat(verdict.violated()).as("nothing misses the guard").isEqualTo(missing(bounds));
  }

  /** What the guard is for. */
  private static String missing(Bounds bounds) {
    return switch (bounds.without()) {
      case "HoldsUnknown" -> "HeldIsNotFollowed";
      case "SettlesBeforeAnswer" -> TOLD;
      case "TakeOverCompares" -> "NumbersAreUnique";
      case "OneProbeAtATime" -> "AtMostOneEffect";
      case "AtomicReserve",
          "FencesWrites",
          "RenewsOwnOnly",
          "StoreClock",
          "OutlivesLease",
          "ResolveCompares" ->
          "OwnerWrites";
      default -> "SentIsRemembered";
    };
  }

  @Test
  void everyGuardIsTakenAwayOnce() {
    assertThat(broken().map(Bounds::without)).containsExactlyElementsOf(checker.guards());
  }
}
