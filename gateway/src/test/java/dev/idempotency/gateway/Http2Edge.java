package dev.idempotency.gateway;

import dev.idempotency.gateway.config.Command;
import dev.idempotency.gateway.config.Configuration;
import dev.idempotency.gateway.exchange.BodyBudget;
import dev.idempotency.gateway.exchange.ExchangeListener;
import dev.idempotency.gateway.exchange.Exchanges;
import dev.idempotency.gateway.http.AddressRanges;
import dev.idempotency.gateway.http.PathRule;
import dev.idempotency.gateway.operations.Listeners;
import dev.idempotency.gateway.server.Http2Options;
import dev.idempotency.gateway.server.HttpServer;
import dev.idempotency.gateway.server.ListenerOptions;
import dev.idempotency.gateway.server.ServerOptions;
import dev.idempotency.gateway.transport.Transport;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** A listener that speaks HTTP/2 by prior knowledge, in front of one upstream; see EdgeYaml. */
final class Http2Edge implements AutoCloseable {

  private final MultiThreadIoEventLoopGroup group;
  private final EventLoops loops;
  private final HttpServer server;
  private final Channel listener;
  private final List<Throwable> bugs = new CopyOnWriteArrayList<>();

  private Http2Edge(Configuration configuration, ServerOptions options, Transport transport) {
    try {
      group = transport.group(1, "http2-edge");
      BodyBudget budget = new BodyBudget(configuration.limits().bodyBudget());
      ExchangeListener heard = Listeners.of(List.of());
      loops =
          new EventLoops(
              configuration, group, transport, new Stores(configuration.store()), budget, heard);
      server = new HttpServer(transport, group, options, loops::exchanges, bugs::add);
      InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
      listener = server.bind(new ListenerOptions(any, null, true)).awaitUninterruptibly().channel();
    } catch (StartupException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * @param limits such as {@code "http2-streams: 4"} or {@code "body-timeout: 500ms"}
   */
  static Http2Edge start(String upstreamUrl, String... limits) {
    return start(Transport.best(), upstreamUrl, limits);
  }

  static Http2Edge start(Transport transport, String upstreamUrl, String... limits) {
    List<String> known = new ArrayList<>();
    Map<String, Integer> own = new HashMap<>();
    for (String limit : limits) {
      int colon = limit.indexOf(':');
      String name = limit.substring(0, colon);
      if (name.startsWith("http2-") || name.equals("connections-per-address")) {
        own.put(name, Integer.valueOf(limit.substring(colon + 1).trim()));
      } else {
        known.add(limit);
      }
    }
    String yaml = EdgeYaml.of(upstreamUrl).limits(known.toArray(String[]::new)).toString();
    Configuration configuration = read(yaml);
    return new Http2Edge(configuration, options(configuration.limits(), own), transport);
  }

  private static Configuration read(String yaml) {
    try {
      Path file = Files.createTempFile("http2-edge", ".yaml");
      try {
        Files.writeString(file, yaml);
        Command command = Command.parse(List.of("--config", file.toString()), Map.of(), "test");
        return ((Command.Run) command).configuration();
      } finally {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ServerOptions options(Configuration.Limits limits, Map<String, Integer> own) {
    return new ServerOptions(
        limits.headerSize(),
        limits.headerCount(),
        8 * 1024,
        limits.connections(),
        own.getOrDefault("connections-per-address", 0),
        limits.idleTimeout(),
        limits.headTimeout(),
        limits.bodyTimeout(),
        own.getOrDefault("http2-rate", 0),
        PathRule.STRICT,
        Set.of(),
        AddressRanges.NONE,
        new Http2Options(
            own.getOrDefault("http2-streams", 100),
            own.getOrDefault("http2-window", 64 * 1024),
            own.getOrDefault("http2-resets", 200)));
  }

  int port() {
    return ((InetSocketAddress) listener.localAddress()).getPort();
  }

  HttpServer server() {
    return server;
  }

  /** Exceptions that nobody expected. */
  List<Throwable> bugs() {
    return bugs;
  }

  /** Exchanges with a key that are under way. */
  int underWay() {
    int sum = 0;
    for (Map.Entry<EventLoop, Exchanges> own : loops.exchanges().entrySet()) {
      sum += own.getKey().submit(() -> own.getValue().underWay()).awaitUninterruptibly().getNow();
    }
    return sum;
  }

  @Override
  public void close() {
    listener.close().awaitUninterruptibly();
    server.close();
    group.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly();
    if (!bugs.isEmpty()) {
      throw new AssertionError("unexpected: " + bugs, bugs.get(0));
    }
  }
}
