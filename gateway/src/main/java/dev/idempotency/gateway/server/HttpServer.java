package dev.idempotency.gateway.server;

import dev.idempotency.gateway.exchange.Exchanges;
import dev.idempotency.gateway.http.Tunnel;
import dev.idempotency.gateway.transport.OnePieceResponseEncoder;
import dev.idempotency.gateway.transport.Transport;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The listener for clients. Each connection belongs to one event loop, and so do its exchanges and
 * the upstream connections and the store that these use.
 *
 * <p>Threading: safe from any thread.
 */
public final class HttpServer {

  private static final long BEAT_MILLIS = 250;

  private final Transport transport;
  private final EventLoopGroup group;
  private final ServerOptions options;
  private final Function<EventLoop, Exchanges> exchanges;
  private final Consumer<Throwable> bugs;
  private final AtomicInteger connections = new AtomicInteger();
  private final Map<ClientConnection, EventLoop> open = new ConcurrentHashMap<>();
  private final AtomicBoolean beating = new AtomicBoolean();
  private volatile boolean draining;

  /**
   * @param exchanges the exchanges of each loop of the group
   * @param bugs is told of exceptions that nobody expected
   */
  public HttpServer(
      Transport transport,
      EventLoopGroup group,
      ServerOptions options,
      Function<EventLoop, Exchanges> exchanges,
      Consumer<Throwable> bugs) {
    this.transport = transport;
    this.group = group;
    this.options = options;
    this.exchanges = exchanges;
    this.bugs = bugs;
  }

  /** Starts to listen; the future's channel is the listener. May be called again. */
  public ChannelFuture bind(ListenerOptions listener) {
    startBeating();
    return new ServerBootstrap()
        .group(group, group)
        .channel(transport.serverChannel())
        .option(ChannelOption.SO_BACKLOG, 1024)
        .option(ChannelOption.SO_REUSEADDR, true)
        .childOption(ChannelOption.TCP_NODELAY, true)
        .childOption(ChannelOption.SO_KEEPALIVE, true)
        .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
        .childOption(
            ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(32 * 1024, 128 * 1024))
        .childHandler(new Initializer())
        .bind(listener.address());
  }

  private void startBeating() {
    if (beating.compareAndSet(false, true)) {
      group
          .next()
          .scheduleAtFixedRate(this::beat, BEAT_MILLIS, BEAT_MILLIS, TimeUnit.MILLISECONDS)
          .addListener(done -> {});
    }
  }

  private final class Initializer extends ChannelInitializer<Channel> {
    @Override
    protected void initChannel(Channel channel) {
      if (connections.incrementAndGet() > options.connections() || draining) {
        connections.decrementAndGet();
        Transport.close(channel);
        return;
      }
      RequestDecoder decoder = new RequestDecoder(options);
      Http1Handler handler =
          new Http1Handler(
              HttpServer.this,
              options,
              decoder,
              exchanges.apply(channel.eventLoop()),
              peers(channel));
      open.put(handler, channel.eventLoop());
      channel.pipeline().addLast(decoder, new OnePieceResponseEncoder(), handler);
    }
  }

  private Http1Handler.Peers peers(Channel channel) {
    String address = addressOf(channel);
    return Http1Handler.Peers.of(address, options.trustedProxies().contains(address));
  }

  private static String addressOf(Channel channel) {
    if (channel.remoteAddress() instanceof InetSocketAddress remote
        && remote.getAddress() != null) {
      String text = remote.getAddress().getHostAddress();
      int zone = text.indexOf('%');
      return zone < 0 ? text : text.substring(0, zone);
    }
    return "unknown";
  }

  /** The connection has become a tunnel. */
  Tunnel tunnelOf(ClientConnection connection, Channel channel) {
    TunnelConnection tunnel = new TunnelConnection(this, channel, options.tunnelTimeout());
    open.remove(connection);
    open.put(tunnel, channel.eventLoop());
    return tunnel.tunnel();
  }

  void closed(ClientConnection connection) {
    if (open.remove(connection) != null) {
      connections.decrementAndGet();
    }
  }

  void bug(Throwable cause) {
    bugs.accept(cause);
  }

  boolean isDraining() {
    return draining;
  }

  /** Open connections of clients. */
  public int connections() {
    return connections.get();
  }

  /** From now on every response closes its connection, and connections at rest close at once. */
  public void drain() {
    draining = true;
    onLoops(ClientConnection::drain);
  }

  /** Closes all connections. */
  public void close() {
    onLoops(ClientConnection::close);
  }

  private void beat() {
    long now = System.nanoTime();
    onLoops(connection -> connection.beat(now));
  }

  /** Runs the task for each connection, with one hop for each event loop. */
  private void onLoops(Consumer<ClientConnection> task) {
    for (EventLoop loop : Set.copyOf(open.values())) {
      loop.execute(
          () -> {
            for (Map.Entry<ClientConnection, EventLoop> entry : List.copyOf(open.entrySet())) {
              if (entry.getValue() == loop) {
                task.accept(entry.getKey());
              }
            }
          });
    }
  }
}
