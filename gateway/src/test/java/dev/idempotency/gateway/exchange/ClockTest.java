package dev.idempotency.gateway.exchange;

import static dev.idempotency.gateway.exchange.Stage.answer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.idempotency.StoredOperation.InFlight;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The clock of the gateway's machine is set on or back while operations are under way. */
class ClockTest {

  private static final Duration STEP = Duration.ofMillis(100);

  @ParameterizedTest
  @ValueSource(ints = {-3_600, -30, 30, 3_600})
  void clockThatIsSetMovesNoLease(int seconds) {
    assertThat(owner(seconds)).isEqualTo(owner(0)).contains("3400 renew 1");
  }

  @ParameterizedTest
  @ValueSource(ints = {-3_600, -30, 30, 3_600})
  void clockThatIsSetMovesNobodysPatience(int seconds) {
    assertThat(waiter(seconds)).isEqualTo(waiter(0)).last().asString().endsWith(" 409");
  }

  /**
   * When the store is asked for what while an attempt runs for half a minute, its completion fails
   * ten times, and the clock is set in the middle of both.
   */
  private static List<String> owner(int seconds) {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    FakeUpstream.Connection connection = stage.upstream.connect();
    List<String> heard = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      step(stage, heard, i, i == 150 ? seconds : 0, false);
    }
    answer(connection.receiver(), 201, "made");
    for (int i = 300; i < 600; i++) {
      // When the last try comes is left to chance, and so is whether it comes before a renewal.
      step(stage, i < 400 ? heard : new ArrayList<>(), i, i == 320 ? -seconds : 0, i < 400);
    }
    assertThat(call.client().status()).isEqualTo(201);
    assertThat(stage.exchanges.deferredWrites()).isZero();
    return heard;
  }

  private static void step(Stage stage, List<String> heard, int at, int seconds, boolean fails) {
    stage.scheduler.setClock(Duration.ofSeconds(seconds));
    while (stage.store.open() > 0) {
      // Tries scatter: only those of the lease come at fixed times.
      if (stage.store.oldest().startsWith("renew")) {
        heard.add(at * STEP.toMillis() + " " + stage.store.oldest());
        stage.store.done();
      } else if (fails) {
        stage.store.fail();
      } else {
        stage.store.done();
      }
    }
    stage.scheduler.advance(STEP);
  }

  /** When a duplicate looks again, and when it is told that it waited in vain. */
  private static List<String> waiter(int seconds) {
    Stage stage = Stage.with().patience(Duration.ofSeconds(8)).open();
    Stage.Call call = stage.whole("k", "{}");
    List<String> heard = new ArrayList<>();
    stage.store.existing(1, new InFlight(Duration.ofSeconds(9)));
    for (int i = 0; i < 100 && !call.client().isAnswered(); i++) {
      stage.scheduler.setClock(Duration.ofSeconds(i == 30 ? seconds : 0));
      while (stage.store.open() > 0) {
        heard.add(i * STEP.toMillis() + " " + stage.store.oldest());
        stage.store.found(1, Stage.fingerprint("{}"), new InFlight(Duration.ofSeconds(9)));
      }
      stage.scheduler.advance(STEP);
      if (call.client().isAnswered()) {
        heard.add(i * STEP.toMillis() + " " + call.client().status());
      }
    }
    return heard;
  }
}
