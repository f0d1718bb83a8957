package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.transport.Transport;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Promise;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** One event loop, links to a server on this machine, and an owner that counts and keeps time. */
final class LinkBench implements LinkOwner, AutoCloseable {

  static final Duration RESPONSE_TIMEOUT = Duration.ofSeconds(10);
  static final Duration LATE_RESPONSE = Duration.ofSeconds(60);

  final AtomicInteger released = new AtomicInteger();
  final AtomicInteger closed = new AtomicInteger();
  final AtomicInteger failed = new AtomicInteger();
  final AtomicInteger succeeded = new AtomicInteger();
  volatile boolean keepsOverdue = true;
  private final AtomicLong time = new AtomicLong(System.nanoTime());
  private final Transport transport;
  private final UpstreamOptions options;
  private final EventLoopGroup group;
  final EventLoop loop;

  LinkBench(Transport transport, int port) {
    this.transport = transport;
    this.group = transport.group(1, "link-test");
    this.loop = group.next();
    Duration second = Duration.ofSeconds(1);
    this.options =
        new UpstreamOptions(
            "app",
            List.of(new UpstreamOptions.Address("127.0.0.1", port)),
            null,
            true,
            second,
            RESPONSE_TIMEOUT,
            LATE_RESPONSE,
            second,
            Duration.ZERO,
            second,
            4,
            4,
            second,
            new Ejection(0, second),
            null);
  }

  /** A link as soon as it is ready, or why there is none. */
  Promise<Link> connect() {
    Promise<Link> ready = loop.newPromise();
    UpstreamOptions.Address address = options.addresses().get(0);
    new Bootstrap()
        .group(loop)
        .channelFactory(transport::socketChannel)
        .option(ChannelOption.AUTO_CLOSE, false)
        .handler(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                LinkFactory.of(options).prepare(channel, address, LinkBench.this, ready);
              }
            })
        .connect(address.host(), address.port())
        .awaitUninterruptibly();
    return ready;
  }

  Link link() {
    Promise<Link> ready = connect();
    if (!ready.awaitUninterruptibly(10, TimeUnit.SECONDS) || !ready.isSuccess()) {
      throw new IllegalStateException("no link", ready.cause());
    }
    return ready.getNow();
  }

  <T> T onLoop(Callable<T> task) {
    return loop.submit(task).syncUninterruptibly().getNow();
  }

  void run(Runnable task) {
    loop.submit(task).syncUninterruptibly();
  }

  /** Time goes on, and the link's beat comes. */
  void advance(Link link, Duration duration) {
    long now = time.addAndGet(duration.toNanos());
    run(() -> link.beat(now));
  }

  @Override
  public UpstreamOptions options() {
    return options;
  }

  @Override
  public String authority() {
    return "127.0.0.1:" + options.addresses().get(0).port();
  }

  @Override
  public long nanoTime() {
    return time.get();
  }

  @Override
  public boolean mayKeepOverdue() {
    return keepsOverdue;
  }

  @Override
  public void released(Link link) {
    released.incrementAndGet();
  }

  @Override
  public void closed(Link link) {
    closed.incrementAndGet();
  }

  @Override
  public void failed(Link link) {
    failed.incrementAndGet();
  }

  @Override
  public void succeeded(Link link) {
    succeeded.incrementAndGet();
  }

  @Override
  public void close() {
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
  }
}
