package dev.idempotency.gateway.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DockerfileTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Set<String> INSTRUCTIONS =
      Set.of(
          "FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "EXPOSE", "ENTRYPOINT", "HEALTHCHECK");

  private record Instruction(String name, String rest) {}

  private final List<Instruction> instructions = instructions();

  private static List<Instruction> instructions() {
    List<Instruction> instructions = new ArrayList<>();
    for (String line : Deployment.text("Dockerfile").replace("\\\n", " ").split("\n", -1)) {
      if (!line.isBlank() && !line.startsWith("#")) {
        String[] words = line.split(" ", 2);
        instructions.add(new Instruction(words[0], words[1]));
      }
    }
    return instructions;
  }

  private List<String> all(String name) {
    return instructions.stream().filter(i -> i.name().equals(name)).map(Instruction::rest).toList();
  }

  private static List<String> words(String json) throws JsonProcessingException {
    return List.of(JSON.readValue(json, String[].class));
  }

  @Test
  void everyInstructionIsOneAndTheFirstIsFrom() {
    assertThat(instructions).extracting(Instruction::name).isSubsetOf(INSTRUCTIONS);
    assertThat(instructions.get(0).name()).isEqualTo("FROM");
  }

  @Test
  void imageIsBuiltWithMavenAndRunsOnABareJre() {
    assertThat(all("FROM"))
        .containsExactly("maven:3.9-eclipse-temurin-17 AS build", "eclipse-temurin:17-jre");
    assertThat(all("COPY").get(3))
        .startsWith("--from=build ")
        .endsWith("/build/gateway/target/idempotency-gateway.jar " + Deployment.JAR);
  }

  @Test
  void whatIsCopiedIsNotIgnored() {
    List<String> kept =
        Deployment.text("Dockerfile.dockerignore")
            .lines()
            .filter(line -> line.startsWith("!"))
            .map(line -> line.substring(1))
            .toList();

    assertThat(kept)
        .containsExactly("pom.xml", "gateway/pom.xml", "gateway/src/main", "loadtest/pom.xml")
        .allSatisfy(path -> assertThat(Deployment.FOLDER.resolve("..").resolve(path)).exists());
    assertThat(all("COPY").subList(0, 3))
        .containsExactly("pom.xml ./", "gateway gateway", "loadtest loadtest");
  }

  @Test
  void processIsNotRootAndHearsSignalsItself() throws JsonProcessingException {
    List<String> entry = words(all("ENTRYPOINT").get(0));

    assertThat(all("USER")).containsExactly("10001");
    assertThat(entry).startsWith("java").endsWith("-jar", Deployment.JAR);
    assertThat(entry).anyMatch(option -> option.matches("-XX:MaxRAMPercentage=[1-5]\\d"));
  }

  @Test
  void portsAreThoseOfTheProduct() {
    assertThat(all("EXPOSE")).containsExactly(Deployment.PUBLIC_PORT + " " + Deployment.ADMIN_PORT);
    assertThat(all("ENV")).containsExactly("GATEWAY_ADMIN=0.0.0.0:" + Deployment.ADMIN_PORT);
  }

  @ParameterizedTest
  @CsvSource({"200, true", "503, false", "404, false"})
  @Timeout(30)
  void healthCheckBelievesTheReadinessOfTheGateway(int status, boolean healthy)
      throws IOException, InterruptedException {
    HttpServer admin =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    admin.createContext(
        "/readyz",
        exchange -> {
          exchange.sendResponseHeaders(status, -1);
          exchange.close();
        });
    admin.start();
    try {
      assertThat(isHealthy(admin.getAddress().getPort())).isEqualTo(healthy);
    } finally {
      admin.stop(0);
    }
  }

  @Test
  @Timeout(30)
  void gatewayThatDoesNotListenIsUnhealthy() throws IOException, InterruptedException {
    int port;
    try (ServerSocket gone = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = gone.getLocalPort();
    }

    assertThat(isHealthy(port)).isFalse();
  }

  private boolean isHealthy(int port) throws IOException, InterruptedException {
    String check = all("HEALTHCHECK").get(0);
    ProcessBuilder builder =
        new ProcessBuilder(words(check.substring(check.indexOf("CMD ") + 4)))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD);
    builder.environment().put("GATEWAY_ADMIN", "0.0.0.0:" + port);
    Process process = builder.start();
    try {
      assertThat(process.waitFor(20, TimeUnit.SECONDS)).as("ended in time").isTrue();
      return process.exitValue() == 0;
    } finally {
      process.destroyForcibly();
    }
  }
}
