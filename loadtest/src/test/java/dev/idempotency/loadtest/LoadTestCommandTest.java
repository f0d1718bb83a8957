package dev.idempotency.loadtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

@Timeout(60)
class LoadTestCommandTest {

  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

  private int run(String... arguments) {
    PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
    return new CommandLine(new LoadTestCommand(out)).execute(arguments);
  }

  private int run(FakeGateway gateway, String... more) {
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of("--target", gateway.url("/orders")));
    arguments.addAll(List.of("--ledger", gateway.url("/ledger")));
    arguments.addAll(List.of("--rate", "100", "--duration", "1", "--connections", "8"));
    arguments.addAll(List.of("--mix", "fresh=40,replay=30,duplicate=15,mismatch=15"));
    arguments.addAll(List.of("--seed", "42"));
    arguments.addAll(List.of(more));
    return run(arguments.toArray(new String[0]));
  }

  private String printed() {
    return printed.toString(StandardCharsets.UTF_8);
  }

  @Test
  void gatewayThatKeepsItsPromisesPasses() throws IOException {
    try (FakeGateway gateway = new FakeGateway(FakeGateway.Fault.NONE)) {
      int exit = run(gateway);

      assertThat(printed()).contains("verdict: PASS", "(seed 42)").doesNotContain("VIOLATION");
      assertThat(printed()).containsPattern("mismatch +[1-9]").containsPattern("replay +[1-9]");
      assertThat(exit).isZero();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "FORGETS_KEYS, REPLAY_IS_MARKED",
    "EXECUTES_TWICE, AT_MOST_ONE_EFFECT",
    "LOSES_EFFECTS, ONE_EFFECT",
    "REPLAYS_WITHOUT_A_MARK, REPLAY_IS_MARKED",
    "REPLAYS_ANOTHER_BODY, REPLAY_IS_EQUAL",
    "IGNORES_MISMATCHES, MISMATCH_IS_REFUSED",
    "FAILS_AT_TIMES, FRESH_SUCCEEDS",
  })
  void gatewayThatBreaksAPromiseIsFoundOut(FakeGateway.Fault fault, Rule rule) throws IOException {
    try (FakeGateway gateway = new FakeGateway(fault)) {
      int exit = run(gateway);

      assertThat(printed()).contains("verdict: FAIL", "VIOLATION " + rule);
      assertThat(exit).isEqualTo(1);
    }
  }

  @Test
  void gatewayThatFailsAtTimesPassesWhereFailuresAreAllowed() throws IOException {
    try (FakeGateway gateway = new FakeGateway(FakeGateway.Fault.FAILS_AT_TIMES)) {
      int exit = run(gateway, "--allow-failures");

      assertThat(printed()).contains("verdict: PASS").doesNotContain("failures 0");
      assertThat(exit).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://192.0.2.1/orders", "https://127.0.0.1/", "ftp://localhost/", "x"})
  void targetThatIsNotThisMachineIsRefused(String target) {
    int exit = run("--target", target, "--ledger", "http://127.0.0.1:1/ledger");

    assertThat(printed()).startsWith("not run: --target: " + target);
    assertThat(exit).isEqualTo(2);
  }

  @Test
  void ledgerThatIsNotThisMachineIsRefused() {
    int exit = run("--target", "http://127.0.0.1:1/", "--ledger", "http://192.0.2.1/ledger");

    assertThat(printed()).startsWith("not run: --ledger");
    assertThat(exit).isEqualTo(2);
  }

  @Test
  void ledgerThatIsSomethingElseStopsTheRunBeforeTheLoad() throws IOException {
    try (FakeGateway gateway = new FakeGateway(FakeGateway.Fault.NONE)) {
      int exit = run("--target", gateway.url("/orders"), "--ledger", gateway.url("/nowhere"));

      assertThat(printed())
          .contains("not run: " + gateway.url("/nowhere"), "it answered 404 (expected: 200)");
      assertThat(exit).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "--rate, 0",
    "--rate, 10000000",
    "--duration, 0",
    "--connections, 2",
    "--warm-up, 99",
    "--timeout, 0",
    "--mix, fresh",
    "--mix, stale=1",
    "--mix, fresh=0",
    "--header, nothing",
  })
  void valueThatMakesNoSenseIsRefused(String option, String value) {
    int exit = run("--target", "http://[::1]:1/", "--ledger", "http://[::1]:1/", option, value);

    assertThat(printed()).startsWith("not run: ").contains("(expected: ");
    assertThat(exit).isEqualTo(2);
  }
}
