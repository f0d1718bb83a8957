package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.config.Command;
import dev.idempotency.gateway.config.Configuration;
import dev.idempotency.gateway.exchange.AnswerRule;
import dev.idempotency.gateway.exchange.ForwardAuthOptions;
import dev.idempotency.gateway.exchange.KeyRule;
import dev.idempotency.gateway.exchange.KeySource;
import dev.idempotency.gateway.exchange.ProbeRule;
import dev.idempotency.gateway.exchange.QuotaOptions;
import dev.idempotency.gateway.exchange.Route;
import dev.idempotency.gateway.exchange.ScopePart;
import dev.idempotency.gateway.exchange.Upstream;
import dev.idempotency.gateway.idempotency.Durability;
import dev.idempotency.gateway.idempotency.KeyPattern;
import dev.idempotency.gateway.store.envelope.EnvelopeOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a file says of its routes arrives where it is looked at. */
class RouteRulesTest {

  private static final String FILE =
      """
      upstreams: { a: { url: "http://127.0.0.1:3000" } }
      trusted-proxies: [127.0.0.1]
      routes:
        - name: x
          path: /x
          upstream: a
          key: { sources: ["header:A", "query:b"], pattern: "/[a-z]+/", first-sent: B, skew: 2s, derive: 3s }
          scope: [credential, "header:X-Tenant", "basic:user", "auth:X-User", "credential:X-Api-Key"]
          quota: { new-keys: 1, within: 2s, unfinished: 3 }
          forward-auth: { upstream: a, path: /c, timeout: 2s, cache: 3s, on-failure: allow, copy: [X-User] }
          retention: 1h
          in-flight: wait 1s
          waiting: { longest: 9s, per-key: 4 }
          unknown: probe
          probe:
            url: "/by/{key}"
            timeout: 3s
            completed: [201]
            never: [410]
            on-never: release
            grace: 4s
            status: 203
            headers: { X-Probe: { file: probe } }
            back-off: 5s
            longest: 6s
          errors: stripe
          cors: { origins: ["https://a.example"], credentials: true }
          response: { keep: [ETag], drop: [X-Trace], expires: true }
      """;

  @TempDir private Path folder;

