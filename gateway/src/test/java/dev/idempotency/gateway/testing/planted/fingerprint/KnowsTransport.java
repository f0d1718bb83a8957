package dev.idempotency.gateway.testing.planted.fingerprint;

import dev.idempotency.gateway.testing.planted.transport.Wire;

final class KnowsTransport {
  final Wire wire;

  KnowsTransport(Wire wire) {
    this.wire = wire;
  }
}
