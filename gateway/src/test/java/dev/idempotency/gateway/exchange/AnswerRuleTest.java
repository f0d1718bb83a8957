package dev.idempotency.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.AnswerRule.Cors;
import dev.idempotency.gateway.exchange.AnswerRule.Style;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ProblemDetails;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** How the gateway's own errors and its replays look, by style and by who may read them. */
class AnswerRuleTest {

  private static final String APP = "https://app.example";
  private static final String OTHER = "https://other.example";
  private static final String OWN_FIELDS =
      "Idempotent-Replayed, Idempotency-Key-Derived, Idempotency-Expires,"
          + " Idempotency-Original-Trace, Idempotency-Bypassed, Idempotency-Redacted,"
          + " Retry-After, Link";
  private static final AnswerRule SILENT = AnswerRule.DEFAULT;
  private static final AnswerRule APPS = cors(false, APP, OTHER);
  private static final AnswerRule LOGGED_IN = cors(true, APP);
  private static final AnswerRule ALL = cors(false, "*");

  private static AnswerRule cors(boolean credentials, String... origins) {
    return new AnswerRule(Style.PROBLEM, new Cors(Set.of(origins), credentials));
  }

  private static Headers origin(String origin) {
    return Headers.of("Origin", origin);
  }

  // ---- errors that a page may read

  private static Headers error(AnswerRule rule, Headers request) {
    return rule.render(Problems.inFlight(Duration.ofSeconds(3)), request).head().headers();
  }

  @Test
  void errorSaysNothingOfOriginsWhereTheRouteDoesNot() {
    Headers error = error(SILENT, origin(APP));
    error.forEach((name, value) -> assertThat(name).doesNotStartWith("Access-Control-"));
    assertThat(error.contains("Vary")).isFalse();
  }

  @Test
  void errorMayBeReadByAnOriginOfTheRoute() {
    Headers error = error(APPS, origin(APP));
    assertThat(error.all("Access-Control-Allow-Origin")).containsExactly(APP);
    assertThat(error.contains("Access-Control-Allow-Credentials")).isFalse();
    assertThat(error.all("Access-Control-Expose-Headers")).containsExactly(OWN_FIELDS);
    assertThat(error.all("Vary")).containsExactly("Origin");
  }

  @Test
  void errorMayBeReadWithCredentialsWhereTheRouteSaysSo() {
    Headers error = error(LOGGED_IN, origin(APP));
    assertThat(error.all("Access-Control-Allow-Origin")).containsExactly(APP);
    assertThat(error.all("Access-Control-Allow-Credentials")).containsExactly("true");
  }

  @Test
  void errorMayNotBeReadByAnotherOrigin() {
    Headers error = error(LOGGED_IN, origin("https://app.example.evil.example"));
    error.forEach((name, value) -> assertThat(name).doesNotStartWith("Access-Control-"));
    assertThat(error.all("Vary")).containsExactly("Origin");
  }

  @Test
  void errorWithoutAnOriginVariesByIt() {
    assertThat(error(APPS, new Headers()).all("Vary")).containsExactly("Origin");
  }

  @Test
  void errorMayBeReadByAllWhereTheRouteSaysSo() {
    Headers error = error(ALL, origin(APP));
    assertThat(error.all("Access-Control-Allow-Origin")).containsExactly("*");
    assertThat(error.contains("Vary")).isFalse();
  }

  @Test
  void wildcardIsNoAnswerToCredentials() {
    Headers error = error(cors(true, "*"), origin(APP));
    assertThat(error.all("Access-Control-Allow-Origin")).containsExactly(APP);
    assertThat(error.all("Access-Control-Allow-Credentials")).containsExactly("true");
    assertThat(error.all("Vary")).containsExactly("Origin");
  }

  // ---- answers of the upstream that a page may read

  @Test
  void fieldsOfTheGatewayMayBeReadBesidesThoseOfTheUpstream() {
    Headers answer =
        Headers.of(
            "Access-Control-Allow-Origin", APP,
            "Access-Control-Expose-Headers", "X-Total, link",
            "Access-Control-Expose-Headers", "Retry-After");
    APPS.expose(answer);
    assertThat(answer.all("Access-Control-Expose-Headers"))
        .containsExactly(
            "X-Total, link, Retry-After, Idempotent-Replayed, Idempotency-Key-Derived,"
                + " Idempotency-Expires, Idempotency-Original-Trace, Idempotency-Bypassed,"
                + " Idempotency-Redacted");
  }

