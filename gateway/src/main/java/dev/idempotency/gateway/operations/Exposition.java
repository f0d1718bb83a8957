package dev.idempotency.gateway.operations;

import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * The metrics as text. The registry is made at the first scrape: loading the library costs more
 * time than the rest of the start.
 */
final class Exposition {

  /** Prometheus' own text format. */
  static final String TEXT = "text/plain; version=0.0.4; charset=utf-8";

  /** What OpenMetrics 1.0 calls itself. */
  static final String OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

  private final GatewayMetrics metrics;
  private final String version;
  private @Nullable PrometheusMeterRegistry registry;

  Exposition(GatewayMetrics metrics, String version) {
    this.metrics = metrics;
    this.version = version;
  }

  byte[] scrape(boolean openMetrics) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(32 * 1024);
    try {
      registry().scrape(out, openMetrics ? OPEN_METRICS : TEXT);
    } catch (IOException e) {
      throw new UncheckedIOException("memory does not fail to be written to", e);
    }
    return out.toByteArray();
  }

  private synchronized PrometheusMeterRegistry registry() {
    PrometheusMeterRegistry made = registry;
    if (made == null) {
      made = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
      made.getPrometheusRegistry().register(new GatewayCollector(metrics, version));
      bindJvm(made);
      registry = made;
    }
    return made;
  }

  // Never closed: it hears of collections for as long as the process lives.
  @SuppressWarnings("resource")
  private static void bindJvm(PrometheusMeterRegistry registry) {
    new JvmMemoryMetrics().bindTo(registry);
    new JvmGcMetrics().bindTo(registry);
    new JvmThreadMetrics().bindTo(registry);
    new ProcessorMetrics().bindTo(registry);
    new UptimeMetrics().bindTo(registry);
    new FileDescriptorMetrics().bindTo(registry);
  }
}
