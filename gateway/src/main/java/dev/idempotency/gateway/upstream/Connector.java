package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.transport.Transport;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Promise;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Makes links to addresses: connects, shakes hands, and gives up in time. Sends no request. */
final class Connector {

  /** Hears how it ended, exactly once, on the event loop, possibly before the call returns. */
  interface Outcome {

    void ready(Link link);

    /** There is no link, and no channel is left open. Surely no byte of a request was sent. */
    void failed(Throwable cause);
  }

  private final UpstreamOptions options;
  private final EventLoop loop;
  private final LinkFactory links;
  private final Bootstrap bootstrap;

  Connector(UpstreamOptions options, EventLoop loop, Transport transport, LinkFactory links) {
    this.options = options;
    this.loop = loop;
    this.links = links;
    this.bootstrap =
        new Bootstrap()
            .group(loop)
            .channelFactory(transport::socketChannel)
            .disableResolver()
            // The attempt's own time limit covers the handshakes too.
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.SO_KEEPALIVE, true)
            // A failed write must not throw away the response that was sent before it.
            .option(ChannelOption.AUTO_CLOSE, false);
  }

  /**
   * @param to a resolved address
   * @param named how it was configured
   */
  void connect(
      InetSocketAddress to, UpstreamOptions.Address named, LinkOwner owner, Outcome outcome) {
    new Attempt(outcome).start(to, named, owner);
  }

  private final class Attempt {

    private final Outcome outcome;
    private final Promise<Link> ready = loop.newPromise();
    private @Nullable Channel channel;
    private @Nullable Future<?> limit;
    private boolean ended;

    Attempt(Outcome outcome) {
      this.outcome = outcome;
    }

    void start(InetSocketAddress to, UpstreamOptions.Address named, LinkOwner owner) {
      ChannelFuture connect =
          bootstrap.clone().handler(new Initializer(named, owner, ready)).connect(to);
      channel = connect.channel();
      connect.addListener(
          done -> {
            // Without a file descriptor left there is no channel, and the news comes from
            // elsewhere.
            if (loop.inEventLoop()) {
              connectEnded(connect);
            } else {
              loop.execute(() -> connectEnded(connect));
            }
          });
      if (!ended) {
        long nanos = options.connectTimeout().toNanos();
        limit =
            loop.schedule(() -> fail(new ConnectTimeoutException()), nanos, TimeUnit.NANOSECONDS);
      }
    }

    private void connectEnded(ChannelFuture connect) {
      if (connect.isSuccess()) {
        // Not before: a link over a clear channel is ready as soon as it is made.
        ready.addListener(done -> handshakeEnded());
        if (!ready.isDone()) {
          connect.channel().closeFuture().addListener(closed -> fail(new ClosedChannelException()));
        }
      } else {
        fail(connect.cause());
      }
    }

    private void handshakeEnded() {
      if (!ready.isSuccess()) {
        fail(ready.cause());
      } else if (!ended) {
        end();
        outcome.ready(ready.getNow());
      }
    }

    private void fail(Throwable cause) {
      if (ended) {
        return;
      }
      end();
      if (channel != null && channel.isRegistered()) {
        Transport.close(channel);
      }
      outcome.failed(cause);
    }

    private void end() {
      ended = true;
      if (limit != null) {
        limit.cancel(false);
      }
    }
  }

  private final class Initializer extends ChannelInitializer<Channel> {

    private final UpstreamOptions.Address named;
    private final LinkOwner owner;
    private final Promise<Link> ready;

    Initializer(UpstreamOptions.Address named, LinkOwner owner, Promise<Link> ready) {
      this.named = named;
      this.owner = owner;
      this.ready = ready;
    }

    @Override
    protected void initChannel(Channel channel) {
      links.prepare(channel, named, owner, ready);
    }
  }
}
