package dev.idempotency.gateway.testing.planted.upstream;

import dev.idempotency.gateway.testing.planted.server.KnowsUpstream;

/** The other half. */
public final class KnowsServer {
  final KnowsUpstream sibling;

  KnowsServer(KnowsUpstream sibling) {
    this.sibling = sibling;
  }
}
