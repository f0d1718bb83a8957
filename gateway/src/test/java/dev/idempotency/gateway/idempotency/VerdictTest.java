package dev.idempotency.gateway.idempotency;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.store.Fixtures;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class VerdictTest {

  private static final StoredResponse RESPONSE = Fixtures.response("made");
  private static final Fingerprint RECORDED = Fixtures.fingerprint(1);
  private static final Duration LEFT = Duration.ofSeconds(3);

  static Stream<Arguments> states() {
    return Stream.of(
        Arguments.of(
            new StoredOperation.InFlight(LEFT),
            new Verdict.InFlight(LEFT),
            new Verdict.InFlight(LEFT)),
        Arguments.of(
            new StoredOperation.OutcomeUnknown(true),
            new Verdict.Hold(),
            new Verdict.TakeOver(7, RECORDED, null)),
        Arguments.of(
            new StoredOperation.OutcomeUnknown(false),
            new Verdict.Hold(),
            new Verdict.TakeOver(7, RECORDED, null)),
        Arguments.of(
            new StoredOperation.Completed(RESPONSE),
            new Verdict.Replay(RESPONSE),
            new Verdict.Replay(RESPONSE)),
        Arguments.of(
            new StoredOperation.NotKept(200), new Verdict.NotKept(200), new Verdict.NotKept(200)));
  }

  @ParameterizedTest
  @MethodSource("states")
  void stateDecidesForTheSameRequest(
      StoredOperation.State state, Verdict holding, Verdict retrying) {
    StoredOperation operation = new StoredOperation(7, Fixtures.fingerprint(1), state);
    assertThat(Verdict.on(operation, Fingerprints.only(RECORDED), UnknownPolicy.HOLD))
        .isEqualTo(holding);
    assertThat(Verdict.on(operation, Fingerprints.only(RECORDED), UnknownPolicy.RETRY))
        .isEqualTo(retrying);
  }

  static Stream<Arguments> statesOfARequestThatWasNotSeenWhole() {
    return Stream.of(
        Arguments.of(
            new StoredOperation.InFlight(LEFT),
            new Verdict.InFlight(LEFT),
            new Verdict.InFlight(LEFT)),
        Arguments.of(
            new StoredOperation.OutcomeUnknown(true),
            new Verdict.Hold(),
            new Verdict.TakeOver(7, Fingerprint.OPEN, null)),
        Arguments.of(
            new StoredOperation.Completed(RESPONSE),
            new Verdict.NotKept(201),
            new Verdict.NotKept(201)),
        Arguments.of(
            new StoredOperation.NotKept(413), new Verdict.NotKept(413), new Verdict.NotKept(413)));
  }

  @ParameterizedTest
  @MethodSource("statesOfARequestThatWasNotSeenWhole")
  void openRecordIsNeverReplayedAndMayBeFollowedByAny(
      StoredOperation.State state, Verdict holding, Verdict retrying) {
    StoredOperation operation = new StoredOperation(7, Fingerprint.OPEN, state);
    for (Fingerprints made : List.of(Fingerprints.OPEN, Fingerprints.only(RECORDED))) {
      assertThat(Verdict.on(operation, made, UnknownPolicy.HOLD)).isEqualTo(holding);
      assertThat(Verdict.on(operation, made, UnknownPolicy.RETRY)).isEqualTo(retrying);
    }
  }

  @ParameterizedTest
  @EnumSource
  void requestThatIsNotWholeYetIsNotJudgedByAKnownFingerprint(UnknownPolicy policy) {
    states()
        .map(arguments -> (StoredOperation.State) arguments.get()[0])
        .forEach(
            state ->
                assertThat(
                        Verdict.on(
                            new StoredOperation(7, Fixtures.fingerprint(1), state),
                            Fingerprints.OPEN,
                            policy))
                    .isEqualTo(new Verdict.Unread()));
  }

  @Test
  void reuseNamesThePartsThatDiffer() {
    Fingerprint recorded = new Fingerprint(1, Fixtures.fingerprint(1).hash(), 0x1_0002_0003_0004L);
    Fingerprint made = new Fingerprint(1, Fixtures.fingerprint(2).hash(), 0x1_0002_0003_0005L);

    assertThat(
            Verdict.on(
                new StoredOperation(7, recorded, new StoredOperation.NotKept(200)),
                Fingerprints.only(made),
                UnknownPolicy.HOLD))
        .isEqualTo(new Verdict.KeyReused(Set.of(Fingerprint.Part.BODY)));
  }

  @ParameterizedTest
  @EnumSource
  void anotherRequestIsAReuseWhateverTheState(UnknownPolicy policy) {
    states()
        .map(arguments -> (StoredOperation.State) arguments.get()[0])
        .forEach(
            state ->
                assertThat(
                        Verdict.on(
                            new StoredOperation(7, Fixtures.fingerprint(1), state),
                            Fingerprints.only(Fixtures.fingerprint(2)),
                            policy))
                    .isEqualTo(new Verdict.KeyReused(Set.of())));
  }
}
