package dev.idempotency.gateway.testing.planted.server;

import dev.idempotency.gateway.testing.planted.upstream.KnowsServer;

/** Half of a cycle. */
public final class KnowsUpstream {
  final KnowsServer sibling;

  KnowsUpstream(KnowsServer sibling) {
    this.sibling = sibling;
  }
}
