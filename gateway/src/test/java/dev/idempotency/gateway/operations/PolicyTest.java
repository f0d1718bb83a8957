package dev.idempotency.gateway.operations;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.idempotency.gateway.exchange.AnswerRule;
import dev.idempotency.gateway.exchange.KeyRule;
import dev.idempotency.gateway.exchange.KeySource;
import dev.idempotency.gateway.exchange.ScopePart;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ProblemType;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.KeyPattern;
import dev.idempotency.gateway.idempotency.KeySyntax;
import dev.idempotency.gateway.idempotency.UnknownPolicy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the gateway says of itself to clients. */
class PolicyTest {

  private static final String EVIL = "<script>alert('\"1\"&')</script>";

  private static final PolicyRoute PLAIN =
      new PolicyRoute(
          "create-order",
          List.of("PATCH", "POST"),
          "/orders/**",
          true,
          KeyRule.header("Idempotency-Key"),
          List.of(),
          Duration.ofHours(24),
          Duration.ZERO,
          UnknownPolicy.HOLD,
          AnswerRule.Style.PROBLEM,
          ProblemType.all(),
          1 << 20,
          false);

  private static final PolicyRoute RICH =
      new PolicyRoute(
          EVIL,
          List.of("POST"),
          "/v1/**",
          true,
          new KeyRule(
              List.of(new KeySource.Header("Idempotency-Key"), new KeySource.Query("request_id")),
              strict(),
              expecting("a ULID"),
              new KeyRule.KeyAge(
                  "Idempotency-First-Sent", Duration.ofHours(6), Duration.ofMinutes(1)),
              Duration.ofSeconds(10)),
          List.of(
              new ScopePart.Header("X-Tenant"),
              new ScopePart.Credential("X-Api-Key"),
              new ScopePart.CertificateSubject(),
              new ScopePart.TokenClaim("sub"),
              new ScopePart.BasicUser(),
              new ScopePart.Authorized("X-Internal")),
          Duration.ofDays(7),
          Duration.ofSeconds(5),
          UnknownPolicy.RETRY,
          AnswerRule.Style.STRIPE,
          ProblemType.all(),
          1000,
          true);

  private final Policy policy = new Policy(List.of(PLAIN, RICH));

  private static KeySyntax strict() {
    return IdempotencyKey::read;
  }

  private static KeyPattern expecting(String expected) {
    return new KeyPattern() {
      @Override
      public String expected() {
        return expected;
      }

      @Override
      public boolean matches(String key) {
        return true;
      }
    };
  }

  private Response answer(String... fields) {
    return policy.answer(Headers.of(fields));
  }

  private static String text(Response response) {
    return new String(response.body(), StandardCharsets.UTF_8);
  }

  private JsonNode json() throws JsonProcessingException {
    return new ObjectMapper().readTree(text(answer()));
  }

  private String html() {
    return text(answer("Accept", "text/html"));
  }

  // ---- which form

