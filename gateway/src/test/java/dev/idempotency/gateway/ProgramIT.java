package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static dev.idempotency.gateway.testing.RawClient.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The program as whoever starts it sees it: what it prints, how it ends. */
class ProgramIT {

  private static final String UPSTREAM = "http://127.0.0.1:9";
  private static final String ANY = "127.0.0.1:0";

  @TempDir static Path folder;
  private static ServerSocket taken;

  @BeforeAll
  static void takePort() throws IOException {
    taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  }

  @AfterAll
  static void freePort() throws IOException {
    taken.close();
  }

  static List<Arguments> mistakes() throws IOException {
    Path wrong = Files.createTempFile("wrong", ".yaml");
    wrong.toFile().deleteOnExit();
    Files.writeString(
        wrong,
        "upstreams: { a: { url: \""
            + UPSTREAM
            + "\" } }\n"
            + "routes: [ { name: r, path: /**, upstream: a, lease: -3s } ]\n");
    return List.of(
        mistake(
            "port in use", "TAKEN", "--upstream", UPSTREAM, "--admin", ANY, "--listen", "TAKEN"),
        mistake(
            "admin port in use",
            "admin: TAKEN",
            "--upstream",
            UPSTREAM,
            "--listen",
            ANY,
            "--admin",
            "TAKEN"),
        mistake("file that is not there", "missing.yaml", "--config", "/no/missing.yaml"),
        mistake("folder as file", "/tmp", "--config", "/tmp"),
        mistake("wrong file", "routes[0].lease", "--config", wrong.toString()),
        mistake("other scheme", "--store", "--upstream", UPSTREAM, "--store", "http://x"),
        mistake("bad store URL", "store", run("--store", "redis://h:99999")),
        mistake("store URL without host", "store", run("--store", "redis://:6379")),
        mistake("unknown flag", "--upstraem", "--upstraem", UPSTREAM),
        mistake("no such host", "no-such.invalid", run("--listen", "no-such.invalid:0")),
        mistake("foreign address", "192.0.2.1", run("--listen", "192.0.2.1:0")),
        mistake("nothing to do", "--upstream"));
  }

  private static String[] run(String flag, String value) {
    return flag.equals("--listen")
        ? new String[] {"--upstream", UPSTREAM, flag, value, "--admin", ANY}
        : new String[] {"--upstream", UPSTREAM, flag, value, "--listen", ANY, "--admin", ANY};
  }

  private static Arguments mistake(String name, String named, String... arguments) {
    return Arguments.of(name, named, arguments);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("mistakes")
  void mistakeIsNamedAndEndsTheProgram(String name, String named, String[] arguments) {
    String where = "127.0.0.1:" + taken.getLocalPort();
    for (int i = 0; i < arguments.length; i++) {
      arguments[i] = arguments[i].replace("TAKEN", where);
    }
    ProgramRun run = ProgramRun.of(arguments);

    assertThat(run.code()).isIn(1, 2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err())
        .contains(named.replace("TAKEN", where))
        .doesNotContain("Exception", "\tat ");
    assertThat(run.errLines()).hasSizeLessThan(7);
  }

  @Test
  void helpVersionAndCheckPrintAndEnd() {
    ProgramRun help = ProgramRun.of("--help");
    ProgramRun version = ProgramRun.of("--version");
    ProgramRun check =
        ProgramRun.of("--check", "--upstream", UPSTREAM, "--store", "redis://u:geheim@h:1");

    assertThat(List.of(help.code(), version.code(), check.code())).containsOnly(0);
    assertThat(help.out()).contains("--upstream", "demo");
    assertThat(version.out()).startsWith("idempotency-gateway ");
    assertThat(check.out()).contains("retention: 24h").doesNotContain("geheim");
    assertThat(help.err() + version.err() + check.err()).isEmpty();
  }

  @Test
  void startedByVariablesWithoutItsStoreItWorksWhenTheStoreComes() {
    try (RedisServer redis = RedisServer.start();
        ScriptedUpstream upstream = ScriptedUpstream.ok()) {
      redis.stop();
      Map<String, String> variables =
          Map.of(
              "GATEWAY_UPSTREAM",
              upstream.url(),
              "GATEWAY_LISTEN",
              ANY,
              "GATEWAY_ADMIN",
              ANY,
              "GATEWAY_STORE",
              redis.url());
      try (GatewayProcess gateway = GatewayProcess.run(variables)) {
        byte[] keyed = post("/orders", "k1", "{}");
        assertThat(RawClient.once(gateway.port(), keyed).problem()).isEqualTo("store-unavailable");
        assertThat(RawClient.once(gateway.port(), request("GET", "/", null, null, null)).status())
            .isEqualTo(200);
        redis.restart();
        await()
            .atMost(Duration.ofSeconds(20))
            .until(() -> RawClient.once(gateway.port(), keyed).status() == 200);
      }
    }
  }

  /** What only operators need costs the start nothing. */
  @Test
  void serverLoadsNothingOfTheOperatorsCommand() throws IOException {
    Path loaded = folder.resolve("loaded");
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        GatewayProcess gateway =
            GatewayProcess.start(
                TestGateway.yaml(upstream.url(), "memory"), "-Xlog:class+load:file=" + loaded)) {
      assertThat(RawClient.once(gateway.port(), post("/orders", "k1", "{}")).status())
          .isEqualTo(200);

      assertThat(Files.readString(loaded))
          .contains("dev.idempotency.gateway.Main ")
          .doesNotContain("dev.idempotency.gateway.cli.", "java.net.http.");
    }
  }

