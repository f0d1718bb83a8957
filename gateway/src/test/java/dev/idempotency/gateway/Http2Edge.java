package dev.idempotency.gateway;

import dev.idempotency.gateway.config.Command;
import dev.idempotency.gateway.config.Configuration;
import dev.idempotency.gateway.exchange.BodyBudget;
import dev.idempotency.gateway.exchange.ExchangeListener;
import dev.idempotency.gateway.exchange.Exchanges;
import dev.idempotency.gateway.operations.Listeners;
import dev.idempotency.gateway.server.HttpServer;
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
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** A listener that speaks HTTP/2 by prior knowledge, in front of one upstream; see EdgeYaml. */
final class Http2Edge implements AutoCloseable {

  private final MultiThreadIoEventLoopGroup group;
  private final EventLoops loops;
  private final HttpServer server;
  private final Channel listener;
  private final List<Throwable> bugs = new CopyOnWriteArrayList<>();

  private Http2Edge(Configuration configuration, Transport transport) {
    try {
      group = transport.group(1, "http2-edge");
      BodyBudget budget = new BodyBudget(configuration.limits().bodyBudget());
      ExchangeListener heard = Listeners.of(List.of());
      loops =
          new EventLoops(
              configuration,
              group,
              transport,
              new Stores(configuration),
              new OutgoingTls(configuration),
              budget,
              budget,
              RouteCallers.open(configuration, heard),
              System::currentTimeMillis,
              heard);
      server =
          new HttpServer(
              transport, group, EdgeOptions.server(configuration), loops::exchanges, bugs::add);
      InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
      listener =
          server
              .bind(EdgeOptions.listener(configuration.listen().get(0), any))
              .awaitUninterruptibly()
              .channel();
    } catch (Exception e) {
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
    String listen = "listen: { address: 127.0.0.1:0, http2: true }";
    Configuration configuration =
        read(EdgeYaml.of(upstreamUrl).top(listen).limits(limits).toString());
    return new Http2Edge(configuration, transport);
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
