package dev.idempotency.gateway.testing.planted.transport;

import dev.idempotency.gateway.testing.planted.exchange.KnowsNetty;

final class KnowsExchange {
  final KnowsNetty edge;

  KnowsExchange(KnowsNetty edge) {
    this.edge = edge;
  }
}
