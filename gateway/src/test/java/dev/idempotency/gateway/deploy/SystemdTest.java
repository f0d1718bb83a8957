package dev.idempotency.gateway.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SystemdTest {

  private final List<String> lines =
      Deployment.text("idempotency-gateway.service")
          .lines()
          .filter(line -> !line.isBlank() && !line.startsWith("#"))
          .toList();

  private List<String> all(String name) {
    List<String> values = new ArrayList<>();
    for (String line : lines) {
      if (line.startsWith(name + "=")) {
        values.add(line.substring(name.length() + 1));
      }
    }
    return values;
  }

  @Test
  void everyLineIsASectionOrASetting() {
    assertThat(lines).allMatch(line -> line.matches("\\[[A-Z]\\w+]|[A-Z]\\w+=.*"));
    assertThat(lines).contains("[Unit]", "[Service]", "[Install]");
  }

  @Test
  void configurationIsCheckedBeforeTheStart() {
    String program = "-jar " + Deployment.JAR;

    assertThat(all("ExecStartPre").get(0)).contains(program + " --check --config /etc/");
    assertThat(all("ExecStart").get(0)).contains(program + " --config /etc/");
  }

  @Test
  void serviceIsGivenTheTimeThatItsStopTakes() {
    JsonNode file = Deployment.yaml("../config/redis-production.yaml");
    int stop = seconds(file, "drain-delay") + seconds(file, "drain") + Deployment.ENDING_SECONDS;

    assertThat(Integer.parseInt(all("TimeoutStopSec").get(0))).isGreaterThanOrEqualTo(stop);
    assertThat(all("KillSignal")).containsExactly("SIGTERM");
  }

  private static int seconds(JsonNode file, String name) {
    return Integer.parseInt(file.get(name).asText().replace("s", ""));
  }

  @Test
  void endBySignalIsNoFailure() {
    assertThat(all("SuccessExitStatus")).containsExactly("143");
    assertThat(all("Restart")).containsExactly("on-failure");
  }

  @Test
  void serviceHasNoPrivilegesAndMayMakeCode() {
    assertThat(all("DynamicUser")).containsExactly("yes");
    assertThat(all("CapabilityBoundingSet")).containsExactly("");
    assertThat(all("MemoryDenyWriteExecute")).isEmpty();
  }
}
