package dev.idempotency.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.KeyForm;
import dev.idempotency.gateway.idempotency.KeyPattern;
import dev.idempotency.gateway.idempotency.KeySyntax;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.StoredOperation.OutcomeUnknown;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys that are too old, or of the future. */
class KeyTimeTest {

  private static final Duration RETENTION = Duration.ofHours(1);
  private static final Duration SKEW = Duration.ofMinutes(1);
  private static final IdempotencyKey ANY = new IdempotencyKey("k");

  private static KeyRule rule(KeyPattern pattern, @Nullable String firstSent) {
    return new KeyRule(
        List.of(new KeySource.Header("Idempotency-Key")),
        KeySyntax.LENIENT,
        pattern,
        new KeyRule.KeyAge(firstSent, RETENTION, SKEW),
        Duration.ZERO);
  }

  private static KeyTime.@Nullable Refusal refusal(
      KeyRule rule, IdempotencyKey key, Headers headers, long now) {
    return KeyTime.refusal(rule, Objects.requireNonNull(rule.age()), key, headers, now);
  }

  private static @Nullable Result refused(String firstSent, long now) {
    Headers headers = Headers.of("First-Sent", firstSent);
    KeyTime.Refusal refusal = refusal(rule(KeyPattern.ANY, "First-Sent"), ANY, headers, now);
    return refusal == null ? null : refusal.result();
  }

