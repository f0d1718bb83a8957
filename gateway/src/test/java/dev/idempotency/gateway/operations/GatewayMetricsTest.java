package dev.idempotency.gateway.operations;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.BodyBudget;
import dev.idempotency.gateway.exchange.ExchangeListener.Summary;
import dev.idempotency.gateway.exchange.Result;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GatewayMetricsTest {

  private final GatewayMetrics metrics = new GatewayMetrics("1.2.3");

  private String text() {
    return new String(metrics.scrape(false), StandardCharsets.UTF_8);
  }

  /** Series and values of the gateway's own metrics. */
  private Map<String, Double> series() {
    Map<String, Double> series = new LinkedHashMap<>();
    text()
        .lines()
        .filter(line -> line.startsWith("gateway_"))
        .forEach(
            line -> {
              int blank = line.lastIndexOf(' ');
              series.put(line.substring(0, blank), Double.valueOf(line.substring(blank + 1)));
            });
    return series;
  }

  private static String requests(String route, String outcome, String statusClass) {
    return "gateway_requests_total{outcome=\"%s\",route=\"%s\",status_class=\"%s\"}"
        .formatted(outcome, route, statusClass);
  }

  @Test
  void knownRouteHasItsSeriesBeforeAnyRequest() {
    metrics.route("create-order");

    assertThat(series())
        .containsEntry(requests("create-order", "completed", "2xx"), 0.0)
        .containsEntry(requests("create-order", "replayed", "2xx"), 0.0)
        .containsEntry(requests("create-order", "in_flight", "4xx"), 0.0)
        .containsEntry(requests("create-order", "unknown", "5xx"), 0.0)
        .containsEntry(requests("create-order", "store_unavailable", "5xx"), 0.0)
        .containsEntry("gateway_request_duration_seconds_count{route=\"create-order\"}", 0.0)
        .containsEntry("gateway_fenced_total", 0.0)
        .containsEntry("gateway_info{version=\"1.2.3\"}", 1.0);
  }

  @Test
  void endedExchangesAreCountedByRouteOutcomeAndStatusClass() {
    metrics.route("create-order");
    Scripted.exchange(metrics, "create-order", Result.COMPLETED, 201);
    Scripted.exchange(metrics, "create-order", Result.COMPLETED, 404);
    Scripted.exchange(metrics, "create-order", Result.REPLAYED, 201);
    Scripted.exchange(metrics, "create-order", Result.REPLAYED, 299);
    Scripted.exchange(metrics, "create-order", Result.CLIENT_GONE, 0);
    Scripted.exchange(metrics, "create-order", Result.PASSED, 799);
    metrics.opened();

    assertThat(series())
        .containsEntry(requests("create-order", "completed", "2xx"), 1.0)
        .containsEntry(requests("create-order", "completed", "4xx"), 1.0)
        .containsEntry(requests("create-order", "replayed", "2xx"), 2.0)
        .containsEntry(requests("create-order", "client_gone", "none"), 1.0)
        .containsEntry(requests("create-order", "passed", "other"), 1.0)
        .containsEntry("gateway_in_flight", 1.0);
  }

  @Test
  void unknownRouteIsCountedWithoutName() {
    metrics.route("create-order");
    Scripted.exchange(metrics, "", Result.NO_ROUTE, 404);
    Scripted.exchange(metrics, "of-nobody", Result.PASSED, 200);

    assertThat(series())
        .containsEntry(requests("", "no_route", "4xx"), 1.0)
        .containsEntry(requests("", "passed", "2xx"), 1.0);
    assertThat(text()).doesNotContain("of-nobody");
  }

  @Test
  void whatIsOnlyObservedIsCountedByWhatItWouldHaveBeen() {
    metrics.route("r");
    Summary replayed = new Summary("r", Result.PASSED, 200, 0, false, 1, 0, 0, Result.REPLAYED);
    Summary refused = new Summary("r", Result.PASSED, 200, 0, false, 1, 0, 0, Result.KEY_MISSING);
    metrics.closed(Scripted.head("/"), replayed);
    metrics.closed(Scripted.head("/"), replayed);
    metrics.closed(Scripted.head("/"), refused);
    Scripted.exchange(metrics, "r", Result.COMPLETED, 201);

    assertThat(series())
        .containsEntry("gateway_observed_total{route=\"r\",would_be=\"replayed\"}", 2.0)
        .containsEntry("gateway_observed_total{route=\"r\",would_be=\"key_missing\"}", 1.0)
        .containsEntry(requests("r", "passed", "2xx"), 3.0);
    assertThat(text()).doesNotContain("would_be=\"completed\"");
  }

  @Test
  void durationsFallIntoTheirBuckets() {
    metrics.route("r");
    metrics.closed(
        Scripted.head("/"), new Summary("r", Result.COMPLETED, 200, 1, false, 500_000, 1, 1, null));
    metrics.closed(
        Scripted.head("/"), new Summary("r", Result.COMPLETED, 200, 1, false, 500_001, 1, 1, null));
    metrics.closed(
        Scripted.head("/"),
        new Summary("r", Result.REPLAYED, 200, 0, false, 30_000_000_001L, 0, 1, null));

    assertThat(series())
        .containsEntry("gateway_request_duration_seconds_bucket{route=\"r\",le=\"5.0E-4\"}", 1.0)
        .containsEntry("gateway_request_duration_seconds_bucket{route=\"r\",le=\"0.001\"}", 2.0)
        .containsEntry("gateway_request_duration_seconds_bucket{route=\"r\",le=\"30.0\"}", 2.0)
        .containsEntry("gateway_request_duration_seconds_bucket{route=\"r\",le=\"+Inf\"}", 3.0)
        .containsEntry("gateway_request_duration_seconds_count{route=\"r\"}", 3.0)
        .containsEntry("gateway_request_duration_seconds_sum{route=\"r\"}", 30.001000002)
        .containsEntry("gateway_upstream_duration_seconds_count{route=\"r\"}", 2.0)
        .containsEntry("gateway_store_duration_seconds_count{route=\"r\"}", 3.0);
  }

  @Test
  void derivedKeysAreCountedByRoute() {
    metrics.route("r");
    metrics.route("other");
    metrics.closed(
        Scripted.head("/"), new Summary("r", Result.REPLAYED, 200, 0, true, 1, 0, 1, null));
    metrics.closed(
        Scripted.head("/"), new Summary("r", Result.REPLAYED, 200, 0, false, 1, 0, 1, null));

    assertThat(series())
        .containsEntry("gateway_derived_keys_total{route=\"r\"}", 1.0)
        .containsEntry("gateway_derived_keys_total{route=\"other\"}", 0.0);
  }

  @Test
  void failuresAreCounted() {
    metrics.storeWriteDeferred();
    metrics.storeWriteDeferred();
    metrics.deferredWriteEnded(true);
    metrics.deferredWriteEnded(false);
    metrics.renewalFailed();
    metrics.fenced();
    metrics.storeFailed("away");
    metrics.responseUnreadable("key gone");
    metrics.bug(new IllegalStateException("planted"));

    assertThat(series())
        .containsEntry("gateway_deferred_writes_total{result=\"deferred\"}", 2.0)
        .containsEntry("gateway_deferred_writes_total{result=\"written\"}", 1.0)
        .containsEntry("gateway_deferred_writes_total{result=\"dropped\"}", 1.0)
        .containsEntry("gateway_lease_renewal_failures_total", 1.0)
        .containsEntry("gateway_fenced_total", 1.0)
        .containsEntry("gateway_store_failures_total", 1.0)
        .containsEntry("gateway_unreadable_responses_total", 1.0)
        .containsEntry("gateway_bugs_total", 1.0);
  }

  @Test
  void suppliersOfEventLoopsAreSummed() {
    metrics.bodies(new BodyBudget(4096));
    metrics.readiness(() -> new Readiness.State(false, true, "", true));
    metrics.clientConnections(() -> 7);
    metrics.deferredWrites(() -> 1);
    metrics.deferredWrites(() -> 2);
    metrics.upstream("orders", () -> 5, () -> 2, () -> 1);
    metrics.upstream("orders", () -> 6, () -> 3, () -> 0);
    metrics.upstreamAddresses("orders", () -> 3, () -> 1, () -> 2, () -> 4, () -> 5);
    metrics.upstreamAddresses("orders", () -> 3, () -> 2, () -> 2, () -> 6, () -> 7);

    assertThat(series())
        .containsEntry("gateway_body_bytes", 0.0)
        .containsEntry("gateway_body_bytes_limit", 4096.0)
        .containsEntry("gateway_store_up", 1.0)
        .containsEntry("gateway_ready", 0.0)
        .containsEntry("gateway_client_connections", 7.0)
        .containsEntry("gateway_deferred_writes_pending", 3.0)
        .containsEntry("gateway_upstream_connections{state=\"open\",upstream=\"orders\"}", 11.0)
        .containsEntry("gateway_upstream_connections{state=\"idle\",upstream=\"orders\"}", 5.0)
        .containsEntry("gateway_upstream_waiting{upstream=\"orders\"}", 1.0)
        .containsEntry("gateway_upstream_addresses{state=\"known\",upstream=\"orders\"}", 3.0)
        .containsEntry("gateway_upstream_addresses{state=\"ejected\",upstream=\"orders\"}", 2.0)
        .containsEntry("gateway_upstream_addresses{state=\"unhealthy\",upstream=\"orders\"}", 2.0)
        .containsEntry("gateway_upstream_ejections_total{upstream=\"orders\"}", 10.0)
        .containsEntry("gateway_upstream_connect_failures_total{upstream=\"orders\"}", 12.0)
        .containsKey("gateway_network_buffer_bytes{memory=\"direct\"}");
  }

  @Test
  void nothingOfTheClientIsShown() {
    metrics.route("create-order");
    Scripted.exchange(metrics, "create-order", Result.COMPLETED, 201);
    metrics.storeFailed("of-the-client");

    assertThat(text()).doesNotContain("of-the-client", "4111", "/orders");
  }

  @Test
  void jvmIsShown() {
    assertThat(text())
        .contains(
            "jvm_memory_used_bytes",
            "jvm_gc_",
            "jvm_threads_live_threads",
            "jvm_buffer_memory_used_bytes",
            "process_cpu_usage",
            "process_uptime_seconds");
  }

  @Test
  void openMetricsEndsWithItsMark() {
    metrics.route("create-order");

    String text = new String(metrics.scrape(true), StandardCharsets.UTF_8);

    assertThat(text).contains("# TYPE gateway_requests counter").endsWith("# EOF\n");
    assertThat(text.lines().filter(line -> line.startsWith("# TYPE")))
        .as("a family occurs once")
        .doesNotHaveDuplicates();
  }

  @Test
  void countsOfManyThreadsAreComplete() throws InterruptedException {
    metrics.route("r");
    List<Result> results = List.of(Result.values());
    int threads = 4;
    int each = 10_000;
    CountDownLatch ended = new CountDownLatch(threads);
    IntStream.range(0, threads)
        .forEach(
            number ->
                new Thread(
                        () -> {
                          for (int i = 0; i < each; i++) {
                            Scripted.exchange(
                                metrics, "r", results.get(i % results.size()), 100 + i % 600);
                          }
                          ended.countDown();
                        })
                    .start());
    ended.await();

    double counted =
        series().entrySet().stream()
            .filter(entry -> entry.getKey().startsWith("gateway_requests_total"))
            .mapToDouble(Map.Entry::getValue)
            .sum();
    assertThat(counted).isEqualTo(threads * each);
    assertThat(series()).containsEntry("gateway_in_flight", 0.0);
  }
}
