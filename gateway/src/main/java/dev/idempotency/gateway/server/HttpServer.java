package dev.idempotency.gateway.server;

import dev.idempotency.gateway.exchange.Exchanges;
import dev.idempotency.gateway.http.Tunnel;
import dev.idempotency.gateway.transport.TlsFileException;
import dev.idempotency.gateway.transport.Transport;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.ssl.ApplicationProtocolNames;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The listeners for clients. Each connection belongs to one event loop, and so do its exchanges and
 * the upstream connections and the store that these use.
 *
 * <p>Threading: safe from any thread.
 */
public final class HttpServer {

  private static final long BEAT_MILLIS = 250;

  private final Transport transport;
  private final EventLoopGroup group;
  private final ServerOptions options;
  private final Protocols protocols;
  private final Consumer<Throwable> bugs;
  private final Connections connections;
  private final Map<ClientConnection, EventLoop> open = new ConcurrentHashMap<>();
  private final List<ServerTls> secured = new CopyOnWriteArrayList<>();
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
    this.protocols = new Protocols(this, options, exchanges);
    this.bugs = bugs;
    this.connections = new Connections(options.connectionsPerAddress());
  }

  /**
   * Starts to listen; the future's channel is the listener. May be called again. Reads the files of
   * TLS on this thread, which must not be an event loop.
   *
   * @throws TlsFileException one of them is of no use
   */
  public ChannelFuture bind(ListenerOptions listener) throws TlsFileException {
    TlsOptions options = listener.tls();
    @Nullable ServerTls tls =
        options == null
            ? null
            : ServerTls.start(options, listener.http2(), this.options.headTimeout());
    if (tls != null) {
      secured.add(tls);
    }
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
        .childHandler(new Initializer(listener, tls))
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

    private final ListenerOptions listener;
    private final @Nullable ServerTls tls;
    private final Connections.Listener places = connections.listener(options.connections());

    Initializer(ListenerOptions listener, @Nullable ServerTls tls) {
      this.listener = listener;
      this.tls = tls;
    }

    @Override
    protected void initChannel(Channel channel) {
      String address = Connections.textOf(channel.remoteAddress());
      boolean trusted = options.trustedProxies().contains(address);
      if (draining || !places.take(address, !trusted)) {
        if (!draining) {
          protocols.refused(channel);
        }
        Transport.close(channel);
        return;
      }
      channel.closeFuture().addListener(closed -> places.giveBack(address, !trusted));
      if (tls == null) {
        Caller caller = new Caller(address, "http", trusted, null);
        protocols.installClear(channel, caller, listener.http2());
      } else {
        greet(channel, tls, address, trusted);
      }
    }
  }

  /** A connection that has to pass the TLS handshake first. */
  private void greet(Channel channel, ServerTls tls, String address, boolean trusted) {
    TlsGate.Next next =
        (protocol, subject) -> {
          Caller caller = new Caller(address, "https", trusted, subject);
          if (ApplicationProtocolNames.HTTP_2.equals(protocol)) {
            protocols.installHttp2(channel, caller);
          } else {
            protocols.installHttp1(channel, caller);
          }
        };
    TlsGate gate = new TlsGate(this, tls, next);
    opened(gate, channel);
    channel.pipeline().addLast(new HelloHandler(tls), gate);
  }

  /** From now on this speaks for the channel. */
  void opened(ClientConnection connection, Channel channel) {
    open.put(connection, channel.eventLoop());
  }

  /** The connection has become a tunnel. */
  Tunnel tunnelOf(ClientConnection connection, Channel channel) {
    TunnelConnection tunnel = new TunnelConnection(this, channel, options.tunnelTimeout());
    open.remove(connection);
    opened(tunnel, channel);
    return tunnel.tunnel();
  }

  void closed(ClientConnection connection) {
    open.remove(connection);
  }

  void bug(Throwable cause) {
    bugs.accept(cause);
  }

  boolean isDraining() {
    return draining;
  }

  /** Open connections of clients. */
  public int connections() {
    return connections.open();
  }

  /** Connections that were closed at once because no place was left for them, since the start. */
  public long refusedConnections() {
    return connections.refused();
  }

  /**
   * When the certificate of a TLS listener expires that expires first; null where there is none.
   */
  public @Nullable Instant certificateExpires() {
    return secured.stream()
        .map(ServerTls::expires)
        .filter(Objects::nonNull)
        .min(Comparator.naturalOrder())
        .orElse(null);
  }

  /** Connections that ended before their TLS handshake had succeeded. */
  public long handshakeFailures() {
    return secured.stream().mapToLong(ServerTls::handshakeFailures).sum();
  }

  /** TLS files that changed and were of no use. */
  public long reloadFailures() {
    return secured.stream().mapToLong(ServerTls::reloadFailures).sum();
  }

  /** From now on every response closes its connection, and connections at rest close at once. */
  public void drain() {
    draining = true;
    onLoops(ClientConnection::drain);
  }

  /** Closes all connections. */
  public void close() {
    secured.forEach(ServerTls::close);
    onLoops(ClientConnection::close);
  }

  private void beat() {
    long now = System.nanoTime();
    onLoops(connection -> connection.beat(now));
  }

  /** One connection's bug must not keep the others from theirs. */
  private void run(Consumer<ClientConnection> task, ClientConnection connection) {
    try {
      task.accept(connection);
    } catch (RuntimeException e) {
      bug(e);
      connection.close();
    }
  }

  /** Runs the task for each connection, with one hop for each event loop. */
  private void onLoops(Consumer<ClientConnection> task) {
    for (EventLoop loop : Set.copyOf(open.values())) {
      loop.execute(
          () -> {
            for (Map.Entry<ClientConnection, EventLoop> entry : List.copyOf(open.entrySet())) {
              if (entry.getValue() == loop) {
                run(task, entry.getKey());
              }
            }
          });
    }
  }
}
