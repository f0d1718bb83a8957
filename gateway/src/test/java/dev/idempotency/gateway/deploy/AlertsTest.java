package dev.idempotency.gateway.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AlertsTest {

  private static final Path METRICS = Path.of("src/main/java/dev/idempotency/gateway/operations");
  private static final Pattern NAME = Pattern.compile("gateway_[a-z0-9_]+");

  private final List<JsonNode> rules = rules();

  private static List<JsonNode> rules() {
    List<JsonNode> rules = new ArrayList<>();
    for (JsonNode group : Deployment.yaml("alerts.yaml").get("groups")) {
      assertThat(group.path("name").asText()).isNotEmpty();
      group.get("rules").forEach(rules::add);
    }
    return rules;
  }

  private static Set<String> names(String text) {
    Set<String> names = new TreeSet<>();
    for (Matcher matcher = NAME.matcher(text); matcher.find(); ) {
      names.add(matcher.group());
    }
    return names;
  }

  /** Counters get their ending where they are written. */
  private static Set<String> known() throws IOException {
    StringBuilder code = new StringBuilder();
    try (Stream<Path> files = Files.list(METRICS)) {
      for (Path file : files.sorted().toList()) {
        code.append(Files.readString(file));
      }
    }
    return names(code.toString());
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
  void alertsLookAtMetricsThatThereAre() throws IOException {
    Set<String> known = known();

    assertThat(rules)
        .allSatisfy(
            rule ->
                assertThat(names(rule.get("expr").asText()))
                    .isNotEmpty()
                    .allSatisfy(name -> assertThat(known).contains(name.replace("_total", ""))));
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
