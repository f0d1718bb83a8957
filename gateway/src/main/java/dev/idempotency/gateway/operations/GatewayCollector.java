package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.exchange.BodyBudget;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetric;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Exemplars;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/** Reads the counts and the gauges once for each scrape. The names here are a promise. */
final class GatewayCollector implements MultiCollector {

  private final GatewayMetrics metrics;
  private final String version;

  GatewayCollector(GatewayMetrics metrics, String version) {
    this.metrics = metrics;
    this.version = version;
  }

  @Override
  public MetricSnapshots collect() {
    List<MetricSnapshot> all = new ArrayList<>();
    all.add(info());
    exchanges(all);
    authorizations(all);
    operators(all);
    failures(all);
    upstreams(all);
    AddressSeries.collect(metrics.gauges.addresses, all);
    StoreSeries.collect(metrics, all);
    gauges(all);
    return new MetricSnapshots(all);
  }

  private InfoSnapshot info() {
    return new InfoSnapshot(
        new MetricMetadata("gateway", "The running version."),
        List.of(new InfoDataPointSnapshot(Labels.of("version", version))));
  }

  private void exchanges(List<MetricSnapshot> all) {
    List<RouteCounts> routes = new ArrayList<>(metrics.routes());
    routes.add(metrics.unrouted());
    all.add(requests(routes));
    all.add(derivedKeys(routes));
    all.add(observed(routes));
    all.add(
        histogram(
            "gateway_request_duration_seconds",
            "From the request's head to the end of the answer.",
            routes,
            counts -> counts.whole));
    all.add(
        histogram(
            "gateway_upstream_duration_seconds",
            "From the first byte sent to the upstream to the end of its response.",
            routes,
            counts -> counts.upstream));
    all.add(
        histogram(
            "gateway_store_duration_seconds",
            "Waiting for the store, all of a request's commands together.",
            routes,
            counts -> counts.store));
    all.add(gauge("gateway_in_flight", "Requests under way.", metrics.inFlight()));
  }

  private static CounterSnapshot requests(List<RouteCounts> routes) {
    List<CounterDataPointSnapshot> points = new ArrayList<>();
    for (RouteCounts counts : routes) {
      counts.visit(
          (outcome, statusClass, count) ->
              points.add(
                  point(
                      count,
                      Labels.of(
                          "route",
                          counts.route(),
                          "outcome",
                          outcome,
                          "status_class",
                          statusClass))));
    }
    return new CounterSnapshot(
        new MetricMetadata("gateway_requests", "Requests that ended, by outcome."), points);
  }

  private static CounterSnapshot derivedKeys(List<RouteCounts> routes) {
    return new CounterSnapshot(
        new MetricMetadata(
            "gateway_derived_keys",
            "Requests without a key that named their operation themselves."),
        routes.stream()
            .map(counts -> point(counts.derived.sum(), Labels.of("route", counts.route())))
            .toList());
  }

  private static CounterSnapshot observed(List<RouteCounts> routes) {
    List<CounterDataPointSnapshot> points = new ArrayList<>();
    for (RouteCounts counts : routes) {
      counts.visitObserved(
          (wouldBe, count) ->
              points.add(point(count, Labels.of("route", counts.route(), "would_be", wouldBe))));
    }
    return new CounterSnapshot(
        new MetricMetadata(
            "gateway_observed",
            "Requests that went on because their route only observes, by what they would have got."),
        points);
  }

  private static HistogramSnapshot histogram(
      String name,
      String help,
      List<RouteCounts> routes,
      Function<RouteCounts, DurationCounts> which) {
    List<HistogramDataPointSnapshot> points = new ArrayList<>();
    for (RouteCounts counts : routes) {
      DurationCounts durations = which.apply(counts);
      points.add(
          new HistogramDataPointSnapshot(
              ClassicHistogramBuckets.of(DurationCounts.bounds(), durations.counts()),
              durations.sum(),
              Labels.of("route", counts.route()),
              Exemplars.EMPTY,
              0));
    }
    return new HistogramSnapshot(new MetricMetadata(name, help), points);
  }

  private void failures(List<MetricSnapshot> all) {
    all.add(
        counter(
            "gateway_connections_refused",
            "Connections of clients that were closed because no place was left.",
            metrics.connectionsRefused));
    all.add(
        new CounterSnapshot(
            new MetricMetadata(
                "gateway_deferred_writes",
                "Writes to the store that failed when due: put off, then written or dropped."),
            List.of(
                point(metrics.deferred.sum(), Labels.of("result", "deferred")),
                point(metrics.written.sum(), Labels.of("result", "written")),
                point(metrics.dropped.sum(), Labels.of("result", "dropped")))));
    all.add(
        counter(
            "gateway_lease_renewal_failures",
            "Renewals of leases that failed or came too late.",
            metrics.renewalFailures));
    all.add(
        counter(
            "gateway_fenced",
            "Attempts that found that another one holds their record.",
            metrics.fenced));
    all.add(counter("gateway_store_failures", "Commands that failed.", metrics.storeFailures));
    all.add(
        counter(
            "gateway_unreadable_responses",
            "Stored responses that could not be put into or taken out of their envelope.",
            metrics.unreadableResponses));
    all.add(counter("gateway_bugs", "Exceptions that nobody expected.", metrics.bugs));
  }

