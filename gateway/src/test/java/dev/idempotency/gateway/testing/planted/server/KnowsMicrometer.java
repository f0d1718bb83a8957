package dev.idempotency.gateway.testing.planted.server;

import io.micrometer.core.instrument.MeterRegistry;

final class KnowsMicrometer {
  final MeterRegistry registry;

  KnowsMicrometer(MeterRegistry registry) {
    this.registry = registry;
  }
}
