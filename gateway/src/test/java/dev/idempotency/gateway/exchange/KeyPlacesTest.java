package dev.idempotency.gateway.exchange;

import static dev.idempotency.gateway.exchange.Stage.answer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.FakeUpstream.Connection;
import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.IdempotencyKey.Reading;
import dev.idempotency.gateway.idempotency.KeyForm;
import dev.idempotency.gateway.idempotency.KeyPattern;
import dev.idempotency.gateway.idempotency.KeySyntax;
import dev.idempotency.gateway.idempotency.OperationId;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where a key is looked for, and what becomes of a request in which none is found. */
class KeyPlacesTest {

  private static final KeySource HEADER = new KeySource.Header("X-Key");
  private static final KeySource QUERY = new KeySource.Query("id");

  /** Knows bodies such as {@code key=abc}, {@code broken} and those without a key. */
  private static final KeySource BODY = new KeySource.Pointer("/key", (head, body) -> find(body));

  private static Reading find(byte[] body) {
    String text = new String(body, StandardCharsets.ISO_8859_1);
    if (text.equals("broken")) {
      return new Reading.Malformed("the body is broken");
    }
    return text.startsWith("key=")
        ? IdempotencyKey.readText(text.substring(4))
        : IdempotencyKey.absent();
  }

  private static KeyRule from(KeySource... sources) {
    return new KeyRule(List.of(sources), KeySyntax.LENIENT, KeyPattern.ANY, null, Duration.ZERO);
  }

  private static KeyRule pattern(KeyPattern pattern, KeySource... sources) {
    return new KeyRule(List.of(sources), KeySyntax.LENIENT, pattern, null, Duration.ZERO);
  }

  private static OperationId byKey(String key) {
    return OperationId.of("create-order", Collections.singletonList(null), new IdempotencyKey(key));
  }

  private static List<OperationId> claimed(Stage stage) {
    return stage.store.reservations().stream().map(reservation -> reservation.id()).toList();
  }

  private static void assertOver(Stage stage) {
    assertThat(stage.exchanges.underWay()).isZero();
    assertThat(stage.budget.used()).isZero();
  }

  // ---- the order

  @Test
  void firstSourceThatHasAKeyCounts() {
    Stage stage = Stage.with().keys(from(HEADER, QUERY, BODY)).open();
    stage.whole("/orders?id=q", "key=b", new String[] {"X-Key", "h"});
    stage.whole("/orders?id=q", "key=b", new String[] {});
    stage.whole("/orders", "key=b", new String[] {});

    assertThat(claimed(stage)).containsExactly(byKey("h"), byKey("q"), byKey("b"));
  }

  @Test
  void bodyBeforeTheQueryCountsBeforeIt() {
    Stage stage = Stage.with().keys(from(BODY, QUERY)).open();
    stage.whole("/orders?id=q", "key=b", new String[] {});
    stage.whole("/orders?id=q", "{}", new String[] {});

    assertThat(claimed(stage)).containsExactly(byKey("b"), byKey("q"));
  }

  @Test
  void whatIsMalformedInAnEarlierSourceIsNotMadeGoodByALaterOne() {
    Stage stage = Stage.with().keys(from(HEADER, QUERY, BODY)).optional().open();
    List<Stage.Call> calls =
        List.of(
            stage.whole("/orders?id=q", "key=b", new String[] {"X-Key", ""}),
            stage.whole("/orders?id=q", "key=b", new String[] {"X-Key", "a", "x-key", "a"}),
            stage.whole("/orders?id=", "key=b", new String[] {}),
            stage.whole("/orders?id=%zz", "key=b", new String[] {}),
            stage.whole("/orders?id=a&id=a", "key=b", new String[] {}));

    for (Stage.Call call : calls) {
      assertThat(call.client().problem()).isEqualTo("key-invalid");
    }
    assertThat(calls.get(0).client().text()).contains("The header X-Key").contains("empty");
    assertThat(calls.get(4).client().text())
        .contains("The query parameter id")
        .contains("given 2 times");
    assertThat(stage.store.commands()).isEmpty();
  }

  @Test
  void whatIsMalformedInTheBodyIsNotMadeGoodByTheQueryBehindIt() {
    Stage stage = Stage.with().keys(from(BODY, QUERY)).open();
    Stage.Call call = stage.whole("/orders?id=q", "broken", new String[] {});

    assertThat(call.client().problem()).isEqualTo("key-invalid");
    assertThat(call.client().text()).contains("The member /key of the body").contains("broken");
    assertThat(stage.heard.results()).containsExactly(Result.KEY_INVALID);
    assertThat(stage.store.commands()).isEmpty();
    assertOver(stage);
  }

  @ParameterizedTest
  @ValueSource(strings = {"x-key", "X_Key", "close, X-Key"})
  void headerOfAnySourceMustNotBeNominated(String nominated) {
    Stage stage = Stage.with().keys(from(QUERY, HEADER)).open();
    Stage.Call call =
        stage.whole("/orders?id=q", "{}", new String[] {"Connection", nominated, "X-Key", "a"});

    assertThat(call.client().problem()).isEqualTo("bad-request");
    assertThat(stage.store.commands()).isEmpty();
  }

  // ---- the body