  @Test
  void terminatedProcessTellsItsClientAndEndsWithinItsLimit() {
    ScriptedUpstream.Gate never = new ScriptedUpstream.Gate();
    try (RedisServer redis = RedisServer.start();
        ScriptedUpstream upstream = ScriptedUpstream.start((request, wire) -> never.pass());
        GatewayProcess gateway =
            GatewayProcess.start(
                TestGateway.yaml(
                    upstream.url(),
                    "{ url: \"" + redis.url() + "\", timeout: 10s }",
                    "lease: 1m"));
        RawClient client = RawClient.connect(gateway.port()).send(post("/orders", "k1", "{}"))) {
      await().atMost(Duration.ofSeconds(20)).until(() -> upstream.requests() == 1);
      gateway.terminate();
      RawResponse answer = client.read();

      assertThat(answer.status()).isEqualTo(502);
      assertThat(answer.problem()).isEqualTo("outcome-unknown");
      assertThat(gateway.waitForEnd(10)).isTrue();
      assertThat(gateway.exitCode()).isIn(0, 143);
    } finally {
      never.open();
    }
  }

  @Test
  void secondSignalCutsNothingShort() {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    String drain = "drain: 20s";
    try (ScriptedUpstream upstream = ScriptedUpstream.start(gate::passAndAnswer);
        GatewayProcess gateway =
            GatewayProcess.start(
                TestGateway.yaml(upstream.url(), "memory").replace("drain: 1s", drain));
        RawClient client = RawClient.connect(gateway.port()).send(post("/orders", "k1", "{}"))) {
      await().atMost(Duration.ofSeconds(20)).until(() -> upstream.requests() == 1);
      gateway.terminate();
      await().atMost(Duration.ofSeconds(20)).until(() -> isRefused(gateway.port()));
      gateway.terminate();
      gate.open();

      assertThat(client.read().status()).isEqualTo(200);
      assertThat(gateway.waitForEnd(15)).isTrue();
    } finally {
      gate.open();
    }
  }

  private static boolean isRefused(int port) {
    try {
      RawClient.connect(port).close();
      return false;
    } catch (UncheckedIOException e) {
      return true;
    }
  }

  @Test
  void demoStartsOnAnyPortsAndEndsWhenTerminated() {
    try (GatewayProcess demo =
        GatewayProcess.run(
            Map.of(), "demo", "--listen", ANY, "--admin", ANY, "--upstream-listen", ANY)) {
      byte[] order = post("/orders", "k1", "{\"item\":\"book\",\"amount\":1}");
      RawResponse first = RawClient.once(demo.port(), order);
      RawResponse second = RawClient.once(demo.port(), order);
      assertThat(second.isReplay()).isTrue();
      assertThat(second.body()).isEqualTo(first.body());

      demo.terminate();
      assertThat(demo.waitForEnd(20)).isTrue();
      assertThat(demo.exitCode()).isIn(0, 143);
    }
  }
}