  @ParameterizedTest
  @ValueSource(
      strings = {
        "application/json",
        "*/*",
        "text/html, application/json",
        "text/html;q=0.5, application/json;q=0.6",
        "text/html;q=0, */*;q=0.1",
        "text/html;q=oops, application/json;q=0.1",
        "image/png",
        "application/*",
        ";;;,,,=",
        ""
      })
  void documentIsForProgramsUnlessHtmlIsPreferred(String accept) {
    assertThat(answer("Accept", accept).head().headers().get("Content-Type"))
        .isEqualTo("application/json");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        "TEXT/HTML",
        "text/*",
        "application/json;q=0.5, text/html;level=1;q=0.7",
        "*/*, application/json;q=0.1"
      })
  void documentIsForPeopleWhereHtmlIsPreferred(String accept) {
    assertThat(answer("Accept", accept).head().headers().get("Content-Type"))
        .isEqualTo("text/html; charset=utf-8");
  }

  @Test
  void documentIsForProgramsWhereNothingIsAskedFor() {
    Headers headers = answer().head().headers();
    assertThat(headers.get("Content-Type")).isEqualTo("application/json");
    assertThat(headers.get("Vary")).isEqualTo("Accept");
    assertThat(headers.get("Cache-Control")).isEqualTo("public, max-age=300");
    assertThat(headers.get("Access-Control-Allow-Origin")).isEqualTo("*");
  }

  @Test
  void documentThatIsKnownIsNotSentAgain() {
    String tag = answer().head().headers().get("ETag");
    Response known = answer("If-None-Match", "\"other\", W/" + tag);

    assertThat(known.status()).isEqualTo(304);
    assertThat(known.body()).isEmpty();
    assertThat(answer("If-None-Match", tag, "Accept", "text/html").status()).isEqualTo(200);
  }

  @Test
  void answersShareNoFields() {
    answer().head().headers().add("Content-Length", "1");
    assertThat(answer().head().headers().contains("Content-Length")).isFalse();
  }

  // ---- what it says

  @Test
  void plainRouteIsToldToPrograms() throws JsonProcessingException {
    JsonNode route = json().path("routes").path(0);
    assertThat(route.path("name").asText()).isEqualTo("create-order");
    assertThat(route.path("methods").toString()).isEqualTo("[\"PATCH\",\"POST\"]");
    assertThat(route.path("path").asText()).isEqualTo("/orders/**");
    assertThat(route.path("key").toString())
        .isEqualTo(
            "{\"required\":true,\"sources\":[{\"in\":\"header\",\"name\":\"Idempotency-Key\"}],"
                + "\"syntax\":\"lenient\",\"pattern\":\"any key\",\"minimum_length\":1,"
                + "\"maximum_length\":255}");
    assertThat(route.path("scope").toString())
        .isEqualTo("[\"the header Authorization, where there is one\"]");
    assertThat(route.path("retention").toString())
        .isEqualTo("{\"duration\":\"PT24H\",\"text\":\"24 hours\"}");
    assertThat(route.path("in_flight").toString())
        .isEqualTo("{\"behaviour\":\"reject\",\"status\":409}");
    assertThat(route.path("mismatch").path("status").asInt()).isEqualTo(422);
    assertThat(route.path("unknown_outcome").asText()).isEqualTo("hold");
    assertThat(route.path("errors").path("style").asText()).isEqualTo("problem");
  }

  @Test
  void routeWithEverythingIsToldToPrograms() throws JsonProcessingException {
    JsonNode route = json().path("routes").path(1);
    assertThat(route.path("name").asText()).isEqualTo(EVIL);
    assertThat(route.path("key").toString())
        .isEqualTo(
            "{\"required\":false,\"sources\":[{\"in\":\"header\",\"name\":\"Idempotency-Key\"},"
                + "{\"in\":\"query\",\"name\":\"request_id\"}],\"syntax\":\"strict\","
                + "\"pattern\":\"a ULID\",\"minimum_length\":1,\"maximum_length\":255,"
                + "\"maximum_age\":\"PT6H\",\"first_sent_header\":\"Idempotency-First-Sent\","
                + "\"derived_for\":\"PT10S\"}");
    assertThat(route.path("scope").toString())
        .contains("X-Tenant", "X-Api-Key", "certificate", "sub", "Basic")
        .doesNotContain("X-Internal");
    assertThat(route.path("in_flight").toString())
        .isEqualTo("{\"behaviour\":\"wait\",\"wait\":\"PT5S\",\"status\":409}");
    assertThat(route.path("mismatch").path("status").asInt()).isEqualTo(400);
    assertThat(route.path("errors").path("types").toString())
        .contains("{\"type\":\"key-reused\",\"statuses\":[400]}");
    assertThat(route.path("says_when_it_expires").asBoolean()).isTrue();
  }

  @Test
  void documentNamesItsSpecificationAndTheGatewaysFields() throws JsonProcessingException {
    assertThat(json().path("specification").asText())
        .isEqualTo("draft-ietf-httpapi-idempotency-key-header-07");
    assertThat(json().path("response_headers").toString())
        .contains("Idempotent-Replayed", "Idempotency-Expires", "Idempotency-Original-Trace")
        .contains("Idempotency-Redacted");
  }

  @Test
  void everyTypeIsExplainedInBothForms() throws JsonProcessingException {
    Set<String> told = new TreeSet<>();
    json().path("errors").forEach(error -> told.add(error.path("type").asText()));
    for (ProblemType type : ProblemType.all()) {
      assertThat(told).contains(type.name());
      assertThat(html()).containsOnlyOnce("id=\"" + type.name() + "\"");
      assertThat(type.title() + type.meaning() + type.advice()).doesNotContain("null");
    }
  }

  @Test
  void pageForPeopleTellsEveryRouteAndEscapesIt() {
    assertThat(html())
        .contains("<code>PATCH, POST</code> <code>/orders/**</code>")
        .contains("<a href=\"#key-reused\">422 key-reused</a>")
        .contains("<a href=\"#key-reused\">400 key-reused</a>")
        .contains("&lt;script&gt;alert(&#39;&quot;1&quot;&amp;&#39;)&lt;/script&gt;")
        .doesNotContain("<script");
  }

  @Test
  void pageForPeopleNeedsNothingFromElsewhere() {
    assertThat(html()).doesNotContain("http://", "https://", "src=", "<link", "@import", "url(");
    assertThat(answer("Accept", "text/html").head().headers().get("Content-Security-Policy"))
        .startsWith("default-src 'none'");
  }

  @Test
  void linksOfThePageLeadSomewhere() {
    Matcher links = Pattern.compile("href=\"#([^\"]+)\"").matcher(html());
    while (links.find()) {
      assertThat(html()).contains("id=\"" + links.group(1) + "\"");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "P1D,24 hours",
    "P2D,2 days",
    "PT1H,1 hour",
    "PT90M,90 minutes",
    "PT1M,1 minute",
    "PT90S,90 seconds",
    "PT1.5S,1500 milliseconds",
    "PT0S,0 seconds"
  })
  void durationsAreToldInTheirOwnUnit(Duration duration, String text) {
    assertThat(DurationText.of(duration)).isEqualTo(text);
  }

  // ---- that nothing is left out

  /** A type with its status beside it, as every error of the gateway is written. */
  private static final Pattern WRITTEN =
      Pattern.compile("\"([a-z]+(?:-[a-z]+)+)\",\\s*(?:\\w+ \\? )?([1-5][0-9]{2})\\b");

  private static final Pattern WRITTEN_BEHIND =
      Pattern.compile("\\b([1-5][0-9]{2}),\\s*\"([a-z]+(?:-[a-z]+)+)\",");

  @Test
  void everyErrorInTheCodeIsExplained() throws IOException {
    Set<String> undocumented = new TreeSet<>();
    int found = 0;
    for (Path file : sources()) {
      String code = Files.readString(file);
      if (!code.contains("ProblemDetails(") || file.endsWith("ProblemDetails.java")) {
        continue;
      }
      for (Matcher m = WRITTEN.matcher(code); m.find(); found++) {
        check(m.group(1), m.group(2), undocumented);
      }
      for (Matcher m = WRITTEN_BEHIND.matcher(code); m.find(); found++) {
        check(m.group(2), m.group(1), undocumented);
      }
    }
    assertThat(undocumented).isEmpty();
    assertThat(found).isGreaterThan(20);
  }

  private static void check(String name, String status, Set<String> undocumented) {
    boolean known =
        ProblemType.all().stream()
            .anyMatch(
                type ->
                    type.name().equals(name) && type.statuses().contains(Integer.valueOf(status)));
    if (!known) {
      undocumented.add(status + ' ' + name);
    }
  }

  private static List<Path> sources() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
      return files.filter(file -> file.toString().endsWith(".java")).collect(Collectors.toList());
    }
  }
}