  @Test
  void allFieldsMayBeReadAlready() {
    Headers answer =
        Headers.of("Access-Control-Allow-Origin", "*", "Access-Control-Expose-Headers", "*");
    ALL.expose(answer);
    assertThat(answer.all("Access-Control-Expose-Headers")).containsExactly("*");
  }

  @Test
  void wildcardIsNoListWithCredentials() {
    Headers answer =
        Headers.of(
            "Access-Control-Allow-Origin", APP,
            "Access-Control-Allow-Credentials", "true",
            "Access-Control-Expose-Headers", "*");
    LOGGED_IN.expose(answer);
    assertThat(answer.get("Access-Control-Expose-Headers")).isEqualTo("*, " + OWN_FIELDS);
  }

  @Test
  void answerThatNoPageMayReadStaysAsItIs() {
    Headers answer = Headers.of("X", "y");
    APPS.expose(answer);
    assertThat(answer).isEqualTo(Headers.of("X", "y"));
  }

  @Test
  void answerStaysAsItIsWhereTheRouteSaysNothing() {
    Headers answer = Headers.of("Access-Control-Allow-Origin", APP);
    SILENT.expose(answer);
    assertThat(answer).isEqualTo(Headers.of("Access-Control-Allow-Origin", APP));
  }

  // ---- replays

  private static Headers replay(AnswerRule rule, Headers request, String... stored) {
    StoredResponse copy = new StoredResponse(201, Headers.of(stored), new byte[0], new Headers());
    return ResponseFields.replay(copy, request, rule).head().headers();
  }

  private static final String[] FOR_APP = {
    "Access-Control-Allow-Origin", APP,
    "Access-Control-Allow-Credentials", "true",
    "Access-Control-Expose-Headers", "X-Total",
    "Vary", "Accept-Encoding, origin"
  };

  @Test
  void replayForTheSameOriginKeepsItsPermission() {
    Headers replay = replay(SILENT, origin(APP), FOR_APP);
    assertThat(replay.get("Access-Control-Allow-Origin")).isEqualTo(APP);
    assertThat(replay.get("Access-Control-Allow-Credentials")).isEqualTo("true");
    assertThat(replay.get("Access-Control-Expose-Headers")).isEqualTo("X-Total");
  }

  @Test
  void replayForAnotherOriginOfTheRouteHasItsOwnPermission() {
    Headers replay = replay(APPS, origin(OTHER), FOR_APP);
    assertThat(replay.all("Access-Control-Allow-Origin")).containsExactly(OTHER);
    assertThat(replay.contains("Access-Control-Allow-Credentials")).isFalse();
    assertThat(replay.all("Access-Control-Expose-Headers"))
        .containsExactly("X-Total, " + OWN_FIELDS);
    assertThat(replay.all("Vary")).containsExactly("Accept-Encoding, origin");
  }

  @Test
  void replayForAnotherOriginSaysThatItVaries() {
    Headers replay = replay(APPS, origin(OTHER), "Access-Control-Allow-Origin", APP);
    assertThat(replay.all("Vary")).containsExactly("Origin");
  }

  @Test
  void replayForAnOriginThatTheRouteDoesNotHaveShowsNoPermission() {
    for (AnswerRule rule : new AnswerRule[] {SILENT, LOGGED_IN}) {
      Headers replay = replay(rule, origin(OTHER), FOR_APP);
      replay.forEach((name, value) -> assertThat(name).doesNotStartWith("Access-Control-"));
      assertThat(replay.get("Idempotent-Replayed")).isEqualTo("true");
    }
  }

  @Test
  void replayWithoutAnOriginShowsNoPermissionOfAnother() {
    Headers replay = replay(APPS, new Headers(), FOR_APP);
    replay.forEach((name, value) -> assertThat(name).doesNotStartWith("Access-Control-"));
  }

