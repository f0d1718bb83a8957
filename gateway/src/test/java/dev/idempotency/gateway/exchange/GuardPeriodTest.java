package dev.idempotency.gateway.exchange;

import static dev.idempotency.gateway.exchange.Stage.answer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.Durability;
import dev.idempotency.gateway.idempotency.KeyPattern;
import dev.idempotency.gateway.idempotency.KeySyntax;
import dev.idempotency.gateway.idempotency.StoredOperation.Completed;
import dev.idempotency.gateway.idempotency.StoredOperation.OutcomeUnknown;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** After the store may have forgotten records, nothing new is begun for a while. */
class GuardPeriodTest {

  private static final Completed DONE =
      new Completed(new StoredResponse(201, Headers.of(), new byte[] {'a'}, new Headers()));

  private static Stage.Settings guarded() {
    return Stage.with().safety(new Route.Safety(Durability.NONE, Duration.ofSeconds(30), null));
  }

  private static void assertRecovering(Stage stage, Stage.Call call, String after) {
    assertThat(call.client().isAnswered()).isTrue();
    assertThat(call.client().status()).isEqualTo(503);
    assertThat(call.client().text()).contains("store-recovering");
    assertThat(call.client().headers().get("Retry-After")).isEqualTo(after);
    assertThat(stage.heard.results()).containsExactly(Result.STORE_RECOVERING);
    assertThat(stage.upstream.waiting()).as("requests to the upstream").isZero();
  }

  @Test
  void operationWithoutARecordIsNotBegun() {
    Stage stage = guarded().open();
    stage.store.sinceLoss = 10_000;
    Stage.Call call = stage.whole("k", "{}");
    assertThat(stage.store.commands()).containsExactly("find");
    stage.store.reply(Optional.empty());
    assertRecovering(stage, call, "20");
  }

  @Test
  void recordThatIsThereIsReplayed() {
    Stage stage = guarded().open();
    stage.store.sinceLoss = 10_000;
    Stage.Call call = stage.whole("k", "{}");
    stage.store.found(1, Stage.fingerprint("{}"), DONE);
    assertThat(call.client().status()).isEqualTo(201);
  }

  @Test
  void operationIsNotTakenOverEither() {
    Stage stage = guarded().retry().open();
    stage.store.sinceLoss = 10_000;
    Stage.Call call = stage.whole("k", "{}");
    stage.store.found(1, Stage.fingerprint("{}"), new OutcomeUnknown(true));
    assertThat(stage.store.commands()).containsExactly("find");
    assertRecovering(stage, call, "20");
  }

  @Test
  void streamedRequestIsNotBegun() {
    Stage stage = guarded().streamsRequest().open();
    stage.store.sinceLoss = 10_000;
    Stage.Call call = stage.upload("k", 10);
    stage.store.reply(Optional.empty());
    assertRecovering(stage, call, "20");
  }

  @Test
  void afterThePeriodEverythingGoesOn() {
    Stage stage = guarded().open();
    stage.store.sinceLoss = 30_000;
    stage.acquired();
    assertThat(stage.store.commands()).containsExactly("reserve 1");
    assertThat(stage.upstream.waiting()).isEqualTo(1);
  }

  @Test
  void routeWithoutAGuardDoesNotAsk() {
    Stage stage = Stage.open();
    stage.store.sinceLoss = 0;
    stage.acquired();
    assertThat(stage.upstream.waiting()).isEqualTo(1);
  }

  /** The command waited for a connection, and got one to a server that had taken the place. */
  @Test
  void reservationOnAStoreThatWasReplacedMeanwhileIsTakenBack() {
    Stage stage = guarded().open();
    Stage.Call call = stage.whole("k", "{}");
    stage.store.sinceLoss = 0;
    stage.store.acquire();
    assertRecovering(stage, call, "30");
    stage.scheduler.advance(Duration.ofMillis(100));
    assertThat(stage.store.commands()).containsExactly("reserve 1", "release 1");
  }

  @Test
  void takeOverOnAStoreThatWasReplacedMeanwhileIsTakenBack() {
    Stage stage = guarded().retry().open();
    Stage.Call call = stage.whole("k", "{}");
    stage.store.existing(1, new OutcomeUnknown(true));
    stage.store.sinceLoss = 0;
    stage.store.acquire();
    assertRecovering(stage, call, "30");
    stage.scheduler.advance(Duration.ofMillis(100));
    assertThat(stage.store.commands()).last().isEqualTo("Unknown 2");
  }

  @ParameterizedTest
  @CsvSource({
    // The loss was at 1,000,000 s, clocks may differ by 60 s, and it is 1,000,010 s.
    "@1000061, true, 1000010",
    "@1000060, false, 1000010",
    "@999999, false, 1000010",
    // The gateway's own clock is 30 s behind, or ahead.
    "@1000000, false, 999980",
    "@1000000, false, 1000040",
  })
  void keyThatIsYoungerThanTheLossIsNew(String firstSent, boolean begun, long now) {
    KeyRule rule =
        new KeyRule(
            List.of(new KeySource.Header("Idempotency-Key")),
            KeySyntax.LENIENT,
            KeyPattern.ANY,
            new KeyRule.KeyAge("First-Sent", Duration.ofHours(1), Duration.ofSeconds(60)),
            Duration.ZERO);
    Stage stage = guarded().keys(rule).open();
    stage.scheduler.stopFor(
        Duration.ofSeconds(now).minusMillis(stage.scheduler.currentTimeMillis()));
    stage.store.sinceLoss = 10_000;
    stage.whole("k", "{}", "First-Sent", firstSent);
    assertThat(stage.store.commands()).containsExactly(begun ? "reserve 1" : "find");
  }

  @Test
  void attemptUnderWayEndsAsAlways() {
    Stage stage = guarded().open();
    Stage.Call call = stage.acquired();
    FakeUpstream.Connection connection = stage.upstream.connect();
    stage.store.sinceLoss = 0;
    answer(connection.receiver(), 201, "made");
    stage.store.done();
    assertThat(call.client().status()).isEqualTo(201);
  }
}
