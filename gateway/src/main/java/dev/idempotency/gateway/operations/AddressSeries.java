package dev.idempotency.gateway.operations;

import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How the addresses of upstreams fare. Only their number is shown: an address is no label, because
 * names stand for ever new ones.
 */
final class AddressSeries {

  private AddressSeries() {}

  /** The sum, or the highest, of what the event loops say of one upstream. */
  private static final class Sums {
    int known;
    int ejected;
    int unhealthy;
    long ejections;
    long connectFailures;

    void add(Gauges.UpstreamAddresses loop) {
      known = Math.max(known, loop.known().getAsInt());
      ejected = Math.max(ejected, loop.ejected().getAsInt());
      unhealthy = Math.max(unhealthy, loop.unhealthy().getAsInt());
      ejections += loop.ejections().getAsLong();
      connectFailures += loop.connectFailures().getAsLong();
    }
  }

  static void collect(List<Gauges.UpstreamAddresses> loops, List<MetricSnapshot> all) {
    Map<String, Sums> byName = new LinkedHashMap<>();
    loops.forEach(loop -> byName.computeIfAbsent(loop.name(), name -> new Sums()).add(loop));
    List<GaugeDataPointSnapshot> addresses = new ArrayList<>();
    List<CounterDataPointSnapshot> ejections = new ArrayList<>();
    List<CounterDataPointSnapshot> failures = new ArrayList<>();
    byName.forEach(
        (name, sums) -> {
          addresses.add(gauge(sums.known, name, "known"));
          addresses.add(gauge(sums.ejected, name, "ejected"));
          addresses.add(gauge(sums.unhealthy, name, "unhealthy"));
          ejections.add(count(sums.ejections, name));
          failures.add(count(sums.connectFailures, name));
        });
    all.add(
        new GaugeSnapshot(
            new MetricMetadata(
                "gateway_upstream_addresses",
                "Addresses of upstreams; the ejected and the unhealthy ones are among the known."),
            addresses));
    all.add(
        new CounterSnapshot(
            new MetricMetadata(
                "gateway_upstream_ejections", "Addresses passed over because requests failed."),
            ejections));
    all.add(
        new CounterSnapshot(
            new MetricMetadata(
                "gateway_upstream_connect_failures", "Connections that could not be made."),
            failures));
  }

  private static GaugeDataPointSnapshot gauge(int value, String upstream, String state) {
    return new GaugeDataPointSnapshot(value, Labels.of("upstream", upstream, "state", state), null);
  }

  private static CounterDataPointSnapshot count(long value, String upstream) {
    return new CounterDataPointSnapshot(value, Labels.of("upstream", upstream), null, 0);
  }
}
