package dev.idempotency.gateway.testing.planted.idempotency;

import dev.idempotency.gateway.testing.planted.exchange.KnowsNetty;

final class KnowsExchange {
  final KnowsNetty upwards;

  KnowsExchange(KnowsNetty upwards) {
    this.upwards = upwards;
  }
}
