package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static dev.idempotency.gateway.testing.RawClient.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A gateway in trouble shows the series that the alerts wait for, and the README tells of them. */
class AlertedMetricsTest {

  private static final Pattern EXPRESSION =
      Pattern.compile("expr:(.*?)\\n\\s+(?:for|labels):", Pattern.DOTALL);
  private static final Pattern SELECTOR = Pattern.compile("(gateway_[a-z0-9_]+)(?:\\{([^}]*)})?");
  private static final Pattern MATCHER = Pattern.compile("([a-z_]+)=~?\"([^\"]*)\"");
  private static final Pattern TYPE = Pattern.compile("# TYPE (gateway_\\w+) ");

  private static String metrics = "";

  /** With an outcome that stays unknown, on a Redis that keeps nothing on its disk. */
  @BeforeAll
  static void scrape(@TempDir Path folder) throws IOException {
    Path token = Files.writeString(folder.resolve("token"), "a-token-that-only-reads");
    try (RedisServer redis = RedisServer.start();
        ScriptedUpstream upstream = ScriptedUpstream.start((request, wire) -> wire.cut());
        TestGateway gateway =
            TestGateway.start(
                "sweep: { every: 100ms }\noperators: { read: { file: \""
                    + token
                    + "\" } }\n"
                    + TestGateway.yaml(
                        upstream.url(),
                        redis.url(),
                        "unknown: probe",
                        "probe: { url: \"/by-key/{key}\" }"))) {
      await().until(gateway::isReady);
      assertThat(once(gateway.port(), post("/orders", "k", "{}")).status()).isEqualTo(502);
      assertThat(ask(gateway, "/operations").status()).isEqualTo(401);
      await()
          .untilAsserted(
              () -> {
                metrics = ask(gateway, "/metrics").text();
                assertThat(metrics)
                    .containsPattern("gateway_oldest_unknown_seconds (?!0\\.0\\n)")
                    .contains("gateway_probes_total{", "gateway_store_finding{");
              });
    }
  }

  private static RawResponse ask(TestGateway gateway, String path) {
    return once(gateway.adminPort(), request("GET", path, null, null, null));
  }

  /** Label values are looked for one by one; an alternative stands for each of its parts. */
  private static List<String> series(String metric, String matchers) {
    List<String> series =
        metrics.lines().filter(line -> line.matches(metric + "(\\{.*)? \\S+")).toList();
    for (Matcher matcher = MATCHER.matcher(matchers); matcher.find(); ) {
      String label = matcher.group(1);
      List<String> values = Arrays.asList(matcher.group(2).split("\\|", -1));
      series =
          series.stream()
              .filter(
                  line ->
                      values.stream().anyMatch(value -> line.contains(label + "=\"" + value + '"')))
              .toList();
    }
    return series;
  }

  @Test
  void everyAlertWaitsForSeriesThatAreShown() throws IOException {
    String alerts = Files.readString(Path.of("..", "deploy", "alerts.yaml"));
    Set<String> looked = new TreeSet<>();
    for (Matcher expression = EXPRESSION.matcher(alerts); expression.find(); ) {
      for (Matcher used = SELECTOR.matcher(expression.group(1)); used.find(); ) {
        looked.add(used.group(1));
        String matchers = used.group(2) == null ? "" : used.group(2);
        assertThat(series(used.group(1), matchers)).as(used.group()).isNotEmpty();
      }
    }
    assertThat(looked).hasSizeGreaterThan(5);
  }

  @Test
  void everyMetricIsInTheReadme() throws IOException {
    String readme = Files.readString(Path.of("..", "README.md"));
    String reference = readme.substring(readme.indexOf("### Metrics reference"));

    Set<String> missing = new TreeSet<>();
    for (Matcher type = TYPE.matcher(metrics); type.find(); ) {
      if (!reference.contains("| `" + type.group(1) + "` |")) {
        missing.add(type.group(1));
      }
    }
    assertThat(missing).isEmpty();
  }
}
