package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.idempotency.StoreFinding;
import dev.idempotency.gateway.idempotency.StoreHealth;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** What is shown of the store: what threatens it, and what waits for it. */
final class StoreSeries {

  /** As {@link dev.idempotency.gateway.exchange.Sweeper#AGES}; the first are not overdue at all. */
  private static final List<String> AGES = List.of("any", "0s", "1m", "10m", "1h", "1d");

  private StoreSeries() {}

  static void collect(GatewayMetrics metrics, List<MetricSnapshot> all) {
    @Nullable LongSupplier bytes = metrics.gauges.deferredBytes;
    if (bytes != null) {
      all.add(
          new GaugeSnapshot(
              new MetricMetadata(
                  "gateway_deferred_write_bytes",
                  "Memory of responses that wait to be stored, because the store was away."),
              List.of(new GaugeDataPointSnapshot(bytes.getAsLong(), Labels.EMPTY, null))));
    }
    all.add(
        counter(
            "gateway_deferred_responses_dropped",
            "Responses that were not kept, because too many waited to be stored.",
            metrics.droppedResponses.sum()));
    open(metrics, all);
    @Nullable StoreHealth store = metrics.gauges.store;
    if (store != null) {
      all.add(findings(store.findings()));
      all.add(
          counter(
              "gateway_store_evictions",
              "Keys that the store threw away for want of memory while it was watched.",
              store.evictions()));
    }
  }

  private static void open(GatewayMetrics metrics, List<MetricSnapshot> all) {
    all.add(
        counter(
            "gateway_sweeps", "Rounds that looked for overdue operations.", metrics.sweeps.sum()));
    GatewayMetrics.@Nullable Swept swept = metrics.swept;
    if (swept != null) {
      List<GaugeDataPointSnapshot> points = new ArrayList<>();
      for (int i = 0; i < AGES.size(); i++) {
        Labels labels = Labels.of("overdue", AGES.get(i));
        points.add(new GaugeDataPointSnapshot(swept.counts().get(i), labels, null));
      }
      all.add(
          new GaugeSnapshot(
              new MetricMetadata(
                  "gateway_open_operations",
                  "Operations in the store that are not finished, by how long they have been"
                      + " overdue at least; every gateway counts them all."),
              points));
      all.add(
          new GaugeSnapshot(
              new MetricMetadata(
                  "gateway_oldest_unknown_seconds",
                  "For how long the oldest outcome has been unknown; every gateway sees the same."),
              List.of(
                  new GaugeDataPointSnapshot(
                      swept.oldest().toMillis() / 1000.0, Labels.EMPTY, null))));
    }
    List<CounterDataPointSnapshot> probes = new ArrayList<>();
    metrics.probes.forEach(
        (probed, count) ->
            probes.add(
                new CounterDataPointSnapshot(
                    count.sum(),
                    Labels.of("route", probed.route(), "finding", probed.finding()),
                    null,
                    0)));
    if (!probes.isEmpty()) {
      all.add(
          new CounterSnapshot(
              new MetricMetadata(
                  "gateway_probes", "What upstreams said of operations of unknown outcome."),
              probes));
    }
  }

  private static GaugeSnapshot findings(List<StoreFinding> findings) {
    return new GaugeSnapshot(
        new MetricMetadata("gateway_store_finding", "1 for each thing that threatens records."),
        findings.stream()
            .map(StoreFinding::code)
            .distinct()
            .map(code -> new GaugeDataPointSnapshot(1, Labels.of("code", code), null))
            .toList());
  }

  private static CounterSnapshot counter(String name, String help, long count) {
    return new CounterSnapshot(
        new MetricMetadata(name, help),
        List.of(new CounterDataPointSnapshot(count, Labels.EMPTY, null, 0)));
  }
}
