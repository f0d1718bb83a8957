package dev.idempotency.gateway.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;

class ComposeTest {

  private final JsonNode services = Deployment.yaml("docker-compose.yaml").get("services");

  @Test
  void gatewayStandsBetweenTheWorldAndTheDemoUpstream() {
    JsonNode environment = services.at("/gateway/environment");

    assertThat(environment.fieldNames()).toIterable().isSubsetOf(Deployment.VARIABLES);
    assertThat(environment.get("GATEWAY_LISTEN").asText()).isEqualTo("0.0.0.0:8080");
    assertThat(environment.get("GATEWAY_ADMIN").asText()).isEqualTo("0.0.0.0:9090");
    assertThat(environment.get("GATEWAY_UPSTREAM").asText()).isEqualTo("http://orders:3000");
    assertThat(environment.get("GATEWAY_STORE").asText()).isEqualTo("redis://redis:6379");
    assertThat(services.at("/orders/command").toString())
        .isEqualTo("[\"demo\",\"--upstream-only\",\"--upstream-listen\",\"0.0.0.0:3000\"]");
  }

  @Test
  void adminPortIsNotPublished() {
    assertThat(services.at("/gateway/ports")).hasSize(1);
    assertThat(services.at("/gateway/ports/0").asText())
        .endsWith(":" + Deployment.PUBLIC_PORT + ":" + Deployment.PUBLIC_PORT);
    assertThat(services.at("/redis/ports").isMissingNode()).isTrue();
  }

  @Test
  void everythingPublishedIsForThisMachineOnly() {
    services.forEach(
        service ->
            service
                .path("ports")
                .forEach(port -> assertThat(port.asText()).startsWith("127.0.0.1:")));
  }

  @Test
  void gatewayIsGivenMoreTimeThanItsDrainTakes() {
    String grace = services.at("/gateway/stop_grace_period").asText();

    assertThat(grace).matches("\\d+s");
    assertThat(Integer.parseInt(grace.replace("s", "")))
        .isGreaterThanOrEqualTo(Deployment.DRAIN_SECONDS + Deployment.ENDING_SECONDS);
  }

  @Test
  void fullRedisRefusesAndARestartedOneRemembers() {
    assertThat(services.at("/redis/image").asText()).startsWith("redis:7");
    assertThat(services.at("/redis/command").toString())
        .contains("\"--maxmemory-policy\",\"noeviction\"")
        .contains("\"--appendonly\",\"yes\"");
    assertThat(services.at("/redis/volumes/0").asText()).endsWith(":/data");
  }

  @Test
  void whatIsReferredToIsThere() {
    for (JsonNode service : services) {
      service
          .path("depends_on")
          .fieldNames()
          .forEachRemaining(name -> assertThat(services.has(name)).as(name).isTrue());
    }
    assertThat(
            Deployment.FOLDER
                .resolve("..")
                .resolve(services.at("/gateway/build/dockerfile").asText()))
        .exists();
    for (int i = 0; i < 2; i++) {
      String mount = services.at("/prometheus/volumes/" + i).asText();
      assertThat(mount).startsWith("./");
      assertThat(Files.exists(Deployment.FOLDER.resolve(mount.split(":", -1)[0]))).isTrue();
    }
  }

  @Test
  void prometheusAsksTheGatewayOnItsAdminPort() {
    JsonNode job = Deployment.yaml("prometheus.yml").at("/scrape_configs/0");
    JsonNode discovery = job.at("/dns_sd_configs/0");

    assertThat(job.get("metrics_path").asText()).isEqualTo("/metrics");
    assertThat(services.has(discovery.at("/names/0").asText())).isTrue();
    assertThat(discovery.at("/names/0").asText()).isEqualTo("gateway");
    assertThat(discovery.get("port").asInt()).isEqualTo(Deployment.ADMIN_PORT);
    assertThat(discovery.get("type").asText()).isEqualTo("A");
  }
}
