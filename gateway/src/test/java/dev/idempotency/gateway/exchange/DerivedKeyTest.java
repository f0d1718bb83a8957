package dev.idempotency.gateway.exchange;

import static dev.idempotency.gateway.exchange.Stage.answer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.FakeUpstream.Connection;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.KeyPattern;
import dev.idempotency.gateway.idempotency.KeySyntax;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.StoredOperation.Completed;
import dev.idempotency.gateway.idempotency.StoredOperation.InFlight;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Requests without a key that name their operation themselves. */
class DerivedKeyTest {

  private static final Duration WINDOW = Duration.ofSeconds(30);
  private static final String[] ACME = {"Host", "gw.test", "X-Tenant", "acme"};
  private static final Completed DONE =
      new Completed(
          new StoredResponse(
              201, new Headers(), "made".getBytes(StandardCharsets.ISO_8859_1), new Headers()));

  private static KeyRule derived(Duration window) {
    return new KeyRule(
        List.of(new KeySource.Header("Idempotency-Key")),
        KeySyntax.LENIENT,
        KeyPattern.ANY,
        null,
        window);
  }

  private static Stage.Settings settings() {
    return Stage.with().keys(derived(WINDOW)).scope(new ScopePart.Header("X-Tenant"));
  }

  private static OperationId byRequest(String tenant, String body) {
    return OperationId.derived("create-order", List.of(tenant), Stage.fingerprint(body));
  }

  private static List<OperationId> claimed(Stage stage) {
    return stage.store.reservations().stream().map(Reservation::id).toList();
  }

  @Test
  void requestWithoutAKeyNamesItsOperationItself() {
    Stage stage = settings().open();
    stage.whole("/orders", "{}", ACME);
    stage.whole("/orders", "{}", ACME);
    stage.whole("/orders", "[]", ACME);
    stage.whole("/orders", "{}", new String[] {"X-Tenant", "other"});

    assertThat(claimed(stage))
        .containsExactly(
            byRequest("acme", "{}"),
            byRequest("acme", "{}"),
            byRequest("acme", "[]"),
            byRequest("other", "{}"));
  }

  @Test
  void requestWithAKeyIsNamedByIt() {
    Stage stage = settings().open();
    stage.whole("/orders", "{}", new String[] {"X-Tenant", "acme", "Idempotency-Key", "k"});

    assertThat(claimed(stage))
        .containsExactly(OperationId.of("create-order", List.of("acme"), new IdempotencyKey("k")));
    assertThat(stage.store.reservations().get(0).retention()).isEqualTo(Duration.ofHours(1));
  }

  @Test
  void malformedKeyIsRefusedAndNoneDerived() {
    Stage stage = settings().open();
    Stage.Call call =
        stage.whole("/orders", "{}", new String[] {"X-Tenant", "acme", "Idempotency-Key", ""});

    assertThat(call.client().problem()).isEqualTo("key-invalid");
    assertThat(stage.store.commands()).isEmpty();
  }

  @Test
  void recordLivesForTheWindowAndAtLeastForItsLease() {
    Stage stage = settings().open();
    stage.whole("/orders", "{}", ACME);
    assertThat(stage.store.reservations().get(0).retention()).isEqualTo(WINDOW);

    Stage shorter = settings().keys(derived(Duration.ofSeconds(1))).open();
    shorter.whole("/orders", "{}", ACME);
    assertThat(shorter.store.reservations().get(0).retention()).isEqualTo(Stage.LEASE);
  }

  @Test
  void firstAnswerSaysThatTheKeyWasDerivedWhateverTheUpstreamSays() {
    Stage stage = settings().open();
    String[] fields = {"X-Tenant", "acme", "Idempotency-Key-Derived", "forged"};
    Stage.Call call = stage.whole("/orders", "{}", fields);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    assertThat(connection.head().headers().contains("Idempotency-Key-Derived")).isFalse();

    answer(connection.receiver(), 201, "made", "Idempotency-Key-Derived", "forged");
    stage.store.done();

    assertThat(call.client().headers().all("Idempotency-Key-Derived")).containsExactly("true");
    assertThat(stage.heard.results()).containsExactly(Result.COMPLETED);
    assertThat(stage.heard.derived()).containsExactly(true);
    assertThat(stage.budget.used()).isZero();
  }

  @Test
  void answerUnderASentKeyNeverSaysSo() {
    Stage stage = settings().open();
    String[] fields = {"X-Tenant", "acme", "Idempotency-Key", "k"};
    Stage.Call call = stage.whole("/orders", "{}", fields);
    stage.store.acquire();
    answer(stage.upstream.connect().receiver(), 201, "made", "idempotency-key-derived", "forged");
    stage.store.done();

    assertThat(call.client().headers().contains("Idempotency-Key-Derived")).isFalse();
    assertThat(stage.heard.derived()).containsExactly(false);
  }

  @Test
  void replayAndRefusalSayThatTheKeyWasDerived() {
    Stage stage = settings().open();
    Stage.Call replayed = stage.whole("/orders", "{}", ACME);
    stage.store.existing(1, DONE);
    Stage.Call refused = stage.whole("/orders", "{}", ACME);
    stage.store.existing(1, new InFlight(Duration.ofSeconds(1)));

    assertThat(replayed.client().headers().all("Idempotency-Key-Derived")).containsExactly("true");
    assertThat(replayed.client().headers().get("Idempotent-Replayed")).isEqualTo("true");
    assertThat(refused.client().status()).isEqualTo(409);
    assertThat(refused.client().headers().all("Idempotency-Key-Derived")).containsExactly("true");
  }

  @Test
  void callersThatNobodyTellsApartNeverShareADerivedKey() {
    Stage required = Stage.with().keys(derived(WINDOW)).open();
    Stage.Call refused = required.whole("/orders", "{}", new String[] {});
    assertThat(refused.client().problem()).isEqualTo("key-missing");

    Stage optional = Stage.with().keys(derived(WINDOW)).optional().open();
    Stage.Call passed = optional.whole("/orders", "{}", new String[] {});
    answer(optional.upstream.connect().receiver(), 201, "made");
    assertThat(passed.client().text()).isEqualTo("made");
    assertThat(optional.heard.results()).containsExactly(Result.PASSED);

    for (Stage stage : List.of(required, optional)) {
      assertThat(stage.store.commands()).isEmpty();
      assertThat(stage.budget.used()).isZero();
    }
  }

  @Test
  void callerWithoutTheNamedIdentityIsRefused() {
    Stage stage = settings().optional().open();
    Stage.Call call = stage.whole("/orders", "{}", new String[] {});

    assertThat(call.client().problem()).isEqualTo("identity-missing");
  }

  @Test
  void bodyOfAStreamingRouteIsReadBeforeItNamesItsOperation() {
    Stage stage = settings().streamsRequest().open();
    Stage.Call call = stage.post("/orders", 2, ACME);
    assertThat(stage.store.commands()).isEmpty();
    call.exchange().body(new TextChunk("{}"));
    call.exchange().bodyEnd();

    assertThat(claimed(stage)).containsExactly(byRequest("acme", "{}"));
  }
}
