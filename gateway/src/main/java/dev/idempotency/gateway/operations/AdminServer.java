package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.transport.Transport;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The listener for those who run the gateway, on a port of its own that is never public: {@code
 * /metrics}, {@code /healthz}, {@code /readyz}, {@code /operations}, and a list of them at {@code
 * /}.
 *
 * <p>Threading: safe from any thread; nothing blocks. Scrapes run on one thread of their own, which
 * ends when it has nothing to do.
 */
public final class AdminServer {

  private static final int MOST_CONNECTIONS = 100;

  /** Bytes; an operator may give a response of a little less. */
  private static final int LARGEST_REQUEST = 256 * 1024;

  private static final int IDLE_SECONDS = 60;

  private final Transport transport;
  private final EventLoopGroup group;
  private final Endpoints endpoints;
  private final ThreadPoolExecutor slow;
  private final Set<Channel> channels = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * @param group serves the connections too; shutting it down is its owner's business
   * @param operations is asked on loops of that group
   */
  public AdminServer(
      Transport transport,
      EventLoopGroup group,
      GatewayMetrics metrics,
      Readiness readiness,
      OperationsApi operations) {
    this.transport = transport;
    this.group = group;
    this.endpoints = new Endpoints(metrics, readiness, operations);
    this.slow =
        new ThreadPoolExecutor(
            1,
            1,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MOST_CONNECTIONS),
            new DefaultThreadFactory("admin-scrape", true));
    slow.allowCoreThreadTimeOut(true);
  }

  /** Starts to listen; the future's channel is the listener. */
  public ChannelFuture bind(InetSocketAddress address) {
    ChannelFuture bound =
        new ServerBootstrap()
            .group(group, group)
            .channel(transport.serverChannel())
            .option(ChannelOption.SO_BACKLOG, 128)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            // Each request is asked for, see AdminHandler.
            .childOption(ChannelOption.AUTO_READ, false)
            .childHandler(new Initializer())
            .bind(address);
    keep(bound.channel());
    return bound;
  }

  private final class Initializer extends ChannelInitializer<Channel> {
    @Override
    protected void initChannel(Channel channel) {
      // The listener itself is one of them.
      if (channels.size() > MOST_CONNECTIONS || !keep(channel)) {
        Transport.close(channel);
        return;
      }
      channel
          .pipeline()
          .addLast(
              new IdleStateHandler(0, 0, IDLE_SECONDS),
              new HttpServerCodec(),
              new HttpServerKeepAliveHandler(),
              new HttpObjectAggregator(LARGEST_REQUEST, true),
              new WholeRequests(),
              new AdminHandler(endpoints, slow));
    }
  }

  private boolean keep(Channel channel) {
    channels.add(channel);
    channel.closeFuture().addListener(gone -> channels.remove(channel));
    if (closed) {
      Transport.close(channel);
    }
    return !closed;
  }

  /** Stops to listen and closes all connections. */
  public void close() {
    closed = true;
    channels.forEach(Transport::close);
    slow.shutdown();
  }
}
