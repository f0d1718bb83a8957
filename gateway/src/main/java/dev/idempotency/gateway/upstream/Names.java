package dev.idempotency.gateway.upstream;

import io.netty.channel.EventLoop;
import io.netty.resolver.AddressResolverGroup;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The addresses that an upstream's names stand for, looked up again and again from the first
 * request on, whatever the traffic.
 *
 * <p>The resolver keeps an answer as long as its TTL says, and no longer than the upstream's
 * interval; it is asked every second, which costs next to nothing while it knows the answer. So new
 * addresses are seen a second after the old ones' time at the latest. Where a look-up fails, the
 * last known addresses stay: an upstream is not lost because a name server is.
 *
 * <p>Threading: one event loop.
 */
final class Names {

  /** Hears the addresses when they changed, and when a look-up ended. */
  interface Listener {

    void changed(Map<InetSocketAddress, UpstreamOptions.Address> addresses);

    /** Whatever came of it. */
    void lookedUp();

    void lookUpFailed(String host, String why);
  }

  private static final long POLL_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long MOST_BACK_OFF_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final int FAILURES_OF_A_MINUTE = 12;

  private final EventLoop loop;
  private final AddressResolverGroup<InetSocketAddress> resolvers;
  private final Listener listener;
  private final long pollNanos;
  private final List<Named> all = new ArrayList<>();
  private int pending;
  private boolean started;
  private boolean stopped;

  Names(
      UpstreamOptions options,
      EventLoop loop,
      AddressResolverGroup<InetSocketAddress> resolvers,
      Listener listener) {
    this.loop = loop;
    this.resolvers = resolvers;
    this.listener = listener;
    this.pollNanos = Math.min(POLL_NANOS, Math.max(1, options.resolveInterval().toNanos()));
    options.addresses().forEach(address -> all.add(new Named(address)));
  }

  /** The addresses that are known, each with the one that was configured. */
  Map<InetSocketAddress, UpstreamOptions.Address> known() {
    Map<InetSocketAddress, UpstreamOptions.Address> union = new LinkedHashMap<>();
    for (Named named : all) {
      named.known.forEach(address -> union.putIfAbsent(address, named.address));
    }
    return union;
  }

  /** Whether an answer is awaited that may bring addresses soon. */
  boolean isLookingUp() {
    return pending > 0;
  }

  /** Begins to look up what must be. */
  void start() {
    if (!started) {
      started = true;
      all.stream().filter(named -> named.unresolved).forEach(Named::lookUp);
    }
  }

  void stop() {
    stopped = true;
  }

  private final class Named {
    final UpstreamOptions.Address address;
    final boolean unresolved;
    Set<InetSocketAddress> known = Set.of();
    private int failures;

    Named(UpstreamOptions.Address address) {
      this.address = address;
      byte[] literal = NetUtil.createByteArrayFromIpAddressString(address.host());
      this.unresolved = literal == null;
      if (literal != null) {
        known = Set.of(new InetSocketAddress(address(literal), address.port()));
      }
    }

    void lookUp() {
      // A start that fails ends its loops before they have run what waits there, and then nobody is
      // left to ask.
      if (stopped || loop.isShuttingDown()) {
        return;
      }
      pending++;
      InetSocketAddress name = InetSocketAddress.createUnresolved(address.host(), address.port());
      Future<List<InetSocketAddress>> answer = resolvers.getResolver(loop).resolveAll(name);
      answer.addListener(
          done -> {
            if (loop.inEventLoop()) {
              answered(answer);
            } else {
              loop.execute(() -> answered(answer));
            }
          });
    }

    private void answered(Future<List<InetSocketAddress>> answer) {
      pending--;
      if (stopped) {
        return;
      }
      if (answer.isSuccess() && !answer.getNow().isEmpty()) {
        failures = 0;
        again(pollNanos);
        take(new LinkedHashSet<>(answer.getNow()));
      } else {
        failed(answer.cause());
      }
      listener.lookedUp();
    }

    private void take(Set<InetSocketAddress> addresses) {
      // A set of other order is the same: name servers rotate their answers.
      if (!known.equals(addresses)) {
        known = addresses;
        listener.changed(known());
      }
    }

    private void failed(Throwable cause) {
      again(Math.min(MOST_BACK_OFF_NANOS, POLL_NANOS << Math.min(failures, 3)));
      if (failures++ % FAILURES_OF_A_MINUTE == 0) {
        String why = cause instanceof UnknownHostException ? "no such host" : "no answer";
        listener.lookUpFailed(address.host(), why);
      }
    }

    private void again(long nanos) {
      Future<?> unused = loop.schedule(this::lookUp, nanos, TimeUnit.NANOSECONDS);
    }
  }

  private static InetAddress address(byte[] literal) {
    try {
      return InetAddress.getByAddress(literal);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("an address of 4 or 16 bytes is one", e);
    }
  }
}
