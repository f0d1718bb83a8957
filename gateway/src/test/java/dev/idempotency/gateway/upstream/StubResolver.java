package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.testing.ScriptedUpstream;
import io.netty.resolver.AbstractAddressResolver;
import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Names stand for what a test says at the moment. */
final class StubResolver extends AddressResolverGroup<InetSocketAddress> {

  final AtomicInteger asked = new AtomicInteger();
  private final List<Promise<List<InetSocketAddress>>> held = new ArrayList<>();
  private volatile List<InetSocketAddress> answer = List.of();
  private volatile boolean holding;

  /** From now on the name stands for these. */
  void answer(ScriptedUpstream... servers) {
    List<InetSocketAddress> next = new ArrayList<>();
    for (ScriptedUpstream server : servers) {
      next.add(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
    }
    answer = next;
  }

  /** From now on there is no such name. */
  void forget() {
    answer = List.of();
  }

  void hold() {
    holding = true;
  }

  /** Gives the answers that were held. Event loop only. */
  void letGo() {
    holding = false;
    held.forEach(this::give);
  }

  private void give(Promise<List<InetSocketAddress>> promise) {
    List<InetSocketAddress> now = answer;
    if (now.isEmpty()) {
      promise.setFailure(new UnknownHostException("no such name"));
    } else {
      promise.setSuccess(now);
    }
  }

  @Override
  protected AddressResolver<InetSocketAddress> newResolver(EventExecutor executor) {
    return new AbstractAddressResolver<>(executor, InetSocketAddress.class) {
      @Override
      protected boolean doIsResolved(InetSocketAddress address) {
        return !address.isUnresolved();
      }

      @Override
      protected void doResolve(InetSocketAddress name, Promise<InetSocketAddress> promise) {
        throw new UnsupportedOperationException("one address of many");
      }

      @Override
      protected void doResolveAll(
          InetSocketAddress name, Promise<List<InetSocketAddress>> promise) {
        asked.incrementAndGet();
        if (holding) {
          held.add(promise);
        } else {
          give(promise);
        }
      }
    };
  }
}
