package dev.idempotency.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.config.Configuration.Keying;
import dev.idempotency.gateway.config.Configuration.ResponseMode;
import dev.idempotency.gateway.config.Configuration.Route;
import dev.idempotency.gateway.config.Configuration.Store;
import dev.idempotency.gateway.config.Configuration.StoreOutage;
import dev.idempotency.gateway.config.Configuration.Upstream;
import dev.idempotency.gateway.idempotency.Outcome;
import dev.idempotency.gateway.idempotency.UnknownPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ConfigurationReaderTest {

  static final String FULL =
      """
      listen: "[::1]:0"
      admin: localhost:9191
      store: { url: "redis://user:pa%40ss@redis:6379/1", timeout: 250ms, prefix: shop }
      drain: 0s
      threads: 3
      secret: { env: FINGERPRINT_SECRET }
      limits:
        body-budget: 1GiB
        header-size: 8KiB
        header-count: 50
        connections: 77
        idle-timeout: 1m
        head-timeout: 2s
        body-timeout: 3s
      log: { format: json, access: true }
      upstreams:
        orders:
          url: http://my_orders:3000/
          connect-timeout: 11ms
          response-timeout: 12s
          idle-timeout: 13s
          max-connections: 14
          max-waiting: 0
          acquire-timeout: 15ms
        pay: { url: "HTTP://[::1]" }
      routes:
        - name: create-order
          methods: [PUT, DELETE]
          path: /orders/{id}/*/**
          upstream: orders
          idempotency: required
          key: { header: X-Request-Id }
          scope: ["header:X-Tenant", "header:Authorization"]
          fingerprint: { ignore: [/sent_at, /a~1b/0], headers: [X-Version] }
          retention: 7d
          lease: 2s
          in-flight: wait 500ms
          unknown: retry
          store-outage: bypass
          outcomes: { 500: released, 409: unknown }
          request: { limit: 10MB }
          response: { limit: 64KiB, mode: stream, keep: [Set-Cookie] }
        - { name: rest, path: /**, upstream: pay, idempotency: off, methods: [GET] }
      """;

  private static final Map<String, String> ENVIRONMENT =
      Map.of("FINGERPRINT_SECRET", "a-secret-of-the-environment", "SHORT", "abc");

  @TempDir private Path folder;

  @Test
  void everyKeyGivenIsReadAsWritten() {
    Configuration configuration = valid(FULL);

    assertThat(configuration.listen()).isEqualTo(new HostAndPort("::1", 0));
    assertThat(configuration.admin()).isEqualTo(new HostAndPort("localhost", 9191));
    assertThat(configuration.store())
        .isEqualTo(
            new Store.Redis("redis://user:pa%40ss@redis:6379/1", Duration.ofMillis(250), "shop"));
    assertThat(configuration.drain()).isZero();
    assertThat(configuration.threads()).isEqualTo(3);
    assertThat(configuration.secret()).isEqualTo(new Secret("a-secret-of-the-environment"));
    assertThat(configuration.limits())
        .isEqualTo(
            new Configuration.Limits(
                1L << 30,
                8 << 10,
                50,
                77,
                Duration.ofMinutes(1),
                Duration.ofSeconds(2),
                Duration.ofSeconds(3)));
    assertThat(configuration.log())
        .isEqualTo(new Configuration.Log(Configuration.LogFormat.JSON, true));
    assertThat(configuration.upstreams().get("orders"))
        .isEqualTo(
            new Upstream(
                "orders",
                new HostAndPort("my_orders", 3000),
                Duration.ofMillis(11),
                Duration.ofSeconds(12),
                Duration.ofSeconds(13),
                14,
                0,
                Duration.ofMillis(15)));
    assertThat(configuration.upstreams().values())
        .extracting(Upstream::address)
        .containsExactly(new HostAndPort("my_orders", 3000), new HostAndPort("::1", 80));
    assertThat(configuration.routes().get(0))
        .isEqualTo(
            new Route(
                "create-order",
                Set.of("PUT", "DELETE"),
                "/orders/{id}/*/**",
                "orders",
                Keying.REQUIRED,
                "X-Request-Id",
                List.of("X-Tenant", "Authorization"),
                List.of("/sent_at", "/a~1b/0"),
                List.of("X-Version"),
                Duration.ofDays(7),
                Duration.ofSeconds(2),
                Duration.ofMillis(500),
                UnknownPolicy.RETRY,
                StoreOutage.BYPASS,
                Map.of(500, Outcome.RELEASED, 409, Outcome.UNKNOWN),
                10_000_000,
                65_536,
                ResponseMode.STREAM,
                Set.of("set-cookie")));
  }

  @Test
  void smallestFileHasEveryDefault() {
    Configuration configuration = valid(BadFiles.MINIMAL);

    Configuration expected = Defaults.of(new HostAndPort("127.0.0.1", 3000), false);
    assertThat(configuration.limits()).isEqualTo(expected.limits());
    assertThat(configuration.store()).isEqualTo(expected.store());
    assertThat(configuration.secret()).isNull();
    assertThat(configuration.listen()).hasToString("0.0.0.0:8080");
    assertThat(configuration.admin()).hasToString("127.0.0.1:9090");
    assertThat(configuration.drain()).hasSeconds(25);
    Route route = configuration.routes().get(0);
    assertThat(route.methods()).containsExactly("POST", "PATCH");
    assertThat(route.idempotency()).isEqualTo(Keying.OPTIONAL);
    assertThat(route.keyHeader()).isEqualTo("Idempotency-Key");
    assertThat(route.scope()).isEmpty();
    assertThat(route.retention()).hasHours(24);
    assertThat(route.lease()).hasSeconds(10);
    assertThat(route.inFlightWait()).isZero();
    assertThat(route.unknown()).isEqualTo(UnknownPolicy.HOLD);
    assertThat(route.storeOutage()).isEqualTo(StoreOutage.REJECT);
    assertThat(route.outcomes()).isEmpty();
    assertThat(route.requestLimit()).isEqualTo(1 << 20);
    assertThat(route.responseLimit()).isEqualTo(1 << 20);
    assertThat(route.responseMode()).isEqualTo(ResponseMode.BUFFER);
    assertThat(route.keep()).isEmpty();
  }

  @Test
  void routeThatIsOffTakesEveryMethod() {
    Route route = valid(BadFiles.route("idempotency: off")).routes().get(0);

    assertThat(route.methods()).isEmpty();
  }

  @Test
  void anchoredRouteSettingsAreReadThroughTheirAliases() {
    Configuration configuration =
        valid(
            """
            upstreams: { a: { url: "http://a" } }
            routes:
              - { name: x, path: /x, upstream: a, scope: &tenant ["header:X-Tenant"] }
              - { name: y, path: /y, upstream: a, scope: *tenant }
            """);

    assertThat(configuration.routes().get(1).scope()).containsExactly("X-Tenant");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("dev.idempotency.gateway.config.BadFiles#all")
  void wrongFileIsRefusedWithItsExactProblem(BadFiles.BadFile file) {
    assertThat(problems(file.yaml())).containsExactly(file.problem());
  }

  @Test
  void manyProblemsAreReportedTogether() {
    assertThat(
            problems(
                """
                listn: 0.0.0.0:80
                upstreams: { a: { url: "ftp://a" } }
                routes:
                  - { name: x, path: orders, upstream: b }
                  - { name: x, path: /y, upstream: a, lease: 5 }
                """))
        .containsExactly(
            "upstreams.a.url: ftp://a (expected: a URL such as http://127.0.0.1:3000, without a"
                + " path (https is not supported yet))",
            "routes[0].path: orders (expected: " + PathSyntax.EXPECTED + ")",
            "routes[0].upstream: b (expected: one of the upstreams: a)",
            "routes[1].lease: 5 (expected: a duration of at least 100ms such as 10s)",
            "routes[1].name: x (expected: a name that no other route has)",
            "listn: unknown key (did you mean listen?)");
  }

  @Test
  void secretInAFileIsReadWithoutItsLineFeed() throws IOException {
    Files.writeString(folder.resolve("secret"), "0123456789abcdef\n");

    assertThat(valid(BadFiles.MINIMAL + "secret: { file: secret }\n").secret())
        .isEqualTo(new Secret("0123456789abcdef"));
  }

  @Test
  void secretFileThatIsMissingOrShortIsAProblemWithoutItsContent() throws IOException {
    Files.writeString(folder.resolve("short"), "hunter2\n");

    assertThat(problems(BadFiles.MINIMAL + "secret: { file: short }\n"))
        .containsExactly(
            "secret.file: the content of short is too short (expected: 16 characters or more)");
    assertThat(problems(BadFiles.MINIMAL + "secret: { file: none }\n"))
        .containsExactly("secret.file: none cannot be read (expected: a file that can be read)");
  }

  @Test
  void secretVariableThatIsMissingOrShortIsAProblemWithoutItsValue() {
    assertThat(problems(BadFiles.MINIMAL + "secret: { env: SHORT }\n"))
        .containsExactly(
            "secret.env: the value of SHORT is too short (expected: 16 characters or more)");
    assertThat(problems(BadFiles.MINIMAL + "secret: { env: NONE }\n"))
        .containsExactly("secret.env: NONE is not set (expected: a variable that is set)");
  }

  @Test
  void secretsAreNotInTheTextOfTheConfiguration() {
    assertThat(valid(FULL).toString()).doesNotContain("pa%40ss", "a-secret-of");
  }

  @Test
  void aliasBombIsRefusedAtOnce() {
    StringBuilder bomb = new StringBuilder("a0: &a0 [x, x]\n");
    for (int i = 1; i < 100; i++) {
      bomb.append("a%d: &a%d [*a%d, *a%d]\n".formatted(i, i, i - 1, i - 1));
    }
    assertThat(problems(bomb.toString())).hasSize(1);
  }

  @Test
  void mappingThatContainsItselfIsRefused() {
    assertThat(problems("upstreams: &u { a: *u }\nroutes: []\n")).isNotEmpty();
  }

  @Test
  void deepNestingIsRefused() {
    assertThat(problems("a: " + "[".repeat(10_000))).hasSize(1);
  }

  private Configuration valid(String yaml) {
    Problems problems = new Problems();
    var configuration = reader(problems).read(yaml);
    assertThat(problems.lines()).isEmpty();
    return configuration.orElseThrow();
  }

  private List<String> problems(String yaml) {
    Problems problems = new Problems();
    var unused = reader(problems).read(yaml);
    return problems.lines();
  }

  private ConfigurationReader reader(Problems problems) {
    return new ConfigurationReader(new SecretSource(ENVIRONMENT, folder), problems);
  }
}
