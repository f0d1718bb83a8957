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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** Short runs of the laboratory; {@code -Dlab.seed} repeats one. */
class LabIT {

  private static final String SEED = System.getProperty("lab.seed", "20");

  private final ByteArrayOutputStream text = new ByteArrayOutputStream();

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
    int code = run(Steps.classPath(), "--duration", "10", "--unknown", "retry");

    assertThat(code).as(told()).isZero();
    assertThat(told()).contains("verdict: PASS");
  }

  @Test
  void replicasThatTakeOverWithoutTheLatestWritesHaveEachOperationOnce() {
    int code =
        run(
            Steps.classPath(),
            "--duration",
            "4",
            "--topology",
            "sentinel",
            "--faults",
            "REDIS_FAILED_OVER_WITH_LOSS");

    assertThat(code).as(told()).isZero();
  }

  @Test
  void upstreamThatIsAskedLeavesNothingUnknown(@TempDir(cleanup = CleanupMode.ALWAYS) Path folder)
      throws IOException {
    try (EmbeddedPostgres postgres =
        EmbeddedPostgres.builder().setDataDirectory(folder.resolve("postgres")).start()) {
      String orders = "postgresql://postgres@127.0.0.1:" + postgres.getPort() + "/postgres";
      int code =
          run(
              Steps.classPath(),
              "--duration",
              "6",
              "--unknown",
              "probe",
              "--orders",
              orders,
              "--faults",
              "GATEWAY_KILLED,UPSTREAM_KILLED,UPSTREAM_ANSWERS_LOST,STORE_ANSWERS_LOST");

      assertThat(code).as(told()).isZero();
    }
  }

  @Test
  void gatewayThatReservesWhatIsReservedIsFoundOut(
      @TempDir(cleanup = CleanupMode.ALWAYS) Path folder) throws IOException {
    String classPath = BrokenGateway.without(folder, "reserve.lua", "'NX', ", "");

    int code = run(classPath, "--duration", "3", "--faults", "CLIENT_ANSWERS_LOST");

    assertThat(code).as(told()).isEqualTo(1);
    assertThat(told()).contains("VIOLATION AT_MOST_ONE_EFFECT", "verdict: FAIL");
  }
}
