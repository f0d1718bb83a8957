package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.exchange.Upstream;
import dev.idempotency.gateway.exchange.UpstreamConnection;
import dev.idempotency.gateway.transport.Transport;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.resolver.AddressResolverGroup;
import io.netty.util.AttributeKey;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The connections of one event loop to one upstream: kept alive, checked when they are taken out,
 * bounded in number, with bounded waiting.
 *
 * <p>The latest used connection is used first, so that those that are not needed grow old and go.
 */
public final class HttpUpstream implements Upstream {

  private final LinkOwner owner = new Owner();
  private final LinkFactory links;

  private static final long BEAT_MILLIS = 50;
  private static final AttributeKey<Promise<Link>> READY = AttributeKey.valueOf("ready link");

  private final UpstreamOptions options;
  private final EventLoop loop;
  private final Bootstrap bootstrap;
  private final InetSocketAddress address;
  private final String authority;
  private final ArrayDeque<Idle> idle = new ArrayDeque<>();
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  private final Set<Link> open = new LinkedHashSet<>();
  private int connecting;
  private boolean beating;
  private boolean closed;

  /**
   * One that is spoken to in the clear.
   *
   * @param resolver finds the addresses of host names without blocking
   */
  public HttpUpstream(
      UpstreamOptions options,
      EventLoop loop,
      Transport transport,
      AddressResolverGroup<InetSocketAddress> resolver) {
    this(options, null, loop, transport, resolver);
  }

