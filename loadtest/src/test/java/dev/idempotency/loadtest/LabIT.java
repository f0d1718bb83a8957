package dev.idempotency.loadtest;

import static org.assertj.core.api.Assertions.assertThat;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** Short runs of the laboratory; {@code -Dlab.seed} repeats one. */
class LabIT {

  private static final String SEED = System.getProperty("lab.seed", "20");

  @TempDir(cleanup = CleanupMode.ALWAYS)
  private static Path folder;

  private static EmbeddedPostgres postgres;
  private final ByteArrayOutputStream text = new ByteArrayOutputStream();

  @BeforeAll
  static void start() throws IOException {
    postgres = EmbeddedPostgres.builder().setDataDirectory(folder.resolve("postgres")).start();
  }

  @AfterAll
  static void stop() throws IOException {
    postgres.close();
  }

  private static String orders() {
    return "postgresql://postgres@127.0.0.1:" + postgres.getPort() + "/postgres";
  }

  private int run(String classPath, String... options) {
    List<String> all = new ArrayList<>(List.of("--seed", SEED, "--gateway", classPath));
    all.addAll(List.of(options));
    return LabCommand.line(new PrintStream(text, true, StandardCharsets.UTF_8))
        .execute(all.toArray(String[]::new));
  }

  private String told() {
    return text.toString(StandardCharsets.UTF_8);
  }

  @Test
  void brokenInEveryWayTheContractHolds() {
    int code =
        run(Steps.classPath(), "--duration", "8", "--unknown", "retry", "--orders", orders());

    assertThat(code).as(told()).isZero();
    assertThat(told()).contains("verdict: PASS");
  }

  @Test
  void replicaThatTakesOverWithoutTheLatestWritesLosesNothing() {
    int code =
        run(
            Steps.classPath(),
            "--duration",
            "3",
            "--topology",
            "sentinel",
            "--faults",
            "REDIS_FAILED_OVER_WITH_LOSS");

    assertThat(code).as(told()).isZero();
  }

  @Test
  void upstreamThatIsAskedLeavesNothingUnknown() {
    int code =
        run(
            Steps.classPath(),
            "--duration",
            "5",
            "--unknown",
            "probe",
            "--orders",
            orders(),
            "--faults",
            "GATEWAY_KILLED,UPSTREAM_KILLED,UPSTREAM_ANSWERS_LOST,STORE_ANSWERS_LOST");

    assertThat(code).as(told()).isZero();
  }

  @Test
  void gatewayThatReservesWhatIsReservedIsFoundOut() throws IOException {
    Path scripts = folder.resolve("broken");
    String classPath =
        BrokenGateway.without(scripts, "reserve.lua", "if not record then", "if true then");

    int code = run(classPath, "--duration", "4", "--faults", "CLIENT_ANSWERS_LOST");

    assertThat(code).as(told()).isEqualTo(1);
    assertThat(told()).contains("VIOLATION AT_MOST_ONE_EFFECT", "verdict: FAIL");
  }
}
