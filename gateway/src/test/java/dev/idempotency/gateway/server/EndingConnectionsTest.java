package dev.idempotency.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.BodyBudget;
import dev.idempotency.gateway.exchange.ExchangeListener;
import dev.idempotency.gateway.exchange.Exchanges;
import dev.idempotency.gateway.exchange.Scheduler;
import dev.idempotency.gateway.exchange.WaitingPlaces;
import dev.idempotency.gateway.http.AddressRanges;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.PathRule;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.store.memory.MemoryIdempotencyStore;
import dev.idempotency.gateway.transport.Transport;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How connections end whose client takes its answers slowly, or that the server ends. */
class EndingConnectionsTest {

  private static final String GET = "GET /a HTTP/1.1\r\nHost: gw.test\r\n\r\n";

  private final Wire channel = new Wire();
  private final List<Throwable> bugs = new ArrayList<>();
  private final HttpServer server =
      new HttpServer(Transport.NIO, channel.eventLoop(), options(), any -> exchanges(), bugs::add);

  /** A connection whose peer may take nothing for a while. */
  private static final class Wire extends EmbeddedChannel implements DuplexChannel {
    private final List<Runnable> held = new ArrayList<>();
    private boolean holds;
    private boolean outputShut;

    /** Keeps back what is written from now on. */
    void hold() {
      holds = true;
      pipeline()
          .addFirst(
              new ChannelOutboundHandlerAdapter() {
                @Override
                public void write(ChannelHandlerContext ctx, Object message, ChannelPromise done) {
                  if (holds) {
                    held.add(
                        () -> {
                          ChannelFuture unused = ctx.writeAndFlush(message, done);
                        });
                  } else {
                    ChannelFuture unused = ctx.write(message, done);
                  }
                }
              });
    }

    void release() {
      holds = false;
      held.forEach(Runnable::run);
    }

    void send(String text) {
      writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1));
    }

    void endInput() {
      pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
      runPendingTasks();
    }

    @Override
    public boolean isInputShutdown() {
      return false;
    }

    @Override
    public ChannelFuture shutdownInput() {
      throw new UnsupportedOperationException();
    }

    @Override
    public ChannelFuture shutdownInput(ChannelPromise promise) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean isOutputShutdown() {
      return outputShut;
    }

    @Override
    public ChannelFuture shutdownOutput() {
      outputShut = true;
      return newSucceededFuture();
    }

    @Override
    public ChannelFuture shutdownOutput(ChannelPromise promise) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean isShutdown() {
      return false;
    }

    @Override
    public ChannelFuture shutdown() {
      throw new UnsupportedOperationException();
    }

    @Override
    public ChannelFuture shutdown(ChannelPromise promise) {
      throw new UnsupportedOperationException();
    }
  }

  private static ServerOptions options() {
    Duration minute = Duration.ofMinutes(1);
    return new ServerOptions(
        16 << 10,
        100,
        8 << 10,
        1000,
        0,
        minute,
        minute,
        minute,
        0,
        minute,
        PathRule.STRICT,
        Set.of(),
        AddressRanges.NONE,
        new Http2Options(100, 64 << 10, 200));
  }

  /** Without a route: everything is answered 404. */
  private static Exchanges exchanges() {
    Scheduler none =
        new Scheduler() {
          @Override
          public long currentTimeMillis() {
            return System.currentTimeMillis();
          }

          @Override
          public void schedule(Runnable task, Duration delay) {}

          @Override
          public long nanoTime() {
            return 0;
          }
        };
    return new Exchanges(
        List.of(),
        request -> Response.of(200, Headers.of(), Response.NO_BODY),
        MemoryIdempotencyStore.create(),
        none,
        new BodyBudget(1 << 20),
        new BodyBudget(1 << 20),
        new WaitingPlaces(1_000),
        AddressRanges.NONE,
        new ExchangeListener() {});
  }

  private void install() {
    new Protocols(server, options(), any -> exchanges())
        .installHttp1(channel, new Caller("192.0.2.1", "http", false, null));
  }

  @AfterEach
  void stop() {
    channel.finishAndReleaseAll();
  }

  @Test
  void refusalIsOutBeforeTheHalfCloseOfItsClientEndsTheConnection() {
    install();
    channel.hold();
    channel.send("GARBAGE\r\n\r\n");
    channel.endInput();
    assertThat(channel.isOpen()).as("the refusal still waits").isTrue();
    channel.release();
    assertThat(channel.isOpen()).isFalse();
    assertThat(channel.outboundMessages()).isNotEmpty();
  }

  @Test
  void answersAreOutBeforeARequestThatIsCutOffEndsTheConnection() {
    install();
    channel.hold();
    channel.send(GET);
    channel.send("POST /a HTTP/1.1\r\nHost: gw.test\r\nExpect: 100-continue\r\n");
    channel.send("Content-Length: 5\r\n\r\n");
    channel.endInput();
    assertThat(channel.isOpen()).as("the answers still wait").isTrue();
    channel.release();
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void lastAnswerOfADrainIsNotResetByTheClientsNextRequest() {
    install();
    channel.send(GET.substring(0, 10));
    server.drain();
    channel.runPendingTasks();
    channel.send(GET.substring(10));
    assertThat(channel.isOutputShutdown()).isTrue();
    channel.send(GET);
    assertThat(channel.isOpen()).as("what was under way is read away").isTrue();
    channel.endInput();
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void connectionThatCameDuringTheDrainIsClosedAtTheNextBeat() {
    server.drain();
    install();
    channel.pipeline().get(Http1Handler.class).beat(System.nanoTime());
    channel.runPendingTasks();
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void bugOfOneConnectionKeepsNoOtherFromItsBeat() {
    List<String> drained = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      boolean bad = i % 2 == 0;
      server.opened(
          new ClientConnection() {
            @Override
            public void beat(long now) {}

            @Override
            public void drain() {
              if (bad) {
                throw new IllegalStateException("bug");
              }
              drained.add("drained");
            }

            @Override
            public void close() {
              drained.add("closed");
            }
          },
          channel);
    }
    server.drain();
    channel.runPendingTasks();
    assertThat(drained).hasSize(20).contains("drained", "closed");
    assertThat(bugs).hasSize(10);
  }
}