  private Configuration configuration(String yaml) {
    try {
      Files.writeString(folder.resolve("probe"), "who asks\n");
      Path file = Files.writeString(folder.resolve("gateway.yaml"), yaml);
      Command command = Command.parse(List.of("--config", file.toString()), Map.of(), "test");
      return ((Command.Run) command).configuration();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Configuration.Route route() {
    return configuration(FILE).routes().get(0);
  }

  @Test
  void keysComeFromTheSourcesInTheirOrderAndHaveTheirFormAndAge() {
    KeyRule rule = RouteRules.keys(route());

    assertThat(rule.sources()).containsExactly(new KeySource.Header("A"), new KeySource.Query("b"));
    assertThat(rule.age())
        .isEqualTo(new KeyRule.KeyAge("B", Duration.ofHours(1), Duration.ofSeconds(2)));
    assertThat(rule.derived()).hasSeconds(3);
    KeyPattern pattern = rule.pattern();
    assertThat(pattern.matches("abc")).isTrue();
    assertThat(pattern.matches("abc1")).isFalse();
    assertThat(pattern.matches("")).isFalse();
    assertThat(pattern.expected()).isEqualTo("a key that matches /[a-z]+/");
  }

  @Test
  void partsOfTheScopeKeepTheirKindsAndTheirOrder() {
    assertThat(RouteRules.scope(route()))
        .containsExactly(
            new ScopePart.Credential("Authorization"),
            new ScopePart.Header("X-Tenant"),
            new ScopePart.BasicUser(),
            new ScopePart.Authorized("X-User"),
            new ScopePart.Credential("X-Api-Key"));
  }

  @Test
  void limitsAndTheServiceThatIsAskedAreAsTheFileSaysThem() {
    assertThat(RouteRules.quota(Objects.requireNonNull(route().quota())))
        .isEqualTo(new QuotaOptions(1, Duration.ofSeconds(2), 3));
    assertThat(RouteRules.forwardAuth(Objects.requireNonNull(route().forwardAuth())))
        .isEqualTo(
            new ForwardAuthOptions(
                "/c", Duration.ofSeconds(2), Duration.ofSeconds(3), true, Set.of("x-user")));
  }

  @Test
  void questionsAboutUnknownOutcomesAreAskedAsTheFileSays() {
    Upstream asked = acquired -> acquired.refused(Upstream.Refusal.CLOSED);

    Route.Safety safety = RouteRules.safety(route().safety(), Map.of("a", asked));

    assertThat(safety.durability()).isEqualTo(Durability.NONE);
    assertThat(safety.guard()).isZero();
    ProbeRule probe = Objects.requireNonNull(safety.probe());
    assertThat(probe.headers().get("x-probe")).isEqualTo("who asks");
    assertThat(probe)
        .isEqualTo(
            new ProbeRule(
                "/by/{key}",
                asked,
                Duration.ofSeconds(3),
                Set.of(201),
                Set.of(410),
                false,
                Duration.ofSeconds(4),
                203,
                probe.headers(),
                Duration.ofSeconds(5),
                Duration.ofSeconds(6)));
  }

  @Test
  void duplicatesWaitAsLongAsTheFileSays() {
    assertThat(RouteRules.waiting(route().waiting()))
        .isEqualTo(new Route.Waiting(Duration.ofSeconds(1), Duration.ofSeconds(9), 4));
  }

  @Test
  void answersHaveTheirFormAndReadersAndCopiesTheirFields() {
    assertThat(RouteRules.answers(route()))
        .isEqualTo(
            new AnswerRule(
                AnswerRule.Style.STRIPE, new AnswerRule.Cors(Set.of("https://a.example"), true)));
    assertThat(RouteRules.copy(route().copy()))
        .extracting("keep", "drop", "expires")
        .containsExactly(Set.of("etag"), Set.of("x-trace"), true);
  }

  @Test
  void keyInTheBodyIsASourceOfItsPointer() {
    Configuration.Route inBody =
        configuration(
                """
                upstreams: { a: { url: "http://127.0.0.1:3000" } }
                routes: [{ name: x, path: /x, upstream: a, key: { pointer: /id } }]
                """)
            .routes()
            .get(0);

    assertThat(RouteRules.keys(inBody).sources())
        .singleElement()
        .isInstanceOfSatisfying(
            KeySource.Pointer.class, source -> assertThat(source.pointer()).isEqualTo("/id"));
  }

  @Test
  void storeHasTheKeysInTheirOrder() throws IOException {
    String key = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=";
    Files.writeString(folder.resolve("k.key"), key + "\n");
    EnvelopeOptions options =
        RouteRules.envelope(
            configuration(
                    FILE
                        + "secret: sixteen-characters-or-more\n"
                        + "store: { url: memory, compress: 1KiB, encryption: { keys: [{ id: k,"
                        + " file: k.key }] } }\n")
                .envelope());

    assertThat(options.compressFrom()).isEqualTo(1024);
    assertThat(options.keys())
        .singleElement()
        .satisfies(
            found -> {
              assertThat(found.id()).isEqualTo("k");
              assertThat(found.secret()).hasSize(32).startsWith(1, 2, 3).endsWith(31, 32);
            });
  }

  @Test
  void nameIsBelievedFromEverybodyOnlyWhereThereAreNoTrustedProxies() {
    assertThat(ScopeNotes.believed(configuration(FILE))).isEmpty();
    assertThat(
            ScopeNotes.believed(configuration(FILE.replace("trusted-proxies: [127.0.0.1]\n", ""))))
        .singleElement()
        .asString()
        .contains("route x: ", " header:X-Tenant, as ");
    assertThat(ScopeNotes.shared(configuration(FILE))).isEmpty();
  }

  @Test
  void tokensOfOthersOrOfAnybodyAreSaidToCount() {
    String jwt = "jwt: { keys: \"%s\", audience: [api] }\n";
    for (String keys : List.of("https://idp.test/k", "http://127.0.0.1:1/k", "http://[::1]/k")) {
      assertThat(ScopeNotes.tokens(configuration(jwt.formatted(keys) + FILE))).isEmpty();
    }
    assertThat(ScopeNotes.tokens(configuration(jwt.formatted("http://127.evil.test/k") + FILE)))
        .singleElement()
        .asString()
        .contains("between here and 127.evil.test can make tokens");
    assertThat(ScopeNotes.tokens(configuration("jwt: { keys: \"https://idp.test/k\" }\n" + FILE)))
        .singleElement()
        .asString()
        .contains("made for other services");
    assertThat(ScopeNotes.tokens(configuration(FILE))).isEmpty();
  }

  @Test
  void callersShareTheirKeysWhereARouteNamesNoScope() {
    assertThat(
            ScopeNotes.shared(
                configuration(
                    """
                    upstreams: { a: { url: "http://127.0.0.1:3000" } }
                    routes:
                      - { name: x, path: /x, upstream: a }
                      - { name: y, path: /y, upstream: a, idempotency: off }
                    """)))
        .singleElement()
        .asString()
        .startsWith("route x: ");
  }
}