  @Test
  void nothingIsAskedBeforeTheBodyWithTheKeyIsWhole() {
    Stage stage = Stage.with().keys(from(BODY)).open();
    Stage.Call call = stage.post("/orders", 5);
    call.exchange().body(new TextChunk("key="));

    assertThat(call.client().isBodyWanted()).isTrue();
    assertThat(stage.store.commands()).isEmpty();

    call.exchange().body(new TextChunk("b"));
    call.exchange().bodyEnd();

    assertThat(claimed(stage)).containsExactly(byKey("b"));
  }

  @Test
  void bodyWithoutAKeyIsRefusedWhereOneIsRequired() {
    Stage stage = Stage.with().keys(from(HEADER, BODY)).open();
    Stage.Call call = stage.whole("/orders", "{}", new String[] {});

    assertThat(call.client().problem()).isEqualTo("key-missing");
    assertThat(call.client().text())
        .contains("the header X-Key")
        .contains("the member /key of the body");
    assertThat(stage.heard.results()).containsExactly(Result.KEY_MISSING);
    assertOver(stage);
  }

  @Test
  void bodyWithoutAKeyGoesOnAsItCameWhereNoneIsRequired() {
    Stage stage = Stage.with().keys(from(BODY)).optional().open();
    Stage.Call call = stage.whole("/orders", "{}", new String[] {"Host", "gw.test"});
    Connection connection = stage.upstream.connect();

    assertThat(connection.text()).isEqualTo("{}");
    assertThat(connection.head().headers().contains("Idempotency-Attempt")).isFalse();

    answer(connection.receiver(), 201, "made");

    assertThat(call.client().text()).isEqualTo("made");
    assertThat(call.client().headers().contains("Idempotency-Bypassed")).isFalse();
    assertThat(stage.store.commands()).isEmpty();
    assertThat(stage.heard.results()).containsExactly(Result.PASSED);
    assertOver(stage);
  }

  @Test
  void clientThatGoesWhileItsBodyWithoutAKeyIsForwardedCutsItOff() {
    Stage stage = Stage.with().keys(from(BODY)).optional().open();
    Stage.Call call = stage.whole("/orders", "{}", new String[] {});
    Connection connection = stage.upstream.connect();
    call.exchange().clientGone();

    assertThat(connection.isCancelled()).isTrue();
    assertThat(call.exchange().isOver()).isTrue();
    assertOver(stage);
  }

  @Test
  void requestWithoutContentHasNoKeyInItsBody() {
    Stage stage = Stage.with().keys(from(BODY)).open();
    Stage.Call call = stage.whole("/orders", "", new String[] {});

    assertThat(call.client().problem()).isEqualTo("key-missing");
  }

  @Test
  void callerMustBeKnownBeforeTheBodyIsRead() {
    Stage stage = Stage.with().keys(from(BODY)).scope(new ScopePart.Header("X-Tenant")).open();
    Stage.Call call = stage.post("/orders", 5);

    assertThat(call.client().problem()).isEqualTo("identity-missing");
  }

  @Test
  void stoppingGatewayRefusesWhatItHasNotRead() {
    Stage stage = Stage.with().keys(from(BODY)).optional().open();
    Stage.Call call = stage.post("/orders", 5);
    stage.exchanges.abandon();
    call.exchange().body(new TextChunk("key=b"));
    call.exchange().bodyEnd();

    assertThat(call.client().problem()).isEqualTo("shutting-down");
    assertThat(stage.upstream.waiting()).isZero();
    assertOver(stage);
  }

  @Test
  void keyInTheBodyOfAStreamingRouteIsFoundAllTheSame() {
    Stage stage = Stage.with().keys(from(BODY)).streamsRequest().open();
    stage.whole("/orders", "key=b", new String[] {});

    assertThat(claimed(stage)).containsExactly(byKey("b"));
    assertThat(stage.store.fingerprints()).containsExactly(Stage.fingerprint("key=b"));
  }

  // ---- patterns

  @Test
  void keyOfAnotherFormIsRefusedWhereverItIs() {
    Stage stage = Stage.with().keys(pattern(KeyForm.UUID, HEADER, QUERY, BODY)).open();
    List<Stage.Call> calls =
        List.of(
            stage.whole("/orders", "{}", new String[] {"X-Key", "secret"}),
            stage.whole("/orders?id=secret", "{}", new String[] {}),
            stage.whole("/orders", "key=secret", new String[] {}));

    for (Stage.Call call : calls) {
      assertThat(call.client().problem()).isEqualTo("key-invalid");
      assertThat(call.client().text()).contains("a UUID, such as").doesNotContain("secret");
    }
    assertThat(stage.store.commands()).isEmpty();
  }

  @Test
  void keyOfTheRightFormStaysAsItWasSent() {
    Stage stage = Stage.with().keys(pattern(KeyForm.UUID, HEADER)).open();
    String upper = "8E03978E-40D5-43DD-BC93-6894A57F9324";
    String lower = "8e03978e-40d5-43dd-bc93-6894a57f9324";
    stage.whole("/orders", "{}", new String[] {"X-Key", upper});
    stage.whole("/orders", "{}", new String[] {"X-Key", '"' + lower + '"'});

    assertThat(claimed(stage)).containsExactly(byKey(upper), byKey(lower));
  }
}
