package dev.idempotency.gateway.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SidecarTest {

  private final List<JsonNode> documents = Deployment.documents("kubernetes/sidecar.yaml");
  private final JsonNode pod = kind("Deployment").at("/spec/template/spec");
  private final JsonNode gateway = container("gateway");
  private final JsonNode app = container("app");

  private JsonNode kind(String kind) {
    return documents.stream()
        .filter(document -> document.path("kind").asText().equals(kind))
        .findAny()
        .orElseThrow();
  }

  private JsonNode container(String name) {
    for (JsonNode container : pod.get("containers")) {
      if (container.get("name").asText().equals(name)) {
        return container;
      }
    }
    throw new AssertionError("no container " + name);
  }

  private static int preStopSeconds(JsonNode container) {
    JsonNode command = container.at("/lifecycle/preStop/exec/command");
    assertThat(command.get(0).asText()).isEqualTo("sleep");
    return command.get(1).asInt();
  }

  @Test
  void everyDocumentSaysWhatItIs() {
    assertThat(documents)
        .hasSize(4)
        .allSatisfy(
            document -> {
              assertThat(document.path("apiVersion").asText()).isNotEmpty();
              assertThat(document.path("kind").asText()).isNotEmpty();
              assertThat(document.at("/metadata/name").asText()).isEqualTo("orders");
            });
  }

  @Test
  void selectorsFindThePod() {
    JsonNode labels = kind("Deployment").at("/spec/template/metadata/labels");

    assertThat(kind("Deployment").at("/spec/selector/matchLabels")).isEqualTo(labels);
    assertThat(kind("Service").at("/spec/selector")).isEqualTo(labels);
    assertThat(kind("NetworkPolicy").at("/spec/podSelector/matchLabels")).isEqualTo(labels);
    assertThat(kind("PodDisruptionBudget").at("/spec/selector/matchLabels")).isEqualTo(labels);
  }

  @Test
  void gatewayListensWhereTheProductDoes() {
    Map<String, Integer> ports = new HashMap<>();
    gateway
        .get("ports")
        .forEach(p -> ports.put(p.get("name").asText(), p.get("containerPort").asInt()));

    assertThat(ports)
        .isEqualTo(Map.of("http", Deployment.PUBLIC_PORT, "admin", Deployment.ADMIN_PORT));
    Map<String, JsonNode> variables = new HashMap<>();
    gateway.get("env").forEach(variable -> variables.put(variable.get("name").asText(), variable));
    assertThat(variables.keySet()).isSubsetOf(Deployment.VARIABLES);
    assertThat(value(variables, "GATEWAY_LISTEN")).endsWith(":" + Deployment.PUBLIC_PORT);
    assertThat(value(variables, "GATEWAY_ADMIN")).isEqualTo("0.0.0.0:" + Deployment.ADMIN_PORT);
    assertThat(variables.get("GATEWAY_STORE").at("/valueFrom/secretKeyRef/name").asText())
        .isNotEmpty();
  }

  @Test
  void applicationIsReachedThroughTheGatewayOnly() {
    String upstream = "";
    for (JsonNode variable : gateway.get("env")) {
      upstream =
          variable.get("name").asText().equals("GATEWAY_UPSTREAM")
              ? variable.get("value").asText()
              : upstream;
    }
    String listens = app.get("args").get(3).asText();

    assertThat(listens).startsWith("127.0.0.1:");
    assertThat(upstream).isEqualTo("http://" + listens);
    assertThat(app.has("ports")).isFalse();
    assertThat(kind("Service").at("/spec/ports/0/targetPort").asText()).isEqualTo("http");
  }

  private static String value(Map<String, JsonNode> variables, String name) {
    return variables.get(name).get("value").asText();
  }

  @ParameterizedTest
  @CsvSource({
    "startupProbe, /healthz",
    "livenessProbe, /healthz",
    "readinessProbe, /readyz",
  })
  void probesAskTheAdminPort(String probe, String path) {
    assertThat(gateway.at("/" + probe + "/httpGet/path").asText()).isEqualTo(path);
    assertThat(gateway.at("/" + probe + "/httpGet/port").asText()).isEqualTo("admin");
  }

  @Test
  void podLivesLongerThanTheDrainAndTheApplicationLongerThanTheGateway() {
    int grace = pod.get("terminationGracePeriodSeconds").asInt();
    int drained = preStopSeconds(gateway) + Deployment.DRAIN_SECONDS;

    assertThat(grace).isGreaterThanOrEqualTo(drained + Deployment.ENDING_SECONDS);
    assertThat(preStopSeconds(app)).isGreaterThan(drained).isLessThan(grace);
  }

  @Test
  void containersAreBoundedAndWithoutPrivileges() {
    assertThat(pod.at("/securityContext/runAsNonRoot").asBoolean()).isTrue();
    assertThat(List.of(gateway, app))
        .allSatisfy(
            container -> {
              assertThat(container.at("/resources/requests/cpu").asText()).isNotEmpty();
              assertThat(container.at("/resources/limits/memory").asText()).isNotEmpty();
              assertThat(container.at("/securityContext/runAsUser").asInt()).isPositive();
              assertThat(container.at("/securityContext/allowPrivilegeEscalation").asText())
                  .isEqualTo("false");
              assertThat(container.at("/securityContext/readOnlyRootFilesystem").asBoolean())
                  .isTrue();
            });
  }

  @Test
  void adminPortIsForTheMonitoringOnly() {
    for (JsonNode rule : kind("NetworkPolicy").at("/spec/ingress")) {
      boolean anyone = !rule.has("from");
      for (JsonNode port : rule.get("ports")) {
        assertThat(port.get("port").asText()).isEqualTo(anyone ? "http" : "admin");
      }
    }
  }
}
