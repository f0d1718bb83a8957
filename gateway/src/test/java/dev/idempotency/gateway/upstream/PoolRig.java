package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.exchange.ResponseReceiver;
import dev.idempotency.gateway.exchange.Upstream;
import dev.idempotency.gateway.exchange.UpstreamConnection;
import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.testing.ScriptedHttp2Server;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.transport.Transport;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.DefaultAddressResolverGroup;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** An upstream on one event loop, with a clock that is moved by hand, and calls to it. */
final class PoolRig implements AutoCloseable {

  final Transport transport = Transport.best();
  final EventLoopGroup group = transport.group(1, "pool-test");
  final EventLoop loop = group.next();
  final AtomicLong clock = new AtomicLong(-5);
  final List<String> heard = new CopyOnWriteArrayList<>();

  // What the options say unless a test says otherwise.
  List<UpstreamOptions.Address> addresses = List.of();
  boolean http2 = false;
  Duration connectTimeout = Duration.ofSeconds(5);
  Duration responseTimeout = Duration.ofSeconds(10);
  Duration idleTimeout = Duration.ofHours(1);
  Duration life = Duration.ZERO;
  Duration resolveInterval = Duration.ofMillis(20);
  int connections = 10;
  int waiting = 10;
  Duration acquireTimeout = Duration.ofSeconds(10);
  Ejection ejection = new Ejection(0, Duration.ofSeconds(10));
  HealthCheck health = null;
  AddressResolverGroup<InetSocketAddress> resolver = DefaultAddressResolverGroup.INSTANCE;

  static List<UpstreamOptions.Address> at(ScriptedUpstream... servers) {
    List<UpstreamOptions.Address> all = new ArrayList<>();
    for (ScriptedUpstream server : servers) {
      all.add(new UpstreamOptions.Address("127.0.0.1", server.port()));
    }
    return all;
  }

  static List<UpstreamOptions.Address> at(ScriptedHttp2Server... servers) {
    List<UpstreamOptions.Address> all = new ArrayList<>();
    for (ScriptedHttp2Server server : servers) {
      all.add(new UpstreamOptions.Address("127.0.0.1", server.port()));
    }
    return all;
  }

  HttpUpstream start() {
    return start(new HealthBoard());
  }

  HttpUpstream start(HealthBoard board) {
    UpstreamOptions options =
        new UpstreamOptions(
            "app",
            addresses,
            null,
            http2,
            connectTimeout,
            responseTimeout,
            Duration.ofHours(1),
            idleTimeout,
            life,
            resolveInterval,
            connections,
            waiting,
            acquireTimeout,
            ejection,
            health);
    return new HttpUpstream(
        options, null, loop, transport, resolver, board, listener(), clock::get);
  }

  private UpstreamListener listener() {
    return new UpstreamListener() {
      @Override
      public void ejected(String upstream, InetSocketAddress address, Duration time) {
        heard.add("ejected " + address.getPort() + " for " + time.toSeconds());
      }

      @Override
      public void returned(String upstream, InetSocketAddress address) {
        heard.add("returned " + address.getPort());
      }

      @Override
      public void health(String upstream, InetSocketAddress address, boolean good) {
        heard.add((good ? "well " : "ill ") + address.getPort());
      }

      @Override
      public void lookUpFailed(String upstream, String host, String why) {
        heard.add(host + ": " + why);
      }
    };
  }

  void pass(Duration time) {
    clock.addAndGet(time.toNanos());
  }

  <T> T onLoop(Callable<T> task) {
    return loop.submit(task).awaitUninterruptibly().getNow();
  }

  Call call(HttpUpstream upstream) {
    return onLoop(() -> new Call(upstream).start());
  }

  String get(HttpUpstream upstream) {
    return call(upstream).result();
  }

  void close(HttpUpstream upstream) {
    onLoop(
        () -> {
          upstream.close();
          return null;
        });
  }

  @Override
  public void close() {
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  /** One request; its future ends with the body, or with the name of a refusal or failure. */
  static final class Call implements Upstream.Acquirer, ResponseReceiver {
    final CompletableFuture<String> ended = new CompletableFuture<>();
    Consumer<UpstreamConnection> begun = connection -> {};
    private final HttpUpstream upstream;
    private final StringBuilder body = new StringBuilder();
    private UpstreamConnection connection;

    Call(HttpUpstream upstream) {
      this.upstream = upstream;
    }

    Call start() {
      upstream.acquire(this);
      return this;
    }

    /** Event loop only. */
    void cancel() {
      connection.cancel();
    }

    @Override
    public void acquired(UpstreamConnection own) {
      connection = own;
      RequestHead head = RequestHead.of("GET", "/", Headers.of("Host", "gw.test"));
      if (own.send(head, new byte[0], this)) {
        begun.accept(own);
      } else {
        upstream.acquire(this);
      }
    }

    @Override
    public void refused(Upstream.Refusal refusal) {
      ended.complete(refusal.name());
    }

    @Override
    public void informational(ResponseHead head) {}

    @Override
    public void head(ResponseHead head, long length) {
      body.append(head.status()).append(' ');
    }

    @Override
    public void chunk(Chunk chunk) {
      byte[] bytes = new byte[chunk.length()];
      chunk.copyTo(bytes, 0);
      chunk.release();
      body.append(new String(bytes, StandardCharsets.ISO_8859_1));
    }

    @Override
    public void end(Headers trailers) {
      ended.complete(body.toString());
    }

    @Override
    public void flush() {}

    @Override
    public void writable() {}

    @Override
    public void overdue() {
      ended.complete("overdue");
    }

    @Override
    public void failed(Failure failure) {
      ended.complete(failure.name());
    }

    String result() {
      return ended.orTimeout(15, TimeUnit.SECONDS).join();
    }
  }
}
