package dev.idempotency.loadtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A gateway ends, or stops beyond its lease and goes on, at each step of an exchange; another one
 * is asked what became of the operation.
 */
class StepsIT {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Starting a gateway needs the machine, waiting for a lease does not. */
  private static final int AT_A_TIME = 4;

  /** {@code -Dlab.whole=true}: both policies, both endings, at every step. */
  private static final boolean WHOLE = Boolean.getBoolean("lab.whole");

  /** Whose completions are written whoever holds the record. */
  private static final Case UNFENCED = new Case("retry", true, "RESPONDED", true);

  private static final List<String> POLICIES = List.of("hold", "retry");
  private static final Map<Case, Future<Seen>> RUNS = new LinkedHashMap<>();
  private static final ExecutorService THREADS = Executors.newFixedThreadPool(AT_A_TIME);
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private static Laboratory lab;
  private static Setup unfenced;

  /**
   * What is done.
   *
   * @param policy what the route does with an unknown outcome
   * @param stops whether the gateway stops and goes on, rather than ends
   * @param broken whether it lacks a guard
   */
  private record Case(String policy, boolean stops, String step, boolean broken) {
    String key() {
      return policy + '-' + step + (stops ? "-stop" : "") + (broken ? "-broken" : "");
    }

    /** Whether it ended before the store had heard of the operation. */
    boolean nothingBegan() {
      return step.equals("RESERVING");
    }

    /** Whether it ended behind the completion. */
    boolean isWritten() {
      return step.equals("SETTLED") || step.equals("ANSWERED");
    }
  }

  /**
   * What came of it.
   *
   * @param late what the gateway of the step has told its client in the end
   * @param second what the other gateway says while the first is dead or stopped
   * @param third what the other gateway says after all
   */
  private record Seen(
      Answer late, Answer.Response second, Answer.Response third, Effects happened) {
    boolean isToldSuccess() {
      return late instanceof Answer.Response told && told.isSuccess();
    }
  }

  static Stream<Case> held() {
    return Stream.concat(
        cases("hold", false, Steps.ALL), cases("hold", true, WHOLE ? Steps.ALL : List.of()));
  }

  static Stream<Case> retried() {
    return Stream.concat(
        cases("retry", true, Steps.ALL), cases("retry", false, WHOLE ? Steps.ALL : List.of()));
  }

  private static Stream<Case> cases(String policy, boolean stops, List<String> steps) {
    return steps.stream().map(step -> new Case(policy, stops, step, false));
  }

  @BeforeAll
  static void start(@TempDir(cleanup = CleanupMode.ALWAYS) Path folder) throws Exception {
    Path redis = RedisProgram.find("", folder);
    lab = new Laboratory(folder, Setup.standalone(Steps.classPath(), POLICIES, redis));
    String broken =
        BrokenGateway.without(
            folder.resolve("broken"),
            "settle.lua",
            "string.sub(record, 3, 26) == string.sub(ARGV[1], 3, 26)",
            "true");
    unfenced = Setup.standalone(broken, POLICIES, redis);
    Stream.of(held(), retried(), Stream.of(UNFENCED))
        .flatMap(all -> all)
        .forEach(one -> RUNS.put(one, THREADS.submit(() -> play(one))));
  }

  @AfterAll
  static void stop() throws IOException {
    THREADS.shutdownNow();
    lab.close();
  }

  private static Seen play(Case one) throws IOException, InterruptedException {
    String step = one.step() + (one.stops() ? ":1:stop" : ":1");
    int number =
        one.broken()
            ? lab.addGateway(unfenced, one.policy(), step)
            : lab.addGateway(one.policy(), step);
    Child gateway = lab.gateway(number).process();
    try {
      CompletableFuture<Answer> first = send(number, one);
      awaitEnd(gateway, one);
      Answer.Response second = ask(one);
      gateway.signal("CONT");
      Answer late = first.join();
      return new Seen(late, second, ask(one), happened(one.key()));
    } finally {
      gateway.kill();
    }
  }

