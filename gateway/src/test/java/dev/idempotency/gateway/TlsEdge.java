package dev.idempotency.gateway;

import dev.idempotency.gateway.exchange.AnswerRule;
import dev.idempotency.gateway.exchange.BodyBudget;
import dev.idempotency.gateway.exchange.CopyRule;
import dev.idempotency.gateway.exchange.ExchangeListener;
import dev.idempotency.gateway.exchange.Exchanges;
import dev.idempotency.gateway.exchange.KeyRule;
import dev.idempotency.gateway.exchange.PathPattern;
import dev.idempotency.gateway.exchange.Route;
import dev.idempotency.gateway.exchange.ScopePart;
import dev.idempotency.gateway.exchange.WaitingPlaces;
import dev.idempotency.gateway.fingerprint.FingerprintRule;
import dev.idempotency.gateway.fingerprint.RequestFingerprinter;
import dev.idempotency.gateway.http.AddressRanges;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.PathRule;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.idempotency.OutcomePolicy;
import dev.idempotency.gateway.idempotency.UnknownPolicy;
import dev.idempotency.gateway.server.Http2Options;
import dev.idempotency.gateway.server.HttpServer;
import dev.idempotency.gateway.server.ListenerOptions;
import dev.idempotency.gateway.server.ServerOptions;
import dev.idempotency.gateway.server.TlsOptions;
import dev.idempotency.gateway.store.memory.MemoryIdempotencyStore;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.transport.SslContexts;
import dev.idempotency.gateway.transport.TlsFileException;
import dev.idempotency.gateway.transport.Transport;
import dev.idempotency.gateway.upstream.Ejection;
import dev.idempotency.gateway.upstream.HealthBoard;
import dev.idempotency.gateway.upstream.HttpUpstream;
import dev.idempotency.gateway.upstream.UpstreamListener;
import dev.idempotency.gateway.upstream.UpstreamOptions;
import dev.idempotency.gateway.upstream.UpstreamTls;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.resolver.DefaultAddressResolverGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Both edges on one event loop, with TLS on either side or both: {@code /keyed/**} needs a key,
 * everything else is passed through.
 */
final class TlsEdge implements AutoCloseable {

  /** What speaks TLS over what. */
  record Stack(String provider, Transport transport) {
    /** All that there are here. */
    static Stream<Stack> all() {
      return Stream.of(new Stack("boringssl", Transport.best()), new Stack("jdk", Transport.NIO));
    }
  }

  private final EventLoopGroup group;
  private final HttpServer server;
  private final HttpUpstream upstream;
  private final UpstreamTls upstreamTls;
  private final Channel listener;
  private final Set<Throwable> bugs = new java.util.concurrent.CopyOnWriteArraySet<>();

  /** What is wished of an edge. */
  static final class Wishes {
    private final Stack stack;
    private int port;
    private TlsOptions clients;
    private dev.idempotency.gateway.upstream.TlsOptions tls;
    private String host = "127.0.0.1";
    private List<ScopePart> scope = List.of();
    private Duration headTimeout = Duration.ofSeconds(10);
    private Duration connectTimeout = Duration.ofSeconds(5);
    private int connections = 10;
    private boolean http2;
    private boolean websocket;

    Wishes(Stack stack, ScriptedUpstream upstream) {
      this.stack = stack;
      this.port = upstream.port();
    }

    Wishes clients(TlsOptions options) {
      clients = options;
      return this;
    }

    Wishes upstream(dev.idempotency.gateway.upstream.TlsOptions options) {
      tls = options;
      return this;
    }

    Wishes host(String name) {
      host = name;
      return this;
    }

    Wishes port(int other) {
      port = other;
      return this;
    }

    Wishes scope(ScopePart... parts) {
      scope = List.of(parts);
      return this;
    }

    Wishes headTimeout(Duration time) {
      headTimeout = time;
      return this;
    }

    Wishes connectTimeout(Duration time) {
      connectTimeout = time;
      return this;
    }

    Wishes upstreamConnections(int most) {
      connections = most;
      return this;
    }

    Wishes http2() {
      http2 = true;
      return this;
    }

    /** Requests that need no key may become a WebSocket. */
    Wishes websocket() {
      websocket = true;
      return this;
    }

    TlsEdge start() {
      System.setProperty(SslContexts.PROVIDER_PROPERTY, stack.provider());
      try {
        return new TlsEdge(this);
      } catch (TlsFileException e) {
        throw new IllegalStateException(e);
      } finally {
        System.clearProperty(SslContexts.PROVIDER_PROPERTY);
      }
    }
  }

  static Wishes of(Stack stack, ScriptedUpstream upstream) {
    return new Wishes(stack, upstream);
  }

  private TlsEdge(Wishes wishes) throws TlsFileException {
    Transport transport = wishes.stack.transport();
    group = transport.group(1, "tls-edge");
    EventLoop loop = group.next();
    UpstreamOptions options = options(wishes);
    upstreamTls = UpstreamTls.start(options);
    upstream =
        new HttpUpstream(
            options,
            upstreamTls,
            loop,
            transport,
            DefaultAddressResolverGroup.INSTANCE,
            new HealthBoard(),
            UpstreamListener.NONE);
    Exchanges exchanges =
        new Exchanges(
            List.of(
                route(
                    "keyed",
                    "/keyed/**",
                    Set.of("POST"),
                    Route.Keying.REQUIRED,
                    wishes.scope,
                    false),
                route("plain", "/**", Set.of(), Route.Keying.OFF, List.of(), wishes.websocket)),
            request -> Response.of(200, Headers.of(), new byte[0]),
            MemoryIdempotencyStore.create(),
            new LoopScheduler(loop),
            new BodyBudget(64 << 20),
            new BodyBudget(64 << 20),
            new WaitingPlaces(1_000),
            AddressRanges.NONE,
            new ExchangeListener() {
              @Override
              public void bug(Throwable cause) {
                bugs.add(cause);
              }
            });
    server = new HttpServer(transport, group, server(wishes), any -> exchanges, bugs::add);
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    listener =
        server
            .bind(new ListenerOptions(any, wishes.clients, wishes.http2))
            .awaitUninterruptibly()
            .channel();
  }

  private static UpstreamOptions options(Wishes wishes) {
    Duration second = Duration.ofSeconds(1);
    return new UpstreamOptions(
        "app",
        List.of(new UpstreamOptions.Address(wishes.host, wishes.port)),
        wishes.tls,
        false,
        wishes.connectTimeout,
        Duration.ofSeconds(10),
        second,
        Duration.ofSeconds(30),
        Duration.ZERO,
        second,
        wishes.connections,
        10,
        Duration.ofSeconds(10),
        new Ejection(0, second),
        null);
  }

  private static ServerOptions server(Wishes wishes) {
    return new ServerOptions(
        16 << 10,
        100,
        8 << 10,
        1000,
        0,
        Duration.ofSeconds(60),
        wishes.headTimeout,
        Duration.ofSeconds(20),
        0,
        Duration.ofHours(1),
        PathRule.STRICT,
        Set.of(),
        AddressRanges.NONE,
        new Http2Options(100, 64 << 10, 200));
  }

  private Route route(
      String name,
      String path,
      Set<String> methods,
      Route.Keying keying,
      List<ScopePart> scope,
      boolean websocket) {
    return new Route(
        name,
        methods,
        PathPattern.of(path),
        upstream,
        keying,
        false,
        KeyRule.header("Idempotency-Key"),
        Route.Callers.of(scope),
        RequestFingerprinter.create(FingerprintRule.DEFAULT),
        Duration.ofHours(1),
        Duration.ofSeconds(10),
        Route.Waiting.of(Duration.ZERO),
        UnknownPolicy.HOLD,
        Route.Safety.NONE,
        false,
        new OutcomePolicy(Map.of()),
        1 << 20,
        1 << 20,
        false,
        CopyRule.DEFAULT,
        AnswerRule.DEFAULT,
        false,
        websocket);
  }

  int port() {
    return ((InetSocketAddress) listener.localAddress()).getPort();
  }

  HttpServer server() {
    return server;
  }

  /** Exceptions that nobody expected. */
  Set<Throwable> bugs() {
    return bugs;
  }

  int upstreamConnections() {
    return group.next().submit(upstream::connections).awaitUninterruptibly().getNow();
  }

  @Override
  public void close() {
    listener.close().awaitUninterruptibly();
    server.close();
    group.next().submit(upstream::close).awaitUninterruptibly();
    if (upstreamTls != null) {
      upstreamTls.close();
    }
    group.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly();
  }
}