  @Test
  void permissionForAllStaysInReplays() {
    Headers replay = replay(LOGGED_IN, origin(OTHER), "Access-Control-Allow-Origin", "*");
    assertThat(replay.all("Access-Control-Allow-Origin")).containsExactly("*");
    assertThat(replay.all("Access-Control-Expose-Headers")).containsExactly(OWN_FIELDS);
  }

  @Test
  void firstAnswerShowsMoreThanItsCopy() {
    Stage stage = Stage.with().answers(APPS).open();
    Stage.Call call = stage.acquired();
    Stage.answer(
        stage.upstream.connect().receiver(), 201, "made", "Access-Control-Allow-Origin", APP);
    stage.store.done();

    assertThat(call.client().headers().get("Access-Control-Expose-Headers")).isEqualTo(OWN_FIELDS);
    assertThat(stage.store.completed().get(0).headers().contains("Access-Control-Expose-Headers"))
        .isFalse();
  }

  // ---- the style of payment APIs

  private static final AnswerRule STRIPE = new AnswerRule(Style.STRIPE, null);

  static Stream<Arguments> errors() {
    return Stream.of(
        Arguments.of(Problems.keyReused(Set.of()), 400, "idempotency_error", "key_reused", "false"),
        Arguments.of(
            Problems.inFlight(Duration.ofSeconds(3)),
            409,
            "idempotency_error",
            "idempotency_key_in_use",
            "true"),
        Arguments.of(
            Problems.responseNotKept(200), 409, "idempotency_error", "response_not_kept", "false"),
        Arguments.of(Problems.outcomeUnknown(), 409, "api_error", "outcome_unknown", "false"),
        Arguments.of(
            Problems.sentAndLost(ResponseReceiver.Failure.TIMEOUT),
            504,
            "api_error",
            "outcome_unknown",
            "false"),
        Arguments.of(Problems.storeUnavailable(), 503, "api_error", "store_unavailable", "true"),
        Arguments.of(Problems.shuttingDown(), 503, "api_error", "shutting_down", "true"),
        Arguments.of(
            Problems.unreachable(Upstream.Refusal.UNREACHABLE),
            502,
            "api_error",
            "upstream_unreachable",
            "true"),
        Arguments.of(
            Problems.bodyTooLarge(10), 413, "invalid_request_error", "body_too_large", "false"));
  }

  @ParameterizedTest
  @MethodSource("errors")
  void errorIsSaidInTheWayOfPaymentApis(
      ProblemDetails problem, int status, String type, String code, String retry) {
    Response response = STRIPE.render(problem, new Headers());
    Headers headers = response.head().headers();

    assertThat(response.status()).isEqualTo(status);
    assertThat(headers.all("Content-Type")).containsExactly("application/json");
    assertThat(headers.all("Stripe-Should-Retry")).containsExactly(retry);
    assertThat(headers.contains("Retry-After")).isEqualTo(retry.equals("true"));
    assertThat(headers.get("Link"))
        .isEqualTo("</.well-known/idempotency#" + problem.type() + ">; rel=\"describedby\"");
    assertThat(new String(response.body(), StandardCharsets.UTF_8))
        .isEqualTo(
            "{\"error\":{\"type\":\""
                + type
                + "\",\"code\":\""
                + code
                + "\",\"message\":\""
                + problem.title()
                + ". "
                + problem.detail()
                + "\",\"doc_url\":\"/.well-known/idempotency#"
                + problem.type()
                + "\"}}\n");
  }

  @Test
  void detailIsEscaped() {
    ProblemDetails problem = Problems.badRequest("a \"b\" \\ \n");
    String body = new String(STRIPE.render(problem, new Headers()).body(), StandardCharsets.UTF_8);
    assertThat(body).contains("a \\\"b\\\" \\\\ \\u000a\"");
  }

  @Test
  void refusalOfARouteIsInItsStyle() {
    Stage stage = Stage.with().answers(STRIPE).open();
    Stage.Call call = stage.keyless(0);
    assertThat(call.client().text()).startsWith("{\"error\":{\"type\":\"invalid_request_error\"");
  }
}