  private void upstreams(List<MetricSnapshot> all) {
    Map<String, int[]> byName = new LinkedHashMap<>();
    for (Gauges.UpstreamPool pool : metrics.gauges.upstreams) {
      int[] sums = byName.computeIfAbsent(pool.name(), name -> new int[3]);
      sums[0] += pool.open().getAsInt();
      sums[1] += pool.idle().getAsInt();
      sums[2] += pool.waiting().getAsInt();
    }
    List<GaugeDataPointSnapshot> connections = new ArrayList<>();
    List<GaugeDataPointSnapshot> waiting = new ArrayList<>();
    byName.forEach(
        (name, sums) -> {
          connections.add(gaugePoint(sums[0], Labels.of("upstream", name, "state", "open")));
          connections.add(gaugePoint(sums[1], Labels.of("upstream", name, "state", "idle")));
          waiting.add(gaugePoint(sums[2], Labels.of("upstream", name)));
        });
    all.add(
        new GaugeSnapshot(
            new MetricMetadata(
                "gateway_upstream_connections",
                "Connections to upstreams; the idle ones are among the open ones."),
            connections));
    all.add(
        new GaugeSnapshot(
            new MetricMetadata("gateway_upstream_waiting", "Requests waiting for a connection."),
            waiting));
  }

  private void gauges(List<MetricSnapshot> all) {
    Gauges gauges = metrics.gauges;
    int writes = gauges.deferredWrites.stream().mapToInt(IntSupplier::getAsInt).sum();
    all.add(gauge("gateway_deferred_writes_pending", "Writes waiting to be tried again.", writes));
    BodyBudget bodies = gauges.bodies;
    if (bodies != null) {
      all.add(gauge("gateway_body_bytes", "Memory that bodies take.", bodies.used()));
      all.add(gauge("gateway_body_bytes_limit", "Most they may take.", bodies.limit()));
    }
    IntSupplier clients = gauges.clientConnections;
    if (clients != null) {
      String help = "Open connections of clients.";
      all.add(gauge("gateway_client_connections", help, clients.getAsInt()));
    }
    tls(all);
    tokenKeys(all);
    Readiness readiness = gauges.readiness;
    if (readiness != null) {
      Readiness.State state = readiness.now();
      all.add(gauge("gateway_store_up", "1 if the store answers.", state.storeUp() ? 1 : 0));
      all.add(gauge("gateway_ready", "1 if requests should come.", state.ready() ? 1 : 0));
    }
    networkMemory(all);
  }

  private void tls(List<MetricSnapshot> all) {
    Gauges.Tls tls = metrics.gauges.tls;
    Instant expires = tls == null ? null : tls.expires().get();
    if (tls == null || expires == null) {
      return;
    }
    String help = "When the first of the listeners' certificates expires, in Unix time.";
    all.add(gauge("gateway_certificate_expiry_seconds", help, expires.getEpochSecond()));
    help = "Clients' TLS handshakes that failed.";
    all.add(counter("gateway_tls_handshake_failures", help, tls.handshakes().getAsLong()));
    help = "TLS files that changed and were of no use; those read before stay in use.";
    all.add(counter("gateway_tls_reload_failures", help, tls.reloads().getAsLong()));
  }

  private void tokenKeys(List<MetricSnapshot> all) {
    LongSupplier age = metrics.gauges.tokenKeysAge;
    long seconds = age == null ? -1 : age.getAsLong();
    if (seconds >= 0) {
      String help = "Since the keys of tokens were fetched.";
      all.add(gauge("gateway_token_keys_age_seconds", help, seconds));
    }
  }

  private void authorizations(List<MetricSnapshot> all) {
    List<CounterDataPointSnapshot> points = new ArrayList<>();
    metrics.words.forEach(
        (asked, count) ->
            points.add(
                point(
                    count.sum(),
                    Labels.of("route", asked.route(), "decision", asked.word().label()))));
    if (!points.isEmpty()) {
      all.add(
          new CounterSnapshot(
              new MetricMetadata("gateway_authorization", "What authorisation services said."),
              points));
    }
  }

  private void operators(List<MetricSnapshot> all) {
    List<CounterDataPointSnapshot> points = new ArrayList<>();
    metrics.operated.forEach(
        (operated, count) ->
            points.add(
                point(
                    count.sum(),
                    Labels.of("action", operated.action(), "result", operated.result()))));
    if (!points.isEmpty()) {
      all.add(
          new CounterSnapshot(
              new MetricMetadata(
                  "gateway_operator_actions", "What operators asked for and decided."),
              points));
    }
  }

  /** The network library takes memory that the JVM's own figures don't show. */
  private static void networkMemory(List<MetricSnapshot> all) {
    if (ByteBufAllocator.DEFAULT instanceof ByteBufAllocatorMetricProvider provider) {
      ByteBufAllocatorMetric metric = provider.metric();
      all.add(
          new GaugeSnapshot(
              new MetricMetadata("gateway_network_buffer_bytes", "Memory of network buffers."),
              List.of(
                  gaugePoint(metric.usedDirectMemory(), Labels.of("memory", "direct")),
                  gaugePoint(metric.usedHeapMemory(), Labels.of("memory", "heap")))));
    }
  }

  private static CounterSnapshot counter(String name, String help, LongAdder count) {
    return counter(name, help, count.sum());
  }

  private static CounterSnapshot counter(String name, String help, long count) {
    return new CounterSnapshot(new MetricMetadata(name, help), List.of(point(count, Labels.EMPTY)));
  }

  private static CounterDataPointSnapshot point(long value, Labels labels) {
    return new CounterDataPointSnapshot(value, labels, null, 0);
  }

  private static GaugeSnapshot gauge(String name, String help, long value) {
    return new GaugeSnapshot(
        new MetricMetadata(name, help), List.of(gaugePoint(value, Labels.EMPTY)));
  }

  private static GaugeDataPointSnapshot gaugePoint(long value, Labels labels) {
    return new GaugeDataPointSnapshot(value, labels, null);
  }
}
