package dev.idempotency.gateway.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What {@code AlertedMetricsTest} can't tell of the alerts: whether their file is whole. */
class AlertsTest {

  private final List<JsonNode> rules = rules();

  private static List<JsonNode> rules() {
    List<JsonNode> rules = new ArrayList<>();
    for (JsonNode group : Deployment.yaml("alerts.yaml").get("groups")) {
      assertThat(group.path("name").asText()).isNotEmpty();
      group.get("rules").forEach(rules::add);
    }
    return rules;
  }

  @Test
  void everyAlertHasWhatItTakes() {
    assertThat(rules)
        .hasSizeGreaterThan(5)
        .allSatisfy(
            rule -> {
              assertThat(rule.path("alert").asText()).matches("Idempotency[A-Za-z]+");
              assertThat(rule.path("expr").asText()).isNotBlank();
              assertThat(rule.path("for").asText("1m")).matches("\\d+[smh]");
              assertThat(rule.at("/labels/severity").asText()).isIn("page", "ticket");
              assertThat(rule.at("/annotations/summary").asText()).isNotEmpty();
              assertThat(rule.at("/annotations/description").asText()).isNotEmpty();
            });
    assertThat(rules).extracting(rule -> rule.get("alert").asText()).doesNotHaveDuplicates();
  }

  @Test
  void parenthesesOfExpressionsMatch() {
    assertThat(rules)
        .allSatisfy(
            rule -> {
              String expression = rule.get("expr").asText();
              assertThat(expression.chars().filter(c -> c == '(').count())
                  .isEqualTo(expression.chars().filter(c -> c == ')').count());
            });
  }

  @Test
  void prometheusReadsTheAlerts() {
    JsonNode mounts = Deployment.yaml("docker-compose.yaml").at("/services/prometheus/volumes");

    assertThat(Deployment.yaml("prometheus.yml").at("/rule_files/0").asText())
        .isEqualTo("alerts.yaml");
    assertThat(mounts.toString()).contains("./alerts.yaml:/etc/prometheus/alerts.yaml:ro");
  }
}
