package dev.idempotency.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.config.Configuration.BodyMode;
import dev.idempotency.gateway.config.Configuration.ErrorStyle;
import dev.idempotency.gateway.config.Configuration.Keying;
import dev.idempotency.gateway.config.Configuration.Route;
import dev.idempotency.gateway.config.Configuration.Store;
import dev.idempotency.gateway.config.Configuration.StoreOutage;
import dev.idempotency.gateway.http.PathRule;
import dev.idempotency.gateway.idempotency.Durability;
import dev.idempotency.gateway.idempotency.Outcome;
import dev.idempotency.gateway.idempotency.UnknownPolicy;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class ConfigurationReaderTest {

  static final String FULL =
      """
      listen:
        - "[::1]:0"
        - address: 0.0.0.0:8443
          tls:
            certificate: server.crt
            key: server.key
            client-ca: clients.crt
            client-certificate: optional
            protocols: [TLSv1.2]
            reload: 1m
        - { address: "localhost:8444", http2: true }
      admin: localhost:9191
      store:
        url: "rediss-sentinel://s1:26380,s2/1#primary"
        user: gateway
        password: { env: STORE_PASSWORD }
        sentinel-user: watcher
        sentinel-password: { file: sentinel.password }
        tls: { ca: ca.crt, certificate: client.crt, key: client.key }
        timeout: 250ms
        checks: 1m
        prefix: shop
        compress: 4KiB
        encryption: { keys: [{ id: k-2, env: RECORDS_KEY }, { id: K_1, file: k1.key }] }
      sweep: { every: 1s }
      operators: { read: { env: OPS_READ }, write: { file: ops.write }, bodies: true }
      drain: 0s
      drain-delay: 5s
      threads: 3
      secrets: [{ env: FINGERPRINT_SECRET }, { file: old.secret }]
      discovery: false
      jwt:
        keys: https://idp.example.com/jwks.json
        issuer: https://idp.example.com
        audience: [orders, payments]
        algorithms: [ES256, EdDSA]
        leeway: 0s
        refresh: 1h
        ca: ca.crt
      trusted-proxies: [10.0.0.0/8, "::1"]
      hosts: [API.example.com, "[::1]"]
      paths: { encoded-slash: keep, semicolon: reject, empty-segment: keep }
      limits:
        body-budget: 1GiB
        header-size: 8KiB
        header-count: 50
        target-size: 9KiB
        connections: 77
        connections-per-address: 7
        idle-timeout: 1m
        head-timeout: 2s
        body-timeout: 3s
        body-rate: 1KiB
        tunnel-timeout: 5m
        http2-streams: 9
        http2-window: 1MiB
        http2-resets: 10
        waiters: 11
        backlog: 1MiB
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
        pay:
          urls: ["https://[::1]", "HTTPS://pay:8443/"]
          http2: true
          tls: { ca: ca.crt, certificate: client.crt, key: client.key, server-name: pay.internal }
          connection-life: 0s
          resolve: 1m
          ejection: { failures: 0, time: 1m }
          health-check: { path: "/healthz?deep", interval: 2s, timeout: 2s, healthy: 4, unhealthy: 5 }
      routes:
        - name: create-order
          methods: [PUT, DELETE]
          path: /orders/{id}/*/**
          upstream: orders
          idempotency: required
          key: { header: X-Request-Id, syntax: strict, pattern: ulid, time-bound: true, skew: 5s }
          scope: ["header:X-Tenant", "header:authorization", "jwt:https://example.com/team"]
          quota: { new-keys: 100, within: 10s, unfinished: 50 }
          fingerprint:
            ignore: [/sent_at, /a~1b/0]
            headers: [X-Version]
            only: [/order, /a~1b]
            query: [a, "b c"]
            version: 2
          observe: true
          listed: false
          retention: 7d
          lease: 2s
          in-flight: wait 500ms
          waiting: { longest: 20s, per-key: 3 }
          unknown: retry
          durability: { replicas: 2, completions: true }
          guard: 30s
          store-outage: bypass
          outcomes: { 500: released, 409: unknown }
          request: { limit: 10MB }
          response:
            limit: 64KiB
            mode: stream
            keep: [Set-Cookie]
            drop: [X-Trace]
            redact: [/card/number]
            expires: true
          errors: stripe
          cors: { origins: ["https://App.example.com:443", "http://localhost:8080"], credentials: true }
        - name: upload
          path: /upload
          upstream: pay
          key: { sources: ["header:Idempotency-Key", "query:request id"] }
          scope: ["certificate:subject", "basic:user", "auth:X-User-Id", "credential:X-Api-Key"]
          forward-auth:
            upstream: orders
            path: /check
            timeout: 2s
            cache: 5s
            on-failure: allow
            copy: [X-User-Id]
          fingerprint: { body: raw, query: [] }
          request: { limit: 1TiB, mode: stream }
        - name: pay
          path: /pay/{account}
          unknown: probe
          durability: disk
          probe:
            url: "/pay/{account}/by-key/{key}?full"
            upstream: orders
            timeout: 3s
            completed: [200, 202]
            never: [404, 410]
            on-never: release
            grace: 0s
            status: 201
            headers: { Authorization: { env: PROBE }, X-Probe: { file: probe.header } }
            back-off: 100ms
            longest: 1m
          upstream: pay
          key: { pointer: /idempotency_key, pattern: "/[A-Z]{2}\\\\d+/", first-sent: X-First-Sent }
          scope: [credential]
          fingerprint: { version: 1 }
        - name: search
          unknown: probe
          probe: { request: same }
          durability: { disk: true, completions: true }
          path: /search
          upstream: pay
          key: { query: request_id, derive: 10s }
          scope: ["header:Cookie"]
          cors: { origins: ["*"] }
        - name: rest
          path: /**
          upstream: orders
          idempotency: off
          methods: [GET]
          upgrade: [websocket]
      """;

  static final Map<String, String> ENVIRONMENT =
      Map.of(
          "FINGERPRINT_SECRET",
          "a-secret-of-the-environment",
          "SHORT",
          "abc",
          "EMPTY",
          "",
          "RECORDS_KEY",
          BadFiles.RECORDS_KEY,
          "STORE_PASSWORD",
          "p@ss word",
          "OPS_READ",
          "a-token-that-reads",
          "OPS_WRITE",
          "a-token-that-writes",
          "PROBE",
          "Bearer probe",
          "BROKEN",
          "two\nlines");

  @TempDir private Path folder;

  @BeforeEach
  void writeFiles() {
    BadFiles.writeReferences(folder);
  }

  @Test
  void everyKeyGivenIsReadAsWritten() {
    Configuration configuration = valid(FULL);

    assertThat(configuration.listen())
        .containsExactly(
            Listener.clear(new HostAndPort("::1", 0)),
            new Listener(
                new HostAndPort("0.0.0.0", 8443),
                true,
                new Listener.Tls(
                    folder.resolve("server.crt"),
                    folder.resolve("server.key"),
                    folder.resolve("clients.crt"),
                    Listener.Demand.OPTIONAL,
                    List.of("TLSv1.2"),
                    Duration.ofMinutes(1))),
            new Listener(new HostAndPort("localhost", 8444), true, null));
    assertThat(configuration.trustedProxies()).containsExactly("10.0.0.0/8", "::1");
    assertThat(configuration.hosts()).containsExactly("api.example.com", "[::1]");
    assertThat(configuration.paths()).isEqualTo(new PathRule(true, false, true));
    assertThat(configuration.admin()).isEqualTo(new HostAndPort("localhost", 9191));
    assertThat(configuration.store())
        .isEqualTo(
            new Store.Redis(
                "rediss-sentinel://s1:26380,s2/1#primary",
                Duration.ofMillis(250),
                "shop",
                Duration.ofMinutes(1),
                new StoreAccess(
                    "gateway",
                    new OutsideSecret("STORE_PASSWORD", null, "p@ss word"),
                    "watcher",
                    new OutsideSecret(null, folder.resolve("sentinel.password"), "look-only"),
                    new StoreAccess.Tls(
                        folder.resolve("ca.crt"),
                        folder.resolve("client.crt"),
                        folder.resolve("client.key")))));
    assertThat(configuration.sweepEvery()).hasSeconds(1);
    assertThat(configuration.operators())
        .isEqualTo(
            new Operators(
                new OutsideSecret("OPS_READ", null, "a-token-that-reads"),
                new OutsideSecret(null, folder.resolve("ops.write"), "a-token-that-writes"),
                true));
    assertThat(configuration.drain()).isZero();
    assertThat(configuration.drainDelay()).hasSeconds(5);
    assertThat(configuration.threads()).isEqualTo(3);
    assertThat(configuration.secrets())
        .containsExactly(
            new Secret("a-secret-of-the-environment"), new Secret("an-older-secret-of-a-file"));
    assertThat(configuration.envelope())
        .isEqualTo(
            new Envelope(
                4096,
                List.of(
                    new Envelope.Key("k-2", "RECORDS_KEY", null, new Secret(BadFiles.RECORDS_KEY)),
                    new Envelope.Key(
                        "K_1", null, folder.resolve("k1.key"), new Secret(BadFiles.OLD_KEY)))));
    assertThat(configuration.discovery()).isFalse();
    assertThat(configuration.tokens())
        .isEqualTo(
            new Tokens(
                URI.create("https://idp.example.com/jwks.json"),
                "https://idp.example.com",
                List.of("orders", "payments"),
                List.of("ES256", "EdDSA"),
                Duration.ZERO,
                Duration.ofHours(1),
                folder.resolve("ca.crt")));
    assertThat(configuration.limits())
        .isEqualTo(
            new Configuration.Limits(
                1L << 30,
                8 << 10,
                50,
                9 << 10,
                77,
                7,
                Duration.ofMinutes(1),
                Duration.ofSeconds(2),
                Duration.ofSeconds(3),
                1024,
                Duration.ofMinutes(5),
                9,
                1 << 20,
                10,
                11,
                1L << 20));
    assertThat(configuration.log())
        .isEqualTo(new Configuration.Log(Configuration.LogFormat.JSON, true));
    assertThat(configuration.upstreams().get("orders"))
        .isEqualTo(
            new Upstream(
                "orders",
                List.of(new HostAndPort("my_orders", 3000)),
                null,
                false,
                Duration.ofMillis(11),
                Duration.ofSeconds(12),
                Duration.ofSeconds(13),
                Duration.ofMinutes(5),
                Duration.ofSeconds(30),
                14,
                0,
                Duration.ofMillis(15),
                new Upstream.Ejection(5, Duration.ofSeconds(10)),
                null));
    assertThat(configuration.upstreams().get("pay"))
        .isEqualTo(
            new Upstream(
                "pay",
                List.of(new HostAndPort("::1", 443), new HostAndPort("pay", 8443)),
                new Upstream.Tls(
                    folder.resolve("ca.crt"),
                    folder.resolve("client.crt"),
                    folder.resolve("client.key"),
                    "pay.internal"),
                true,
                Duration.ofSeconds(1),
                Duration.ofSeconds(30),
                Duration.ofSeconds(4),
                Duration.ZERO,
                Duration.ofMinutes(1),
                256,
                1024,
                Duration.ofSeconds(1),
                new Upstream.Ejection(0, Duration.ofMinutes(1)),
                new Upstream.HealthCheck(
                    "/healthz?deep", Duration.ofSeconds(2), Duration.ofSeconds(2), 4, 5)));
    assertThat(configuration.routes().get(0))
        .isEqualTo(
            new Route(
                "create-order",
                Set.of("PUT", "DELETE"),
                "/orders/{id}/*/**",
                "orders",
                Keying.REQUIRED,
                true,
                false,
                new RouteKey(
                    List.of(new RouteKey.Source.Header("X-Request-Id")),
                    RouteKey.Syntax.STRICT,
                    new RouteKey.Form(RouteKey.Form.Kind.ULID, ""),
                    true,
                    null,
                    Duration.ofSeconds(5),
                    Duration.ZERO),
                List.of(
                    new Scope.Header("X-Tenant"),
                    new Scope.Credential("Authorization"),
                    new Scope.TokenClaim("https://example.com/team")),
                new Quota(100, Duration.ofSeconds(10), 50),
                null,
                new Fingerprinting(
                    Fingerprinting.Body.CANONICAL,
                    List.of("/sent_at", "/a~1b/0"),
                    List.of("/order", "/a~1b"),
                    List.of("X-Version"),
                    List.of("a", "b c"),
                    2),
                Duration.ofDays(7),
                Duration.ofSeconds(2),
                new Waiting(Duration.ofMillis(500), Duration.ofSeconds(20), 3),
                UnknownPolicy.RETRY,
                new Safety(Durability.replicas(2, true), Duration.ofSeconds(30), null),
                StoreOutage.BYPASS,
                Map.of(500, Outcome.RELEASED, 409, Outcome.UNKNOWN),
                10_000_000,
                BodyMode.BUFFER,
                65_536,
                BodyMode.STREAM,
                new ResponseCopy(
                    Set.of("set-cookie"), Set.of("x-trace"), List.of("/card/number"), true),
                ErrorStyle.STRIPE,
                new Cors(Set.of("https://app.example.com", "http://localhost:8080"), true),
                false));
    Route upload = configuration.routes().get(1);
    assertThat(upload.key().sources())
        .containsExactly(
            new RouteKey.Source.Header("Idempotency-Key"), new RouteKey.Source.Query("request id"));
    assertThat(upload.scope())
        .containsExactly(
            new Scope.CertificateSubject(),
            new Scope.BasicUser(),
            new Scope.Authorized("X-User-Id"),
            new Scope.Credential("X-Api-Key"));
    assertThat(upload.forwardAuth())
        .isEqualTo(
            new ForwardAuth(
                "orders",
                "/check",
                Duration.ofSeconds(2),
                Duration.ofSeconds(5),
                ForwardAuth.OnFailure.ALLOW,
                Set.of("x-user-id")));
    assertThat(upload.fingerprint().body()).isEqualTo(Fingerprinting.Body.RAW);
    assertThat(upload.fingerprint().query()).isEmpty();
    assertThat(upload.requestMode()).isEqualTo(BodyMode.STREAM);
    assertThat(upload.requestLimit()).isEqualTo(1L << 40);
    assertThat(configuration.routes())
        .extracting(Route::webSocket)
        .containsExactly(false, false, false, false, true);
    Route pay = configuration.routes().get(2);
    assertThat(pay.key())
        .isEqualTo(
            new RouteKey(
                List.of(new RouteKey.Source.Pointer("/idempotency_key")),
                RouteKey.Syntax.LENIENT,
                new RouteKey.Form(RouteKey.Form.Kind.REGEX, "[A-Z]{2}\\d+"),
                false,
                "X-First-Sent",
                Duration.ofMinutes(1),
                Duration.ZERO));
    assertThat(pay.scope()).containsExactly(new Scope.Credential("Authorization"));
    assertThat(pay.fingerprint().version()).isEqualTo(1);
    assertThat(pay.safety())
        .isEqualTo(
            new Safety(
                Durability.disk(false),
                Duration.ZERO,
                new Probe(
                    "/pay/{account}/by-key/{key}?full",
                    "orders",
                    Duration.ofSeconds(3),
                    Set.of(200, 202),
                    Set.of(404, 410),
                    Probe.OnNever.RELEASE,
                    Duration.ZERO,
                    201,
                    Map.of(
                        "Authorization",
                        new OutsideSecret("PROBE", null, "Bearer probe"),
                        "X-Probe",
                        new OutsideSecret(null, folder.resolve("probe.header"), "from a file")),
                    Duration.ofMillis(100),
                    Duration.ofMinutes(1))));
    Route search = configuration.routes().get(3);
    assertThat(search.key().sources()).containsExactly(new RouteKey.Source.Query("request_id"));
    assertThat(search.key().derive()).hasSeconds(10);
    assertThat(search.safety())
        .isEqualTo(
            new Safety(
                Durability.disk(true),
                Duration.ZERO,
                new Probe(
                    null,
                    "pay",
                    Duration.ofSeconds(2),
                    Set.of(200, 201),
                    Set.of(),
                    Probe.OnNever.RERUN,
                    Duration.ofSeconds(10),
                    0,
                    Map.of(),
                    Duration.ofSeconds(1),
                    Duration.ofMinutes(5))));
    assertThat(search.scope()).containsExactly(new Scope.Credential("Cookie"));
    assertThat(search.cors()).isEqualTo(new Cors(Set.of("*"), false));
  }

  @Test
  void smallestFileHasEveryDefault() {
    Configuration configuration = valid(BadFiles.MINIMAL);

    Configuration expected =
        Defaults.of(List.of(UpstreamUrl.clear(new HostAndPort("127.0.0.1", 3000))), false);
    assertThat(configuration.limits()).isEqualTo(expected.limits());
    assertThat(configuration.store()).isEqualTo(expected.store());
    assertThat(configuration.secrets()).isEmpty();
    assertThat(configuration.envelope()).isEqualTo(Envelope.NONE);
    assertThat(configuration.discovery()).isTrue();
    assertThat(configuration.tokens()).isNull();
    assertThat(configuration.listen())
        .containsExactly(Listener.clear(new HostAndPort("0.0.0.0", 8080)));
    assertThat(configuration.trustedProxies()).isEmpty();
    assertThat(configuration.hosts()).isEmpty();
    assertThat(configuration.paths()).isEqualTo(PathRule.STRICT);
    assertThat(configuration.admin()).hasToString("127.0.0.1:9090");
    assertThat(configuration.drain()).hasSeconds(25);
    assertThat(configuration.drainDelay()).isZero();
    assertThat(configuration.sweepEvery()).hasSeconds(5);
    assertThat(configuration.operators()).isNull();
    Route route = configuration.routes().get(0);
    assertThat(route.methods()).containsExactly("POST", "PATCH");
    assertThat(route.idempotency()).isEqualTo(Keying.OPTIONAL);
    assertThat(route.observe()).isFalse();
    assertThat(route.listed()).isTrue();
    assertThat(route.key()).isEqualTo(Defaults.KEY);
    assertThat(route.key().sources())
        .containsExactly(new RouteKey.Source.Header("Idempotency-Key"));
    assertThat(route.quota()).isNull();
    assertThat(route.forwardAuth()).isNull();
    assertThat(route.fingerprint()).isEqualTo(Defaults.FINGERPRINT);
    assertThat(route.scope()).isEmpty();
    assertThat(route.retention()).hasHours(24);
    assertThat(route.lease()).hasSeconds(10);
    assertThat(route.waiting()).isEqualTo(new Waiting(Duration.ZERO, Duration.ofSeconds(30), 100));
    assertThat(route.unknown()).isEqualTo(UnknownPolicy.HOLD);
    assertThat(route.safety()).isEqualTo(Safety.NONE);
    assertThat(route.storeOutage()).isEqualTo(StoreOutage.REJECT);
    assertThat(route.outcomes()).isEmpty();
    assertThat(route.requestLimit()).isEqualTo(1 << 20);
    assertThat(route.responseLimit()).isEqualTo(1 << 20);
    assertThat(route.responseMode()).isEqualTo(BodyMode.BUFFER);
    assertThat(route.copy()).isEqualTo(Defaults.COPY);
    assertThat(route.errors()).isEqualTo(ErrorStyle.PROBLEM);
    assertThat(route.cors()).isNull();
  }

  @Test
  void routeThatIsOffTakesEveryMethod() {
    Route route = valid(BadFiles.route("idempotency: off")).routes().get(0);

    assertThat(route.methods()).isEmpty();
  }

  @Test
  void listenerWithTlsAloneSpeaksBothProtocolsAndDemandsTheCertificatesItCanJudge() {
    Listener listener =
        valid(
                BadFiles.MINIMAL
                    + "listen: { address: \"a:1\", tls: { certificate: server.crt, key: server.key,"
                    + " client-ca: clients.crt } }\n")
            .listen()
            .get(0);

    assertThat(listener.http2()).isTrue();
    assertThat(listener.tls())
        .isEqualTo(
            new Listener.Tls(
                folder.resolve("server.crt"),
                folder.resolve("server.key"),
                folder.resolve("clients.crt"),
                Listener.Demand.REQUIRED,
                List.of("TLSv1.3", "TLSv1.2"),
                Duration.ofSeconds(10)));
  }

  @Test
  void listenerWithoutTlsSpeaksOnlyHttp1() {
    Listener listener = valid(BadFiles.MINIMAL + "listen: { address: \"a:1\" }\n").listen().get(0);

    assertThat(listener).isEqualTo(Listener.clear(new HostAndPort("a", 1)));
  }

  @Test
  void secureUpstreamWithoutTlsSettingsTrustsTheAuthoritiesOfTheJvm() {
    Configuration configuration =
        valid(
            "upstreams: { default: { url: \"https://a\" } }\n"
                + BadFiles.ROUTES.replace("upstream: a", "upstream: default"));

    assertThat(configuration.upstreams().values())
        .containsExactly(
            Defaults.UPSTREAM.at(List.of(new UpstreamUrl(true, new HostAndPort("a", 443)))));
  }

  @ParameterizedTest
  @CsvSource({"0,0", "'\"0\"',0", "0B,0", "1B,1", "1KiB,1024"})
  void leastRateOfABodyIsASizeOrNone(String rate, long bytes) {
    Configuration configuration = valid(BadFiles.MINIMAL + "limits: { body-rate: " + rate + " }\n");

    assertThat(configuration.limits().bodyRate()).isEqualTo(bytes);
  }

  @Test
  void bodyThatStreamsMayBeLargerThanTheBudgetOfThoseThatAreHeld() {
    String route =
        BadFiles.route("fingerprint: { body: raw }, request: { limit: 1TiB, mode: stream }");

    assertThat(problems(route + "limits: { body-budget: 1KiB }\n")).isEmpty();
  }

  @Test
  void listenersMayShareAPortThatTheSystemChoosesOrThatIsOfAnotherAddress() {
    assertThat(
            problems(
                BadFiles.MINIMAL
                    + "listen: [\"a:0\", \"a:0\", \"a:1\", \"b:1\"]\nadmin: \"a:0\"\n"))
        .isEmpty();
  }

  @Test
  void keyThatIsInTheWrongPlaceIsNamedWithoutItsContent() {
    assertThat(
            problems(
                BadFiles.MINIMAL
                    + "listen: { address: \"a:1\", tls: { certificate: server.crt, key: . } }\n"))
        .containsExactly("listen.tls.key: . is a folder (expected: a file that can be read)");
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

    assertThat(configuration.routes().get(1).scope()).containsExactly(new Scope.Header("X-Tenant"));
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
            "upstreams.a.url: ftp://a (expected: a URL such as http://127.0.0.1:3000 or"
                + " https://orders.internal, without a path)",
            "routes[0].path: orders (expected: " + PathSyntax.EXPECTED + ")",
            "routes[0].upstream: b (expected: one of the upstreams: a)",
            "routes[1].lease: 5 (expected: a duration of at least 100ms such as 10s)",
            "routes[1].name: x (expected: a name that no other route has)",
            "listn: unknown key (did you mean listen?)");
  }

  @Test
  void secretInAFileIsReadWithoutItsLineFeed() throws IOException {
    Files.writeString(folder.resolve("secret"), "0123456789abcdef\n");

    assertThat(valid(BadFiles.MINIMAL + "secret: { file: secret }\n").secrets())
        .containsExactly(new Secret("0123456789abcdef"));
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
    assertThat(valid(FULL).toString())
        .doesNotContain(
            "p@ss word",
            "look-only",
            "a-token",
            "Bearer probe",
            "from a file",
            "a-secret-of",
            "an-older",
            BadFiles.RECORDS_KEY,
            BadFiles.OLD_KEY);
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
