package dev.idempotency.gateway.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BehaviourTest {

  @Test
  void nothingAskedIsAnOrderCreatedAtOnce() {
    Behaviour behaviour = Behaviour.read("/orders", null);

    assertThat(behaviour)
        .isEqualTo(new Behaviour(Duration.ZERO, Behaviour.Fault.NONE, 201, 0, null));
    assertThat(behaviour.hasEffect()).isTrue();
  }

  @Test
  void everythingAskedInTheQueryIsUnderstood() {
    Behaviour behaviour =
        Behaviour.read("/orders?delay=50ms&drop=after&status=200&size=10KiB&outcome=released", "");

    assertThat(behaviour)
        .isEqualTo(
            new Behaviour(
                Duration.ofMillis(50), Behaviour.Fault.DROP_AFTER, 200, 10_240, "released"));
  }

  @Test
  void headerAsksWhatTheQueryDoesNot() {
    Behaviour behaviour = Behaviour.read("/orders?delay=1s", "delay=2s&status=422");

    assertThat(behaviour.delay()).isEqualTo(Duration.ofSeconds(1));
    assertThat(behaviour.status()).isEqualTo(422);
  }

  @ParameterizedTest
  @CsvSource({
    "fail=before, FAIL_BEFORE, false",
    "fail=after, FAIL_AFTER, true",
    "drop=before, DROP_BEFORE, false",
    "drop=after, DROP_AFTER, true",
    "status=399, NONE, true",
    "status=400, NONE, false",
  })
  void faultAndStatusDecideWhetherThereIsAnEffect(
      String query, Behaviour.Fault fault, boolean effect) {
    Behaviour behaviour = Behaviour.read("/orders?" + query, null);

    assertThat(behaviour.fault()).isEqualTo(fault);
    assertThat(behaviour.hasEffect()).isEqualTo(effect);
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "77, 77", "77B, 77", "1KiB, 1024", "64MiB, 67108864"})
  void sizeIsReadInItsUnit(String text, int bytes) {
    assertThat(Behaviour.read("/orders?size=" + text, null).padding()).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "delay=2",
        "delay=-1s",
        "delay=3601s",
        "delay=1m",
        "fail=maybe",
        "drop=",
        "fail=after&drop=after",
        "status=100",
        "status=600",
        "status=2xx",
        "size=65MiB",
        "size=9999999999",
        "size=1GB",
      })
  void valueThatMakesNoSenseIsRefusedByName(String query) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Behaviour.read("/orders?" + query, null))
        .withMessageMatching("(delay|fail|drop|status|size): .* \\(expected: .+\\)");
  }
}
