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

/** The metrics as text. Making one loads the metrics library, some hundred milliseconds. */
final class Exposition {

  /** Prometheus' own text format. */
  static final String TEXT = "text/plain; version=0.0.4; charset=utf-8";

  /** What OpenMetrics 1.0 calls itself. */
  static final String OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

  Exposition(GatewayMetrics metrics, String version) {
    registry.getPrometheusRegistry().register(new GatewayCollector(metrics, version));
    bindJvm(registry);
  }

  byte[] scrape(boolean openMetrics) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(32 * 1024);
    try {
      registry.scrape(out, openMetrics ? OPEN_METRICS : TEXT);
    } catch (IOException e) {
      throw new UncheckedIOException("memory does not fail to be written to", e);
    }
    return out.toByteArray();
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
