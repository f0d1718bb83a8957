package dev.idempotency.loadtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the laboratory needs before anything is started. */
class LabCommandTest {

  private static String refused(String... options) {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    int code =
        LabCommand.line(new PrintStream(text, true, StandardCharsets.UTF_8)).execute(options);
    assertThat(code).isEqualTo(2);
    return text.toString(StandardCharsets.UTF_8);
  }

  @Test
  void probeWithoutAServiceThatCanBeAskedIsRefused() {
    assertThat(refused("--unknown", "probe")).contains("not run: --unknown probe", "--orders");
  }

  @Test
  void replicasThatAreNotThereAreRefused() {
    assertThat(refused("--safety", "replicas")).contains("only --topology sentinel has a replica");
  }

  @Test
  void faultThatCannotHappenThereIsRefused() {
    assertThat(refused("--faults", "REDIS_SLOTS_MOVED"))
        .contains("--faults: REDIS_SLOTS_MOVED does not fit");
  }

  @Test
  void programThatIsNoRedisIsRefused() {
    assertThat(refused("--redis", "true")).contains("--redis: true (expected: a Redis 7 or later)");
  }

  @Test
  void gatewayThatDoesNotStartIsToldInItsOwnWords() {
    assertThat(refused("--gateway", "nowhere.jar", "--faults", "GATEWAY_KILLED"))
        .contains("not run: the order service ended: ", "dev.idempotency.gateway.Main");
  }

  @Test
  void machineWithoutARedisHasTheOneOfTheTests(@TempDir Path folder) throws IOException {
    assertThat(RedisProgram.isNewEnough(RedisProgram.carried(folder).toString())).isTrue();
  }
}
