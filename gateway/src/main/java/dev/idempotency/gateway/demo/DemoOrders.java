package dev.idempotency.gateway.demo;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.stream.ChunkedWriteHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A running demo upstream: a service that takes orders and keeps a ledger of what really happened.
 *
 * <ul>
 *   <li>{@code POST /orders} with a body creates an order: 201 with {@code Location} and JSON of
 *       {@code id}, {@code created_at}, {@code execution} (the how manieth order of its key),
 *       {@code received}. It misbehaves if asked to, by query or by the header {@code
 *       Demo-Behaviour}: {@code delay=2s}, {@code fail=before|after}, {@code drop=before|after},
 *       {@code status=422}, {@code size=1MiB}, {@code outcome=completed|released}
 *   <li>{@code GET /orders}, {@code GET /orders/{id}} read the latest back
 *   <li>{@code GET /orders/by-key/{key}}, where orders are in a database, answers what became of a
 *       key: 200 with the answer that its order was given, 404 where it never happened, and then
 *       never will for the attempt that {@code Idempotency-Attempt} names
 *   <li>{@code GET /ledger} gives {@code effects}, {@code attempts}, {@code keys} with both counts
 *       for each, {@code keyless} and {@code untracked} (beyond the options' bound) in sum; {@code
 *       GET /ledger?key=K} one key; {@code DELETE /ledger} starts anew
 * </ul>
 *
 * <p>Threading: the methods may be called from any thread and never block.
 */
public final class DemoOrders implements AutoCloseable {

  private static final int THREADS = 2;
  private static final int LARGEST_REQUEST = 16 << 20;

  private final Channel server;
  private final Ledger ledger;
  private final EventLoopGroup group;
  private final CompletableFuture<Void> closed;

  private DemoOrders(
      Channel server, Ledger ledger, EventLoopGroup group, CompletableFuture<Void> closed) {
    this.server = server;
    this.ledger = ledger;
    this.group = group;
    this.closed = closed;
  }

  /**
   * Starts it. Its threads are daemons.
   *
   * @param address where to listen; port 0 takes a free one
   * @return fails with {@link java.sql.SQLException} if the database of the orders can't be used,
   *     with {@link IOException} (a {@link java.net.BindException} for one) if the ledger file
   *     cannot be opened or the address cannot be had
   */
  public static CompletionStage<DemoOrders> start(InetSocketAddress address, DemoOptions options) {
    Ledger ledger;
    try {
      Path file = options.ledgerFile();
      ledger = new Ledger(options.trackedKeys(), file == null ? null : LedgerFile.open(file));
    } catch (IOException e) {
      return CompletableFuture.failedStage(e);
    }
    OrderBook orders = new OrderBook(ledger, options.keptOrders());
    URI database = options.orders();
    return database == null
        ? bind(address, ledger, orders, null)
        : OrderTable.open(database).thenCompose(table -> bind(address, ledger, orders, table));
  }

  private static CompletionStage<DemoOrders> bind(
      InetSocketAddress address, Ledger ledger, OrderBook orders, @Nullable OrderTable table) {
    EventLoopGroup group =
        new MultiThreadIoEventLoopGroup(
            THREADS, new DefaultThreadFactory("demo-orders", true), NioIoHandler.newFactory());
    CompletableFuture<Void> closed = closedWith(group, ledger, table);
    CompletableFuture<DemoOrders> started = new CompletableFuture<>();
    new ServerBootstrap()
        .group(group)
        .channel(NioServerSocketChannel.class)
        .option(ChannelOption.SO_REUSEADDR, true)
        .option(ChannelOption.SO_BACKLOG, 1024)
        .childOption(ChannelOption.TCP_NODELAY, true)
        .childHandler(pipeline(ledger, orders, table))
        .bind(address)
        .addListener(
            bound -> {
              Channel server = ((ChannelFuture) bound).channel();
              if (bound.isSuccess()) {
                started.complete(new DemoOrders(server, ledger, group, closed));
              } else {
                shutDown(group);
                started.completeExceptionally(bound.cause());
              }
            });
    return started;
  }

  private static ChannelInitializer<SocketChannel> pipeline(
      Ledger ledger, OrderBook orders, @Nullable OrderTable table) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(SocketChannel channel) {
        channel
            .pipeline()
            .addLast(
                new HttpServerCodec(),
                new HttpServerKeepAliveHandler(),
                new HttpObjectAggregator(LARGEST_REQUEST),
                new ChunkedWriteHandler(),
                new OrderHandler(ledger, orders, table));
      }
    };
  }

  private static CompletableFuture<Void> closedWith(
      EventLoopGroup group, Ledger ledger, @Nullable OrderTable table) {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    group
        .terminationFuture()
        .addListener(
            terminated -> {
              if (table != null) {
                table.close();
              }
              try {
                ledger.close();
                closed.complete(null);
              } catch (IOException e) {
                closed.completeExceptionally(e);
              }
            });
    return closed;
  }

  // Its end is told by the group's termination future.
  @SuppressWarnings("FutureReturnValueIgnored")
  private static void shutDown(EventLoopGroup group) {
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  /** The port it listens on. */
  public int port() {
    return ((InetSocketAddress) server.localAddress()).getPort();
  }

  /** How many orders were created. */
  public long effects() {
    return ledger.effects();
  }

  /**
   * How many orders were created under a key.
   *
   * @param key the key without quotes
   */
  public long effects(String key) {
    return ledger.of(key).effects();
  }

  /** How many requests for an order came, whatever became of them. */
  public long attempts() {
    return ledger.attempts();
  }

  /**
   * How many requests for an order came under a key.
   *
   * @param key the key without quotes
   */
  public long attempts(String key) {
    return ledger.of(key).attempts();
  }

  /** Begins to stop: no new connections, open ones are closed, delayed work is dropped. */
  @Override
  public void close() {
    shutDown(group);
  }

  /** Completes when everything is closed after {@link #close}. */
  public CompletionStage<Void> closed() {
    return closed.minimalCompletionStage();
  }
}
