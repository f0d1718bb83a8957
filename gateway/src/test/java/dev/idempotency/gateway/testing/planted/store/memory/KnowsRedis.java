package dev.idempotency.gateway.testing.planted.store.memory;

import dev.idempotency.gateway.testing.planted.store.redis.Connection;

final class KnowsRedis {
  final Connection sibling;

  KnowsRedis(Connection sibling) {
    this.sibling = sibling;
  }
}
