package dev.idempotency.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.idempotency.gateway.config.Configuration.Keying;
import dev.idempotency.gateway.config.Configuration.Store;
import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class CommandTest {

  private static final Map<String, String> NO_VARIABLES = Map.of();

  @TempDir private Path folder;
  private String file = "";

  @BeforeEach
  void writeFile() throws IOException {
    BadFiles.writeReferences(folder);
    Path path = folder.resolve("gateway.yaml");
    Files.writeString(
        path, BadFiles.MINIMAL + "listen: 127.0.0.1:1\nadmin: 127.0.0.1:2\nstore: redis://file\n");
    file = path.toString();
  }

  @Test
  void upstreamAloneGivesOneOptionalRouteForEveryPath() {
    Configuration configuration = run(NO_VARIABLES, "--upstream", "http://127.0.0.1:3000");

    assertThat(configuration.upstreams().values())
        .flatExtracting(Upstream::addresses)
        .containsExactly(new HostAndPort("127.0.0.1", 3000));
    assertThat(configuration.routes()).hasSize(1);
    Configuration.Route route = configuration.routes().get(0);
    assertThat(route.name()).isEqualTo("default");
    assertThat(route.path()).isEqualTo("/**");
    assertThat(route.upstream()).isEqualTo("default");
    assertThat(route.methods()).containsExactly("POST", "PATCH");
    assertThat(route.idempotency()).isEqualTo(Keying.OPTIONAL);
    assertThat(configuration.store()).isInstanceOf(Store.Memory.class);
  }

  @Test
  void upstreamGivenSeveralTimesIsOneWithSeveralAddresses() {
    Configuration configuration =
        run(
            Map.of("GATEWAY_UPSTREAM", "http://c"),
            "--upstream",
            "https://a",
            "--upstream=https://b:8443");

    assertThat(configuration.upstreams().values())
        .containsExactly(
            Defaults.UPSTREAM.at(
                List.of(
                    new UpstreamUrl(true, new HostAndPort("a", 443)),
                    new UpstreamUrl(true, new HostAndPort("b", 8443)))));
  }

  @Test
  void listenFlagReplacesAllListenersByOneClearOne() throws IOException {
    Files.writeString(
        Path.of(file),
        BadFiles.MINIMAL
            + "listen: [\"a:1\", { address: \"a:2\", tls: { certificate: server.crt, key:"
            + " server.key } }]\n");

    assertThat(run(NO_VARIABLES, "--config", file, "--listen", "b:3").listen())
        .containsExactly(Listener.clear(new HostAndPort("b", 3)));
  }

  @Test
  void listenFlagThatTakesTheCertificatesAwayThatARouteNeedsIsRefused() throws IOException {
    Files.writeString(
        Path.of(file),
        BadFiles.route("scope: [\"certificate:subject\"]")
            + "listen: { address: \"a:2\", tls: { certificate: server.crt, key: server.key,"
            + " client-ca: ca.crt } }\n");

    assertThat(run(NO_VARIABLES, "--config", file).listen()).hasSize(1);
    assertThat(exit("--config", file, "--listen", "b:3"))
        .isEqualTo(
            new Command.Exit(
                2,
                "gateway: routes[0].scope: certificate:subject (expected: a listener whose tls has"
                    + " client-ca)\n"));
  }

  @Test
  void requiredKeyMakesTheOnlyRouteRequired() {
    assertThat(run(NO_VARIABLES, "--require-key", "--upstream=http://a").routes())
        .extracting(Configuration.Route::idempotency)
        .containsExactly(Keying.REQUIRED);
  }

  @Test
  void everyOptionCanBeAVariable() {
    Configuration configuration =
        run(
            Map.of(
                "GATEWAY_UPSTREAM", "http://a:1",
                "GATEWAY_LISTEN", "[::1]:0",
                "GATEWAY_ADMIN", "b:2",
                "GATEWAY_STORE", "redis://c",
                "GATEWAY_REQUIRE_KEY", "true"));

    assertThat(configuration.upstreams()).hasSize(1);
    assertThat(configuration.listen()).containsExactly(Listener.clear(new HostAndPort("::1", 0)));
    assertThat(configuration.admin()).isEqualTo(new HostAndPort("b", 2));
    assertThat(configuration.store()).isEqualTo(Defaults.redis("redis://c"));
    assertThat(configuration.routes().get(0).idempotency()).isEqualTo(Keying.REQUIRED);
  }

  @Test
  void fileAloneIsUsedAsItIs() {
    Configuration configuration = run(NO_VARIABLES, "--config", file);

    assertThat(configuration.listen().get(0).address().port()).isEqualTo(1);
    assertThat(configuration.admin().port()).isEqualTo(2);
  }

  @Test
  void flagBeatsVariableBeatsFile() {
    Map<String, String> variables =
        Map.of("GATEWAY_CONFIG", file, "GATEWAY_LISTEN", "h:3", "GATEWAY_ADMIN", "h:4");

    Configuration configuration = run(variables, "--listen", "h:5");

    assertThat(configuration.listen().get(0).address().port()).isEqualTo(5);
    assertThat(configuration.admin().port()).isEqualTo(4);
    assertThat(configuration.store())
        .isInstanceOfSatisfying(
            Store.Redis.class, redis -> assertThat(redis.url()).isEqualTo("redis://file"));
  }

  @Test
  void storeOfAFlagKeepsTheFilesUpstreams() {
    Configuration configuration = run(NO_VARIABLES, "--config", file, "--store", "memory");

    assertThat(configuration.store()).isInstanceOf(Store.Memory.class);
    assertThat(configuration.upstreams()).containsOnlyKeys("a");
  }

  @Test
  void upstreamFlagBeatsTheFileOfAVariable() {
    assertThat(run(Map.of("GATEWAY_CONFIG", "none"), "--upstream", "http://a").upstreams())
        .containsOnlyKeys("default");
  }

  @Test
  void fileFlagBeatsTheUpstreamOfAVariable() {
    assertThat(run(Map.of("GATEWAY_UPSTREAM", "http://b"), "--config", file).upstreams())
        .containsOnlyKeys("a");
  }

  @Test
  void emptyVariableIsNone() {
    assertThat(run(Map.of("GATEWAY_CONFIG", ""), "--upstream", "http://a").routes()).hasSize(1);
  }

  static Stream<Arguments> wrongLines() {
    String listen = " (expected: HOST:PORT such as 127.0.0.1:8080 or [::1]:8080, port 0 to 65535)";
    return Stream.of(
        Arguments.of("--upstrem http://a", "--upstrem: unknown (did you mean --upstream?)"),
        Arguments.of("--retries=3", "--retries: unknown (did you mean --require-key?)"),
        Arguments.of("--xyz", "--xyz: unknown (--help lists what there is)"),
        Arguments.of("--stor=redis://u:hunter2@r", "--stor: unknown (did you mean --store?)"),
        Arguments.of("redis://u:hunter2@r", "redis://***@r: unknown (--help lists what there is)"),
        Arguments.of("dmo", "dmo: unknown (did you mean demo?)"),
        Arguments.of("--upstream", "Missing required parameter for option '--upstream' (URL)"),
        Arguments.of(
            "--upstream --check", "Expected parameter for option '--upstream' but found '--check'"),
        Arguments.of(
            "--upstream --stor=redis://u:hunter2@r", "Unknown option: '--stor=redis://***@r'"),
        Arguments.of("--config=", "--config: empty (expected: the path of a file)"),
        Arguments.of(
            "--upstream http://a --config b --config c",
            "option '--config' (FILE) should be specified only once"),
        Arguments.of(
            "--upstream http://a --upstream https://b",
            "--upstream: http and https (expected: one scheme for all)"),
        Arguments.of(
            "--upstream http://a --upstream http://a:80",
            "--upstream: http://a:80 twice (expected: each address once)"),
        Arguments.of(
            "--upstream http://a --listen 127.0.0.1:9090",
            "admin: 127.0.0.1:9090 (expected: another place than listen)"),
        Arguments.of(
            "--upstream http://u:hunter2@a",
            "--upstream: http://***@a (expected: a URL such as http://127.0.0.1:3000 or"
                + " https://orders.internal, without a path)"),
        Arguments.of("--upstream http://a --listen 80", "--listen: 80" + listen),
        Arguments.of("--config none --admin x", "--admin: x" + listen),
        Arguments.of(
            "--upstream http://a --store redis//:hunter2@r",
            "--store: ***@r (expected: " + BadStoreFiles.EXPECTED + ")"),
        Arguments.of(
            "--upstream http://a --check=maybe", "--check: maybe (expected: true or false)"),
        Arguments.of(
            "--upstream http://a --config b",
            "--config and --upstream: both given (expected: one)"),
        Arguments.of(
            "--config b --require-key",
            "--require-key: not possible with a file (expected: idempotency: required in its"
                + " routes)"),
        Arguments.of("--upstream http://a --upstream-only", "--upstream-only: for the demo only"),
        Arguments.of("demo --check", "--check: not for the demo"),
        Arguments.of(
            "demo --orders mysql://db/shop",
            "--orders: mysql://db/shop (expected:"
                + " postgresql://[user[:password]@]host[:port]/database)"),
        Arguments.of(
            "--listen a:1 operations",
            "--listen: before operations (expected: gateway operations [OPTIONS])"),
        Arguments.of("demo now", "now: unknown (--help lists what there is)"),
        Arguments.of(
            "--listen a:1 demo", "--listen: before demo (expected: gateway demo [OPTIONS])"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("wrongLines")
  void wrongLineEndsWithCodeTwoAndItsExactProblem(String line, String problem) {
    assertThat(parse(NO_VARIABLES, line.split(" ")))
        .isEqualTo(new Command.Exit(2, "gateway: " + problem + "\n"));
  }

  @Test
  void wordIsNeverTakenForAFileOfWords() throws IOException {
    Files.writeString(Path.of(file), "--version");

    assertThat(exit("@" + file).code()).isEqualTo(2);
  }

  @Test
  void wrongVariableIsNamedInItsProblem() {
    assertThat(parse(Map.of("GATEWAY_UPSTREAM", "http://a", "GATEWAY_LISTEN", "x")))
        .isEqualTo(
            new Command.Exit(
                2,
                "gateway: GATEWAY_LISTEN: x (expected: HOST:PORT such as 127.0.0.1:8080 or"
                    + " [::1]:8080, port 0 to 65535)\n"));
  }

  @Test
  void wrongVariableDoesNotMatterWhereItsFlagIsGiven() {
    assertThat(
            run(Map.of("GATEWAY_LISTEN", "x"), "--upstream", "http://a", "--listen", "h:1")
                .listen()
                .get(0)
                .address()
                .port())
        .isEqualTo(1);
  }

  @Test
  void flagOfTruthBeatsItsVariable() {
    Map<String, String> variables = Map.of("GATEWAY_REQUIRE_KEY", "true");

    assertThat(run(variables, "--upstream", "http://a", "--require-key=false").routes())
        .extracting(Configuration.Route::idempotency)
        .containsExactly(Keying.OPTIONAL);
  }

  @Test
  void variableIsTakenAsItIs() {
    Map<String, String> variables = Map.of("GATEWAY_STORE", "redis://u:${sys:user.home}@c");

    assertThat(run(variables, "--upstream", "http://a").store())
        .isEqualTo(Defaults.redis("redis://u:${sys:user.home}@c"));
  }

  @Test
  void twoVariablesThatExcludeEachOtherAreBothNamed() {
    assertThat(parse(Map.of("GATEWAY_UPSTREAM", "http://a", "GATEWAY_CONFIG", "b")))
        .isEqualTo(
            new Command.Exit(
                2, "gateway: GATEWAY_CONFIG and GATEWAY_UPSTREAM: both given (expected: one)\n"));
  }

  @Test
  void nothingGivenNamesBothWays() {
    assertThat(parse(NO_VARIABLES))
        .isInstanceOfSatisfying(
            Command.Exit.class,
            exit -> {
              assertThat(exit.code()).isEqualTo(2);
              assertThat(exit.text()).contains("--upstream http://", "--config ", "gateway demo");
            });
  }

  @Test
  void helpNamesEveryOptionOfItsCommand() {
    assertThat(exit("--help").text())
        .contains("Usage: gateway --upstream=URL", "--config=FILE", "--require-key", "0.0.0.0:8080")
        .doesNotContain("--upstream-only");
    assertThat(exit("demo", "--help").text())
        .contains("Usage: gateway demo", "--upstream-only", "127.0.0.1:8080")
        .doesNotContain("--check", "0.0.0.0");
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(
      strings = {"--help", "-h", "demo --help", "demo -h", "--help --nothing", "--check --help"})
  void helpThatIsAskedForEndsWellWhateverIsWrong(String line) {
    Command command = parse(Map.of("GATEWAY_LISTEN", "x"), line.split(" "));

    assertThat(command)
        .isInstanceOfSatisfying(
            Command.Exit.class,
            exit -> {
              assertThat(exit.code()).isZero();
              assertThat(exit.text()).startsWith("Usage: gateway ");
              // No codes for colours.
              assertThat(exit.text()).matches("[\\n -~]+");
            });
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"--version", "-V", "demo --version"})
  void versionIsPrinted(String line) {
    assertThat(exit(line.split(" "))).isEqualTo(new Command.Exit(0, "idempotency-gateway 1.2.3\n"));
  }

  @Test
  void fileThatDoesNotExistIsOneLine() {
    assertThat(exit("--config", "/none.yaml"))
        .isEqualTo(
            new Command.Exit(1, "gateway: the configuration file /none.yaml does not exist\n"));
  }

  @Test
  void folderAsFileIsOneLine() {
    assertThat(exit("--config", folder.toString()).text()).endsWith(" is a folder\n");
  }

  @Test
  void fileThatIsNotTextIsOneLine() throws IOException {
    Files.write(Path.of(file), new byte[] {(byte) 0xff, (byte) 0xfe});

    assertThat(exit("--config", file).text()).endsWith(" is not UTF-8\n");
  }

  @Test
  void fileThatIsTooLargeIsOneLine() throws IOException {
    Files.write(Path.of(file), new byte[(1 << 20) + 1]);

    assertThat(exit("--config", file).text()).endsWith(" is larger than 1MiB\n");
  }

  @Test
  void invalidFileEndsWithCodeOneAndAllItsProblems() throws IOException {
    Files.writeString(Path.of(file), BadFiles.MINIMAL + "drain: x\nthreads: 0\n");

    assertThat(exit("--config", file, "--check"))
        .isEqualTo(
            new Command.Exit(
                1,
                file
                    + ": 2 problems\n"
                    + "  drain: x (expected: a duration such as 25s)\n"
                    + "  threads: 0 (expected: a whole number from 1 to 1024)\n"));
  }

  @Test
  void byteOrderMarkIsNotPartOfTheFile() throws IOException {
    Files.writeString(Path.of(file), "\uFEFF" + BadFiles.MINIMAL, StandardCharsets.UTF_8);

    assertThat(run(NO_VARIABLES, "--config", file).upstreams()).containsOnlyKeys("a");
  }

  @Test
  void checkedConfigurationReadsAsTheSameOne() throws IOException {
    Files.writeString(Path.of(file), ConfigurationReaderTest.FULL);
    Map<String, String> variables = ConfigurationReaderTest.ENVIRONMENT;
    Command.Check first = check(variables, file);

    // The one thing that is not printed.
    Files.writeString(
        Path.of(file),
        first
            .text()
            .replace("[\"***\", \"***\"]", "[{ env: FINGERPRINT_SECRET }, { file: old.secret }]"));
    assertThat(check(variables, file)).isEqualTo(first);
  }

  /** Whoever keeps the password of the store in a variable must not store in clear by that. */
  @Test
  void storeOfAVariableKeepsTheFilesEncryption() throws IOException {
    Files.writeString(
        Path.of(file),
        BadFiles.MINIMAL
            + "store: { url: memory, compress: 1KiB, encryption: { keys: [{ id: k, env: RECORDS_KEY"
            + " }] } }\nsecret: a-secret-of-sixteen-or-more\n");
    Map<String, String> variables =
        Map.of("GATEWAY_STORE", "redis://u:pw@c", "RECORDS_KEY", BadFiles.RECORDS_KEY);

    Configuration configuration = run(variables, "--config", file);

    assertThat(configuration.store()).isInstanceOf(Store.Redis.class);
    assertThat(configuration.envelope().compressFrom()).isEqualTo(1024);
    assertThat(configuration.envelope().keys())
        .extracting(Envelope.Key::id, key -> key.bytes().length)
        .containsExactly(tuple("k", 32));
  }

  @Test
  void checkedDefaultsReadAsTheSameConfiguration() throws IOException {
    Files.writeString(Path.of(file), BadFiles.MINIMAL);
    Command.Check first = check(NO_VARIABLES, file);

    Files.writeString(Path.of(file), first.text());
    assertThat(check(NO_VARIABLES, file)).isEqualTo(first);
  }

  @Test
  void checkShowsNoSecret() throws IOException {
    Files.writeString(
        Path.of(file),
        BadFiles.MINIMAL + "secret: hunter2hunter2hunter2\nstore: redis://u:hunter2@r\n");

    assertThat(check(NO_VARIABLES, file).text())
        .doesNotContain("hunter2")
        .contains("secret: \"***\"", "redis://***@r");
  }

  @Test
  void checkShowsWhereKeysComeFromAndNoneOfThem() throws IOException {
    Files.writeString(
        Path.of(file),
        BadFiles.MINIMAL
            + "secrets: [hunter2hunter2hunter2, { file: old.secret }]\n"
            + "store: { url: memory, encryption: { keys: [{ id: k2, env: RECORDS_KEY }, { id: k1,"
            + " file: k1.key }] } }\n");

    assertThat(check(Map.of("RECORDS_KEY", BadFiles.RECORDS_KEY), file).text())
        .doesNotContain("hunter2", "an-older", BadFiles.RECORDS_KEY, BadFiles.OLD_KEY)
        .contains(
            "secrets: [\"***\", \"***\"]",
            "- id: \"k2\"\n        env: \"RECORDS_KEY\"",
            "- id: \"k1\"\n        file: \"" + folder.resolve("k1.key") + "\"");
  }

  @Test
  void demoHasItsOwnDefaults() {
    assertThat(parse(NO_VARIABLES, "demo"))
        .isEqualTo(
            new Command.Demo(
                new HostAndPort("127.0.0.1", 8080),
                new HostAndPort("127.0.0.1", 9090),
                Defaults.memory(),
                new HostAndPort("127.0.0.1", 3000),
                false,
                null));
  }

  @Test
  void demoKeepsItsOrdersInADatabaseWhereOneIsNamed() {
    assertThat(parse(NO_VARIABLES, "demo", "--orders", "postgresql://u:s3cr3t@db/shop"))
        .isInstanceOfSatisfying(
            Command.Demo.class, demo -> assertThat(demo.orders()).hasHost("db").hasPath("/shop"))
        .asString()
        .doesNotContain("s3cr3t");
  }

  @Test
  void wordsBehindOperationsAreNotLookedAtHereAndNotShown() {
    Map<String, String> variables = Map.of("GATEWAY_LISTEN", "wrong");

    assertThat(parse(variables, "operations", "find", "--key", "s3cr3t"))
        .isEqualTo(new Command.Operations(List.of("find", "--key", "s3cr3t")))
        .hasToString("Operations");
  }

  @Test
  void demoIgnoresVariablesThatAreTheGateways() {
    Map<String, String> variables =
        Map.of("GATEWAY_UPSTREAM", "x", "GATEWAY_CHECK", "x", "GATEWAY_LISTEN", "h:1");

    assertThat(parse(variables, "demo"))
        .isInstanceOfSatisfying(
            Command.Demo.class,
            demo -> assertThat(demo.listen()).isEqualTo(new HostAndPort("h", 1)));
  }

  @Test
  void demoGatewayForwardsToWhereItsUpstreamListens() {
    Command command = parse(NO_VARIABLES, "demo", "--listen", "a:0", "--upstream-listen", "b:0");

    assertThat(command)
        .isInstanceOfSatisfying(
            Command.Demo.class,
            demo -> {
              assertThat(demo.upstreamListen()).isEqualTo(new HostAndPort("b", 0));
              Configuration gateway = demo.gateway(new HostAndPort("b", 4711));
              assertThat(gateway.listen()).containsExactly(Listener.clear(new HostAndPort("a", 0)));
              assertThat(gateway.upstreams().values())
                  .flatExtracting(Upstream::addresses)
                  .containsExactly(new HostAndPort("b", 4711));
            });
  }

  /** Reading YAML costs a good part of the start-up: who has no file must not pay for it. */
  @Test
  void flagsAloneNeedNoClassOfYaml() throws Exception {
    URL[] path = classPathWithoutYaml();
    try (URLClassLoader bare = new URLClassLoader(path, ClassLoader.getPlatformClassLoader())) {
      Object command =
          bare.loadClass(Command.class.getName())
              .getMethod("parse", List.class, Map.class, String.class)
              .invoke(null, List.of("--upstream", "http://a", "--check"), Map.of(), "1");

      assertThat(command.getClass().getSimpleName()).isEqualTo("Check");
    }
  }

  private static URL[] classPathWithoutYaml() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> !entry.endsWith(".jar") || entry.contains("picocli"))
        .map(CommandTest::url)
        .toArray(URL[]::new);
  }

  private static URL url(String entry) {
    try {
      return Path.of(entry).toUri().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Command parse(Map<String, String> variables, String... words) {
    return Command.parse(List.of(words), variables, "1.2.3");
  }

  private static Configuration run(Map<String, String> variables, String... words) {
    Command command = parse(variables, words);
    assertThat(command).isInstanceOf(Command.Run.class);
    return ((Command.Run) command).configuration();
  }

  private static Command.Check check(Map<String, String> variables, String file) {
    Command command = parse(variables, "--config", file, "--check");
    assertThat(command).isInstanceOf(Command.Check.class);
    return (Command.Check) command;
  }

  private static Command.Exit exit(String... words) {
    Command command = parse(NO_VARIABLES, words);
    assertThat(command).isInstanceOf(Command.Exit.class);
    return (Command.Exit) command;
  }
}