  /**
   * @param tls that of the options, the same for all loops; null for a clear upstream
   * @param resolver finds the addresses of host names without blocking
   */
  public HttpUpstream(
      UpstreamOptions options,
      @Nullable UpstreamTls tls,
      EventLoop loop,
      Transport transport,
      AddressResolverGroup<InetSocketAddress> resolver) {
    this.options = options;
    this.loop = loop;
    this.links = LinkFactory.of(options, tls);
    this.address = addressOf(options);
    this.authority = NetUtil.toSocketAddressString(first(options).host(), first(options).port());
    this.bootstrap =
        new Bootstrap()
            .group(loop)
            .channelFactory(transport::socketChannel)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) options.connectTimeout().toMillis())
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.SO_KEEPALIVE, true)
            // A failed write must not throw away the response that was sent before it.
            .option(ChannelOption.AUTO_CLOSE, false)
            .handler(new Initializer());
    if (address.isUnresolved()) {
      bootstrap.resolver(resolver);
    }
  }

  private static UpstreamOptions.Address first(UpstreamOptions options) {
    return options.addresses().get(0);
  }

  /** Literal addresses need no resolver. */
  private static InetSocketAddress addressOf(UpstreamOptions options) {
    String host = first(options).host();
    int port = first(options).port();
    byte[] literal = NetUtil.createByteArrayFromIpAddressString(host);
    if (literal == null) {
      return InetSocketAddress.createUnresolved(host, port);
    }
    try {
      return new InetSocketAddress(InetAddress.getByAddress(literal), port);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("an address of 4 or 16 bytes is one", e);
    }
  }

  private final class Initializer extends ChannelInitializer<Channel> {
    @Override
    protected void initChannel(Channel channel) {
      Promise<Link> ready = loop.newPromise();
      channel.attr(READY).set(ready);
      links.prepare(channel, first(options), owner, ready);
    }
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
    UpstreamConnection live = takeIdle();
    if (live != null) {
      acquirer.acquired(live);
    } else if (open.size() + connecting < options.maxConnections()) {
      connect(acquirer);
    } else if (waiting.size() < options.maxWaiting()) {
      waiting.add(new Waiting(acquirer, System.nanoTime() + options.acquireTimeout().toNanos()));
    } else {
      acquirer.refused(Refusal.QUEUE_FULL);
    }
  }

  private @Nullable UpstreamConnection takeIdle() {
    for (Idle last = idle.pollLast(); last != null; last = idle.pollLast()) {
      boolean fresh = System.nanoTime() - last.since < options.idleTimeout().toNanos();
      UpstreamConnection taken = fresh ? last.link.take() : null;
      if (taken != null) {
        return taken;
      }
      last.link.close();
    }
    return null;
  }

  private void connect(Acquirer acquirer) {
    connecting++;
    startBeating();
    ChannelFuture connect = bootstrap.connect(address);
    connect.addListener(
        done -> {
          // Without a file descriptor left there is no channel, and the news comes from elsewhere.
          if (loop.inEventLoop()) {
            connectEnded(connect, acquirer);
          } else {
            loop.execute(() -> connectEnded(connect, acquirer));
          }
        });
  }

  private void connectEnded(ChannelFuture connect, Acquirer acquirer) {
    if (connect.isSuccess()) {
      Channel channel = connect.channel();
      channel.attr(READY).get().addListener(done -> linked(channel, acquirer));
      return;
    }
    connecting--;
    // Those who wait first: the refused caller may come again at once.
    serveWaiting();
    acquirer.refused(
        connect.cause() instanceof ConnectTimeoutException
            ? Refusal.CONNECT_TIMEOUT
            : Refusal.UNREACHABLE);
  }

  private void linked(Channel channel, Acquirer acquirer) {
    connecting--;
    Promise<Link> ready = channel.attr(READY).get();
    Link link = ready.isSuccess() ? ready.getNow() : null;
    if (link == null || closed) {
      Transport.close(channel);
      serveWaiting();
      acquirer.refused(closed ? Refusal.CLOSED : Refusal.TLS_FAILED);
      return;
    }
    open.add(link);
    UpstreamConnection taken = link.take();
    if (taken == null) {
      acquirer.refused(Refusal.UNREACHABLE);
    } else {
      acquirer.acquired(taken);
    }
  }

  private final class Owner implements LinkOwner {

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
      return System.nanoTime();
    }

    @Override
    public boolean mayKeepOverdue() {
      return HttpUpstream.this.mayKeepOverdue();
    }

    @Override
    public void released(Link link) {
      if (closed) {
        link.close();
        return;
      }
      if (waiting.isEmpty()) {
        idle.addLast(new Idle(link, nanoTime()));
        return;
      }
      UpstreamConnection taken = link.take();
      if (taken != null) {
        waiting.remove().acquirer.acquired(taken);
      }
      // Else its place goes to whoever waits, as soon as it is closed.
    }

    @Override
    public void closed(Link link) {
      if (open.remove(link)) {
        idle.removeIf(resting -> resting.link == link);
        serveWaiting();
      }
    }

    @Override
    public void failed(Link link) {}

    @Override
    public void succeeded(Link link) {}
  }

  /** A place became free without a connection. */
  private void serveWaiting() {
    while (!closed && !waiting.isEmpty() && open.size() + connecting < options.maxConnections()) {
      connect(waiting.remove().acquirer);
    }
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
      look(System.nanoTime());
    } finally {
      beating = connecting > 0 || !open.isEmpty() || !waiting.isEmpty();
      if (beating) {
        schedule();
      }
    }
  }

  private void look(long now) {
    while (!waiting.isEmpty() && now - waiting.element().until > 0) {
      waiting.remove().acquirer.refused(Refusal.QUEUE_TIMEOUT);
    }
    // The oldest rest first.
    for (Iterator<Idle> resting = idle.iterator(); resting.hasNext(); ) {
      Idle oldest = resting.next();
      if (now - oldest.since < options.idleTimeout().toNanos()) {
        break;
      }
      resting.remove();
      oldest.link.close();
    }
    if (open.size() > idle.size()) {
      List.copyOf(open).forEach(link -> link.beat(now));
    }
  }

  /**
   * Whether one more connection may be kept for a response that is overdue. They may hold a quarter
   * of the pool, so that an upstream that hung and recovered is not starved by its past.
   */
  boolean mayKeepOverdue() {
    long overdue = open.stream().filter(Link::isOverdue).count();
    return overdue <= Math.max(1, options.maxConnections() / 4);
  }

  /** Open connections, connecting ones included. Event loop only. */
  public int connections() {
    return open.size() + connecting;
  }

  /** Connections at rest. Event loop only. */
  public int idleConnections() {
    return idle.size();
  }

  /** Requests that wait for a connection. Event loop only. */
  public int waitingRequests() {
    return waiting.size();
  }

  /** Closes what rests and refuses what waits; connections in use close when they are done. */
  public void close() {
    closed = true;
    List<Waiting> refused = new ArrayList<>(waiting);
    waiting.clear();
    refused.forEach(waiter -> waiter.acquirer.refused(Refusal.CLOSED));
    List.copyOf(idle).forEach(resting -> resting.link.close());
    idle.clear();
  }

  private record Idle(Link link, long since) {}

  private record Waiting(Acquirer acquirer, long until) {}
}