  @ParameterizedTest
  @CsvSource({
    // Made at 10,000 s; retention 3,600 s, skew 60 s.
    "9939999,  KEY_INVALID",
    "9940000,  ",
    "10000000, ",
    "13539999, ",
    "13540000, KEY_EXPIRED",
    "99999999, KEY_EXPIRED",
    // By a gateway that is 30 s behind: as it is made, and when its record goes.
    "9970000,  ",
    "13570000, KEY_EXPIRED",
  })
  void keyCountsFromItsTimeOnForAsLongAsItsRecordSurelyLives(long now, @Nullable Result result) {
    assertThat(refused("@10000", now)).isEqualTo(result);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1970-01-01T02:46:40Z",
        "1970-01-01t02:46:40z",
        "1970-01-01T02:46:40.000000000Z",
        "1970-01-01T03:46:40+01:00",
        "1969-12-31T23:46:40-03:00",
        " @10000 ",
      })
  void timeMayBeWrittenInManyWays(String text) {
    assertThat(refused(text, 13_539_999)).isNull();
    assertThat(refused(text, 13_540_000)).isEqualTo(Result.KEY_EXPIRED);
    assertThat(refused(text, 9_939_999)).isEqualTo(Result.KEY_INVALID);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "10000",
        "@",
        "@1e4",
        "@10000.5",
        "@10000;a=1",
        "@1000000000000000",
        "1970-01-01",
        "1970-01-01T02:46Z",
        "1970-01-01T02:46:40",
        "1970-01-01 02:46:40Z",
        "1970-13-01T02:46:40Z",
        "1970-02-30T02:46:40Z",
        "1970-01-01T02:46:60Z",
        "1970-01-01T02:46:40+25:00",
        "+1970-01-01T02:46:40Z",
        "Thu, 01 Jan 1970 02:46:40 GMT",
        "\u0661970-01-01T02:46:40Z",
      })
  void whatIsNoTimeIsRefused(String text) {
    assertThat(refused(text, 10_000_000)).isEqualTo(Result.KEY_INVALID);
  }

  @ParameterizedTest
  @ValueSource(strings = {"@999999999999999", "9999-12-31T23:59:59Z"})
  void timeFarAheadIsRefused(String text) {
    assertThat(refused(text, 10_000_000)).isEqualTo(Result.KEY_INVALID);
  }

  @ParameterizedTest
  @ValueSource(strings = {"@-999999999999999", "@0", "0000-01-01T00:00:00Z"})
  void timeLongAgoIsTooOld(String text) {
    assertThat(refused(text, 10_000_000)).isEqualTo(Result.KEY_EXPIRED);
  }

  @Test
  void missingAndRepeatedTimeIsRefusedByItsName() {
    for (Headers headers :
        List.of(new Headers(), Headers.of("First-Sent", "@10000", "first-sent", "@10000"))) {
      KeyTime.Refusal refusal =
          refusal(rule(KeyPattern.ANY, "First-Sent"), ANY, headers, 10_000_000);
      assertThat(refusal).isNotNull();
      assertThat(refusal.problem().type()).isEqualTo("key-invalid");
      assertThat(refusal.problem().detail()).contains("First-Sent").contains("@1769860800");
    }
  }

  @Test
  void keyThatSaysWhenItWasMadeNeedsNoField() {
    IdempotencyKey key = new IdempotencyKey("017F22E2-79B0-7CC3-98C4-DC0C0C07398F");
    long made = Instant.parse("2022-02-22T19:22:22Z").toEpochMilli();
    KeyRule rule = rule(KeyForm.UUID7, null);

    assertThat(refusal(rule, key, new Headers(), made)).isNull();
    KeyTime.Refusal late = refusal(rule, key, new Headers(), made + 3_540_000);
    assertThat(late).isNotNull();
    assertThat(late.problem().status()).isEqualTo(412);
    assertThat(late.problem().type()).isEqualTo("key-expired");
    KeyTime.Refusal early = refusal(rule, key, new Headers(), made - 60_001);
    assertThat(early).isNotNull();
    assertThat(early.problem().type()).isEqualTo("key-invalid");
  }

  @Test
  void ruleWithoutAgesRefusesNothing() {
    assertThat(KeyTime.refusal(KeyRule.header("K"), ANY, new Headers(), new HandScheduler()))
        .isNull();
  }

  // ---- in an exchange

  private static final String[] SENT_NOW = {"Idempotency-Key", "k", "First-Sent", "@0"};

  private static Stage stage(Stage.Settings settings) {
    Stage stage = settings.keys(rule(KeyPattern.ANY, "First-Sent")).open();
    // Nothing to renew yet, so nothing runs on the way.
    stage.scheduler.stopFor(RETENTION.minus(SKEW).minusSeconds(2));
    return stage;
  }

  @Test
  void keyThatIsTooOldIsRefusedByItsHead() {
    Stage stage = stage(Stage.with());
    stage.scheduler.advance(Duration.ofSeconds(1));
    Stage.Call call = stage.post("/orders", 2, SENT_NOW);

    assertThat(call.client().status()).isEqualTo(412);
    assertThat(call.client().problem()).isEqualTo("key-expired");
    assertThat(call.client().headers().contains("Retry-After")).isFalse();
    assertThat(stage.heard.results()).containsExactly(Result.KEY_EXPIRED);
  }

  @Test
  void keyThatGrewTooOldWhileItsBodyCameIsRefusedBeforeTheStoreIsAsked() {
    Stage stage = stage(Stage.with());
    Stage.Call call = stage.post("/orders", 2, SENT_NOW);
    call.exchange().body(new TextChunk("{}"));
    stage.scheduler.advance(Duration.ofSeconds(1));
    call.exchange().bodyEnd();

    assertThat(call.client().problem()).isEqualTo("key-expired");
    assertThat(stage.store.commands()).isEmpty();
    assertThat(stage.budget.used()).isZero();
    assertThat(stage.exchanges.underWay()).isZero();
  }

  @Test
  void keyThatGrewTooOldWhileItsRecordWentIsNotTakenAsNew() {
    Stage stage = stage(Stage.with().retry());
    Stage.Call call = stage.request("/orders", "{}", SENT_NOW);
    stage.store.existing(1, new OutcomeUnknown(true));
    stage.scheduler.advance(Duration.ofSeconds(1));
    stage.store.reply(ReserveReply.GONE);

    assertThat(call.client().problem()).isEqualTo("key-expired");
    assertThat(stage.upstream.waiting()).isZero();
  }

  @Test
  void keyInTimeGoesOn() {
    Stage stage = stage(Stage.with());
    stage.request("/orders", "{}", SENT_NOW);

    assertThat(stage.store.commands()).containsExactly("reserve 1");
  }

  @Test
  void fieldThatSaysTheTimeMustNotBeNominated() {
    Stage stage = stage(Stage.with());
    Stage.Call call =
        stage.post(
            "/orders", 2, "Connection", "First-Sent", "Idempotency-Key", "k", "First-Sent", "@0");

    assertThat(call.client().problem()).isEqualTo("bad-request");
  }
}
