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
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** What is shown of the store: what threatens it, and what waits for it. */
final class StoreSeries {

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
