package dev.idempotency.gateway.testing.planted.exchange;

import io.netty.buffer.ByteBuf;

public final class KnowsNetty {
  final ByteBuf buffer;

  KnowsNetty(ByteBuf buffer) {
    this.buffer = buffer;
  }
}