  /** The upstream takes long enough for a renewal, which comes after a third of the lease. */
  private static CompletableFuture<Answer> send(int gateway, Case one) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + lab.port(gateway) + "/orders"))
            .timeout(PATIENCE)
            .header("Idempotency-Key", one.key())
            .header("Authorization", "Bearer a")
            .header("Demo-Behaviour", "delay=800ms")
            .POST(BodyPublishers.ofString("{\"item\":\"book\"}"))
            .build();
    return HTTP.sendAsync(request, BodyHandlers.ofByteArray())
        .handle((told, failure) -> failure == null ? Target.answer(told) : Target.none(failure));
  }

  private static void awaitEnd(Child gateway, Case one) throws IOException, InterruptedException {
    long until = System.nanoTime() + PATIENCE.toNanos();
    while (one.stops() ? !gateway.isStopped() : gateway.isAlive()) {
      assertThat(System.nanoTime() - until).as("it comes to its step").isNegative();
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  /** Asks another gateway until it is told something that stays. */
  private static Answer.Response ask(Case one) throws InterruptedException {
    Predicate<Answer> stays =
        one.policy().equals("hold")
            ? answer -> isSuccess(answer) || isHeld(answer)
            : StepsIT::isSuccess;
    int other = POLICIES.indexOf(one.policy());
    long until = System.nanoTime() + PATIENCE.toNanos();
    Answer answer = send(other, one).join();
    while (!stays.test(answer)) {
      assertThat(System.nanoTime() - until).as("last told " + answer).isNegative();
      TimeUnit.MILLISECONDS.sleep(50);
      answer = send(other, one).join();
    }
    return (Answer.Response) answer;
  }

  private static boolean isSuccess(Answer answer) {
    return answer instanceof Answer.Response told && told.isSuccess();
  }

  private static boolean isHeld(Answer answer) {
    return answer instanceof Answer.Response told
        && told.status() == 409
        && "outcome-unknown".equals(told.problem());
  }

  private static Effects happened(String key) throws IOException {
    return Effects.read(lab.ledger()).getOrDefault(key, Effects.NONE);
  }

  @ParameterizedTest
  @MethodSource("held")
  void whereUnknownIsHeldAnOperationHappensOnceAtMost(Case one) throws Exception {
    Seen seen = RUNS.get(one).get();

    assertThat(seen.happened().effects()).isLessThanOrEqualTo(1);
    assertThat(seen.happened().numbers()).isSubsetOf(1L).hasSizeLessThanOrEqualTo(1);
    if (one.nothingBegan() || one.isWritten()) {
      assertThat(seen.second().status()).isEqualTo(201);
      assertThat(seen.second().replayed()).isEqualTo(one.isWritten());
      assertThat(seen.happened().effects()).isEqualTo(1);
    } else {
      assertThat(isHeld(seen.second())).as(seen.second().toString()).isTrue();
    }
    checkWhatWasTold(seen);
  }

  @ParameterizedTest
  @MethodSource("retried")
  void whereUnknownIsRetriedItIsDoneInTheEndAndEachAttemptHasItsNumber(Case one) throws Exception {
    Seen seen = RUNS.get(one).get();

    assertThat(seen.second().status()).isEqualTo(201);
    assertThat(seen.second().replayed()).isEqualTo(one.isWritten());
    List<Long> numbers = seen.happened().numbers();
    assertThat(numbers).hasSameSizeAs(new HashSet<>(numbers)).isSubsetOf(1L, 2L);
    assertThat(seen.happened().effects()).isBetween(1L, (long) numbers.size());
    checkWhatWasTold(seen);
  }

  /** Whoever was told of success is told the same for ever, and by everybody. */
  private static void checkWhatWasTold(Seen seen) {
    if (isSuccess(seen.second())) {
      assertThat(seen.third().tellsTheSameAs(seen.second())).as(seen.toString()).isTrue();
    }
    if (seen.isToldSuccess()) {
      assertThat(((Answer.Response) seen.late()).tellsTheSameAs(seen.third()))
          .as(seen.toString())
          .isTrue();
    }
  }

  @Test
  void gatewayWhoseCompletionsAreNotFencedIsFoundOut() throws Exception {
    Seen seen = RUNS.get(UNFENCED).get();
    List<Heard> history =
        Stream.of(seen.late(), seen.second(), seen.third())
            .map(told -> new Heard("a", UNFENCED.key(), true, false, 0, 1, false, told))
            .toList();

    assertThat(
            new HistoryChecker(HistoryChecker.Policy.RETRY)
                .check(history, Map.of(UNFENCED.key(), seen.happened())))
        .as(seen.toString())
        .extracting(Violation::rule)
        .contains(Rule.ANSWERS_ARE_EQUAL);
  }

  @Test
  void gatewayThatEndsByItselfIsToldInItsLastWords() throws Exception {
    int number = lab.addGateway("hold", "");
    assertThat(lab.gateway(number).ended()).isNull();
    lab.gateway(number).process().kill();

    assertThat(lab.gateway(number).ended()).contains(" ended by itself: ", "listening on http://");
  }

  @Test
  void stepsAreThoseThatTheLaboratoryStrikes() {
    assertThat(Fault.steps()).containsExactlyElementsOf(Steps.ALL);
  }
}
