package dev.idempotency.loadtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** A short run of the laboratory; {@code -Dlab.seed} repeats one. */
class LabIT {

  private static final String SEED = System.getProperty("lab.seed", "20");

  @Test
  void brokenInEveryWayTheContractHolds() {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    int code =
        LabCommand.line(new PrintStream(text, true, StandardCharsets.UTF_8))
            .execute("--seed", SEED, "--duration", "20", "--gateway", Steps.classPath());

    assertThat(code).as(text.toString(StandardCharsets.UTF_8)).isZero();
    assertThat(text.toString(StandardCharsets.UTF_8)).contains("verdict: PASS");
  }
}
