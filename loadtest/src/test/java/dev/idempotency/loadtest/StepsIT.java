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
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A gateway ends, or stops and goes on, at each step of an exchange; another one is asked. */
class StepsIT {

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /** A laboratory for the cases of one policy. */
  @TestInstance(TestInstance.Lifecycle.PER_CLASS)
  abstract static class Cases {
    private final String policy;
    private final HttpClient http = HttpClient.newHttpClient();
    private Laboratory lab;

    Cases(String policy) {
      this.policy = policy;
    }

    static Stream<String> steps() {
      return Steps.ALL.stream();
    }

    @BeforeAll
    void start(@TempDir(cleanup = CleanupMode.ALWAYS) Path folder) throws Exception {
      lab = new Laboratory(folder, Steps.classPath(), policy);
    }

    @AfterAll
    void stop() throws IOException {
      lab.close();
    }

    /** Long enough for a renewal, which comes after a third of the lease. */
    private CompletableFuture<Answer> send(int gateway, String key) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + lab.port(gateway) + "/orders"))
              .timeout(PATIENCE)
              .header("Idempotency-Key", key)
              .header("Authorization", "Bearer a")
              .header("Demo-Behaviour", "delay=800ms")
              .POST(BodyPublishers.ofString("{\"item\":\"book\"}"))
              .build();
      return http.sendAsync(request, BodyHandlers.ofByteArray())
          .handle((told, failure) -> failure == null ? Target.answer(told) : Target.none(failure));
    }

    /** Sends to the step, which is the end of the gateway or its stop. */
    CompletableFuture<Answer> reach(String key, String step) throws Exception {
      lab.restartGateway(0, step);
      assertThat(lab.gateway(0).isAlive()).as("it waits for a request").isTrue();
      CompletableFuture<Answer> told = send(0, key);
      long until = System.nanoTime() + PATIENCE.toNanos();
      while (!hasEnded(step) && System.nanoTime() - until < 0) {
        TimeUnit.MILLISECONDS.sleep(10);
      }
      assertThat(hasEnded(step)).as("it came to " + step).isTrue();
      return told;
    }

    private boolean hasEnded(String step) throws IOException, InterruptedException {
      return step.endsWith("stop") ? lab.gateway(0).isStopped() : !lab.gateway(0).isAlive();
    }

    void goOn() throws Exception {
      lab.gateway(0).signal("CONT");
    }

    /** Asks another gateway until it is told something that stays. */
    Answer.Response ask(String key) throws InterruptedException {
      return ask(key, answer -> !"request-in-flight".equals(answer.problem()));
    }

    Answer.Response ask(String key, Predicate<Answer.Response> enough) throws InterruptedException {
      long until = System.nanoTime() + PATIENCE.toNanos();
      Answer answer = send(1, key).join();
      while (System.nanoTime() - until < 0
          && !(answer instanceof Answer.Response told && enough.test(told))) {
        TimeUnit.MILLISECONDS.sleep(50);
        answer = send(1, key).join();
      }
      assertThat(answer).isInstanceOf(Answer.Response.class);
      return (Answer.Response) answer;
    }

    Effects happened(String key) throws IOException {
      return Effects.read(lab.ledger()).getOrDefault(key, Effects.NONE);
    }
  }

  private static boolean isHeld(Answer.Response told) {
    return told.status() == 409 && "outcome-unknown".equals(told.problem());
  }

  /** The route holds what is unknown. */
  @Nested
  class Held extends Cases {
    Held() {
      super("hold");
    }

    @ParameterizedTest
    @MethodSource("steps")
    void gatewayThatDiesLeavesWhatIsDoneOrHeld(String step) throws Exception {
      String key = "dies-" + step;
      CompletableFuture<Answer> unused = reach(key, step + ":1");

      Answer.Response told = ask(key);

      boolean nothingBegan = step.equals("RESERVING");
      boolean written = step.equals("SETTLED") || step.equals("ANSWERED");
      if (nothingBegan || written) {
        assertThat(told.status()).isEqualTo(201);
        assertThat(told.replayed()).isEqualTo(written);
        assertThat(happened(key).effects()).isEqualTo(1);
      } else {
        assertThat(isHeld(told)).as(told.toString()).isTrue();
        assertThat(happened(key).effects()).isLessThanOrEqualTo(1);
        assertThat(happened(key).numbers()).hasSizeLessThanOrEqualTo(1);
      }
    }
  }

  /** The route sends again what is unknown. */
  @Nested
  class Retried extends Cases {
    Retried() {
      super("retry");
    }

    @ParameterizedTest
    @MethodSource("steps")
    void gatewayThatStopsAndGoesOnTellsWhatTheOthersTell(String step) throws Exception {
      String key = "stops-" + step;
      CompletableFuture<Answer> first = reach(key, step + ":1:stop");

      Answer.Response second = ask(key, told -> told.status() == 201);
      goOn();
      Answer late = first.join();
      Answer.Response third = ask(key, told -> told.status() == 201);

      assertThat(second.tellsTheSameAs(third)).isTrue();
      if (late instanceof Answer.Response told && told.isSuccess()) {
        assertThat(told.tellsTheSameAs(second)).as(late + ", " + second).isTrue();
      }
      Effects happened = happened(key);
      Set<Long> numbers = new HashSet<>(happened.numbers());
      assertThat(happened.numbers()).hasSameSizeAs(numbers).allMatch(number -> number <= 2);
    }
  }

  @Test
  void stepsAreThoseThatTheLaboratoryStrikes() {
    assertThat(Fault.steps()).containsExactlyElementsOf(Steps.ALL);
  }
}
