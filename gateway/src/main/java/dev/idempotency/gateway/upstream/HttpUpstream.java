package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.exchange.Upstream;
import dev.idempotency.gateway.transport.Transport;
import io.netty.channel.EventLoop;
import io.netty.resolver.AddressResolverGroup;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One upstream as one event loop sees it: its addresses, the connections to them, which are kept
 * alive, checked when they are taken out and bounded in number, and the requests that wait.
 *
 * <p>A request goes to the address with least under way; where no connection can be made, to the
 * next one, because then surely nothing was sent. What was sent is never sent again.
 */
public final class HttpUpstream implements Upstream {

  private static final long BEAT_MILLIS = 50;

  private final UpstreamOptions options;
  private final EventLoop loop;
  private final UpstreamListener listener;
  private final LongSupplier clock;
  private final String authority;
  private final Connector connector;
  private final Names names;
  private final Endpoints endpoints;
  private final Placement placement;
  private final Home home = new Home();
  private @Nullable HealthChecks checks;
  private boolean beating;
  private boolean closed;
  private final LongAdder ejections = new LongAdder();
  private final LongAdder connectFailures = new LongAdder();

  /**
   * @param resolver finds the addresses of host names without blocking, and keeps them no longer
   *     than their TTL
   */
  public HttpUpstream(
      UpstreamOptions options,
      EventLoop loop,
      Transport transport,
      AddressResolverGroup<InetSocketAddress> resolver) {
    this(options, null, loop, transport, resolver, new HealthBoard(), UpstreamListener.NONE);
  }

  /**
   * @param tls that of the options, the same for all loops; null for a clear upstream
   * @param board the same for all event loops; the first of them asks
   */
  public HttpUpstream(
      UpstreamOptions options,
      @Nullable UpstreamTls tls,
      EventLoop loop,
      Transport transport,
      AddressResolverGroup<InetSocketAddress> resolver,
      HealthBoard board,
      UpstreamListener listener) {
    this(options, tls, loop, transport, resolver, board, listener, System::nanoTime);
  }

  HttpUpstream(
      UpstreamOptions options,
      @Nullable UpstreamTls tls,
      EventLoop loop,
      Transport transport,
      AddressResolverGroup<InetSocketAddress> resolver,
      HealthBoard board,
      UpstreamListener listener,
      LongSupplier clock) {
    this.options = options;
    this.loop = loop;
    this.listener = listener;
    this.clock = clock;
    UpstreamOptions.Address first = options.addresses().get(0);
    this.authority = NetUtil.toSocketAddressString(first.host(), first.port());
    this.connector = new Connector(options, loop, transport, LinkFactory.of(options, tls));
    this.endpoints = new Endpoints(board);
    this.placement = new Placement(options, endpoints, clock, home);
    this.names = new Names(options, loop, resolver, home);
    endpoints.replace(names.known(), options.ejection(), home);
    if (options.healthCheck() != null && board.claim()) {
      HealthChecks made =
          new HealthChecks(options, options.healthCheck(), loop, connector, board, listener);
      checks = made;
      loop.execute(() -> startChecks(made));
    }
  }

  private void startChecks(HealthChecks made) {
    names.start();
    made.start(endpoints::all);
  }

  /** The upstream's name in the configuration. */
  public String name() {
    return options.name();
  }

  @Override
  public void acquire(Acquirer acquirer) {
    assert loop.inEventLoop();
    if (closed) {
      acquirer.refused(Refusal.CLOSED);
      return;
    }
    names.start();
    placement.place(acquirer, names.isLookingUp());
    startBeating();
  }

  private void startBeating() {
    if (!beating) {
      beating = true;
      schedule();
    }
  }

  private void schedule() {
    Future<?> unused = loop.schedule(this::beat, BEAT_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void beat() {
    try {
      long now = clock.getAsLong();
      placement.expire(now);
      endpoints.beat(now);
      placement.serveWaiting();
    } finally {
      beating = endpoints.connections() > 0 || placement.waiting() > 0;
      if (beating) {
        schedule();
      }
    }
  }

  /** What its parts need of the upstream. */
  private final class Home implements Connecting.Home, Names.Listener {

    @Override
    public UpstreamOptions options() {
      return options;
    }

    @Override
    public String authority() {
      return authority;
    }

    @Override
    public long nanoTime() {
      return clock.getAsLong();
    }

    @Override
    public boolean isClosed() {
      return closed;
    }

    @Override
    public Connector connector() {
      return connector;
    }

    /**
     * Overdue responses may hold a quarter of the pool, so that an upstream that hung and recovered
     * is not starved by its past.
     */
    @Override
    public boolean mayKeepOverdue() {
      return endpoints.overdueLinks() <= Math.max(1, options.maxConnections() / 4);
    }

    @Override
    public void roomLeft() {
      placement.serveWaiting();
    }

    @Override
    public @Nullable Endpoint next(List<Endpoint> tried) {
      long now = nanoTime();
      Endpoint next = endpoints.choose(now, tried);
      if (next != null) {
        endpoints.chosen(next, now);
      }
      return next;
    }

    @Override
    public void connectFailed(Endpoint endpoint) {
      connectFailures.increment();
      failed(endpoint);
    }

    @Override
    public void failed(Endpoint endpoint) {
      Standing standing = endpoints.standing(endpoint);
      if (standing != null && standing.failed(nanoTime())) {
        ejections.increment();
        listener.ejected(name(), endpoint.address(), Duration.ofNanos(standing.span()));
      }
    }

    @Override
    public void succeeded(Endpoint endpoint) {
      Standing standing = endpoints.standing(endpoint);
      if (standing != null && standing.succeeded(nanoTime())) {
        listener.returned(name(), endpoint.address());
      }
    }

    @Override
    public void changed(Map<InetSocketAddress, UpstreamOptions.Address> addresses) {
      endpoints.replace(addresses, options.ejection(), this);
    }

    @Override
    public void lookedUp() {
      if (endpoints.isEmpty() && !names.isLookingUp()) {
        placement.refuseAll(Refusal.UNREACHABLE);
      }
      placement.serveWaiting();
    }

    @Override
    public void lookUpFailed(String host, String why) {
      listener.lookUpFailed(name(), host, why);
    }
  }

  /** Open connections, connecting ones included. Event loop only. */
  public int connections() {
    return endpoints.connections();
  }

  /** Connections at rest. Event loop only. */
  public int idleConnections() {
    return endpoints.restingLinks();
  }

  /** Requests that wait for a connection. Event loop only. */
  public int waitingRequests() {
    return placement.waiting();
  }

  /** How many addresses are known. Any thread, as all that follow; may be a moment old. */
  public int addresses() {
    return endpoints.size();
  }

  /** How many of them this event loop passes over because requests failed. */
  public int ejectedAddresses() {
    return endpoints.ejected();
  }

  /** How many of them fail their health checks. */
  public int unhealthyAddresses() {
    return endpoints.unhealthy();
  }

  /** How often addresses were ejected. */
  public long ejections() {
    return ejections.sum();
  }

  /** How many connections could not be made. */
  public long connectFailures() {
    return connectFailures.sum();
  }

  /** Closes what rests and refuses what waits; connections in use close when they are done. */
  public void close() {
    closed = true;
    names.stop();
    if (checks != null) {
      checks.stop();
    }
    placement.refuseAll(Refusal.CLOSED);
    endpoints.leave();
  }
}
