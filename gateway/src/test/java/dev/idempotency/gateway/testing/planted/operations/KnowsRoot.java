package dev.idempotency.gateway.testing.planted.operations;

import dev.idempotency.gateway.testing.planted.Root;

final class KnowsRoot {
  final Root.Wiring root;

  KnowsRoot(Root.Wiring root) {
    this.root = root;
  }
}
