package dev.idempotency.gateway.upstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.exchange.UpstreamConnection;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Gate;
import dev.idempotency.gateway.testing.Seeds;
import dev.idempotency.gateway.transport.Transport;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.resolver.DefaultAddressResolverGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The pool: bounded, fair, and without connections that are dead or dirty. */
@ParameterizedClass
@MethodSource("dev.idempotency.gateway.testing.Transports#all")
class HttpUpstreamTest {

  private final Transport transport;
  private final EventLoopGroup group;
  private final EventLoop loop;
  private final ScriptedUpstream server = ScriptedUpstream.ok();

  HttpUpstreamTest(Transport transport) {
    this.transport = transport;
    this.group = transport.group(1, "pool-test");
    this.loop = group.next();
  }

  @AfterEach
  void stop() {
    server.close();
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  private HttpUpstream pool(int connections, int waiting, Duration acquireTimeout) {
    Duration second = Duration.ofSeconds(1);
    UpstreamOptions options =
        new UpstreamOptions(
            "app",
            List.of(new UpstreamOptions.Address("127.0.0.1", server.port())),
            null,
            false,
            second,
            Duration.ofSeconds(10),
            second,
            Duration.ofSeconds(4),
            Duration.ZERO,
            second,
            connections,
            waiting,
            acquireTimeout,
            new Ejection(0, second),
            null);
    return new HttpUpstream(options, loop, transport, DefaultAddressResolverGroup.INSTANCE);
  }

  private HttpUpstream pool(int connections, int waiting) {
    return pool(connections, waiting, Duration.ofSeconds(10));
  }

  private <T> T onLoop(Callable<T> task) {
    return loop.submit(task).awaitUninterruptibly().getNow();
  }

  private PoolRig.Call call(HttpUpstream pool) {
    return call(pool, connection -> {});
  }

  private PoolRig.Call call(HttpUpstream pool, Consumer<UpstreamConnection> begun) {
    return onLoop(
        () -> {
          PoolRig.Call call = new PoolRig.Call(pool);
          call.begun = begun;
          return call.start();
        });
  }

  /** Whatever the server does meanwhile waits unseen in the socket when the next call comes. */
  private String callAfter(HttpUpstream pool, Callable<Boolean> meanwhile) throws Exception {
    CountDownLatch blocked = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(1);
    CompletableFuture<PoolRig.Call> next = new CompletableFuture<>();
    loop.execute(
        () -> {
          blocked.countDown();
          try {
            done.await(10, TimeUnit.SECONDS);
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          next.complete(new PoolRig.Call(pool).start());
        });
    blocked.await();
    assertThat(meanwhile.call()).isTrue();
    done.countDown();
    return next.join().result();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "close",
        "reset",
        "HTTP/1.1 402 Payment",
        "HTTP/1.1 402 X\r\nContent-Length: 0\r\n\r\n"
      })
  void whatWaitsInTheReceiveBufferIsSeenWhenAConnectionIsTakenOut(String what) throws Exception {
    HttpUpstream pool = pool(4, 0);
    Gate gate = new Gate();
    CountDownLatch done = new CountDownLatch(1);
    server.script(
        (request, wire) -> {
          wire.respond(200, "one");
          gate.pass();
          switch (what) {
            case "close" -> wire.close();
            case "reset" -> wire.reset();
            default -> wire.send(what);
          }
          done.countDown();
        });
    assertThat(call(pool).result()).isEqualTo("200 one");
    server.script((request, wire) -> wire.respond(200, "two"));
    String second =
        callAfter(
            pool,
            () -> {
              gate.open();
              return done.await(10, TimeUnit.SECONDS);
            });
    assertThat(second).isEqualTo("200 two");
    assertThat(server.connections()).isEqualTo(2);
    await().until(() -> onLoop(pool::connections) == 1);
  }

  @Test
  void connectionsAndWaitingRequestsAreBoundedAndServedInOrder() {
    HttpUpstream pool = pool(2, 3);
    Gate gate = new Gate();
    server.script(
        (request, wire) -> {
          gate.pass();
          wire.respond(200, "ok");
        });
    List<String> order = new ArrayList<>();
    List<PoolRig.Call> calls = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      int own = i;
      calls.add(call(pool, connection -> order.add("" + own)));
    }
    assertThat(call(pool).result()).isEqualTo("QUEUE_FULL");
    await().until(() -> server.requests() == 2);
    assertThat(onLoop(pool::connections)).isEqualTo(2);
    assertThat(onLoop(pool::waitingRequests)).isEqualTo(3);
    gate.open();
    for (PoolRig.Call call : calls) {
      assertThat(call.result()).isEqualTo("200 ok");
    }
    assertThat(onLoop(() -> List.copyOf(order).subList(2, 5))).containsExactly("2", "3", "4");
    assertThat(server.connections()).isEqualTo(2);
    assertThat(onLoop(pool::idleConnections)).isEqualTo(2);
  }

  @Test
  void connectionThatDiesMakesRoomForThoseWhoWait() {
    HttpUpstream pool = pool(1, 10);
    AtomicInteger count = new AtomicInteger();
    server.script(
        (request, wire) -> {
          if (count.incrementAndGet() % 2 == 1) {
            wire.reset();
          } else {
            wire.respond(200, "ok");
          }
        });
    List<PoolRig.Call> calls = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      calls.add(call(pool));
    }
    List<String> results = calls.stream().map(PoolRig.Call::result).toList();
    assertThat(results).containsOnly("CLOSED", "200 ok");
    assertThat(results.stream().filter("200 ok"::equals)).hasSize(5);
  }

  @Test
  void whoWaitsTooLongIsRefusedAndTheOthersAreServed() {
    HttpUpstream pool = pool(1, 10, Duration.ofMillis(200));
    Gate gate = new Gate();
    server.script(
        (request, wire) -> {
          gate.pass();
          wire.respond(200, "ok");
        });
    PoolRig.Call first = call(pool);
    assertThat(call(pool).result()).isEqualTo("QUEUE_TIMEOUT");
    PoolRig.Call third = call(pool);
    gate.open();
    assertThat(first.result()).isEqualTo("200 ok");
    assertThat(third.result()).isIn("200 ok", "QUEUE_TIMEOUT");
    assertThat(onLoop(pool::waitingRequests)).isZero();
  }

  @Test
  void refusedConnectsRefuseAllWhoWait() {
    server.refuse();
    HttpUpstream pool = pool(1, 50);
    List<PoolRig.Call> calls = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      calls.add(call(pool));
    }
    assertThat(calls.stream().map(PoolRig.Call::result)).containsOnly("UNREACHABLE");
    assertThat(onLoop(pool::connections)).isZero();
  }

  @Test
  void closedPoolClosesWhatRestsRefusesWhatWaitsAndLetsTheRestEnd() {
    HttpUpstream pool = pool(2, 10);
    Gate gate = new Gate();
    server.script((request, wire) -> wire.respond(200, "ok"));
    PoolRig.Call quick = call(pool);
    assertThat(quick.result()).isEqualTo("200 ok");
    server.script(
        (request, wire) -> {
          gate.pass();
          wire.respond(200, "ok");
        });
    PoolRig.Call one = call(pool);
    PoolRig.Call two = call(pool);
    PoolRig.Call waits = call(pool);
    await().until(() -> server.requests() == 3);
    onLoop(
        () -> {
          pool.close();
          return null;
        });
    assertThat(waits.result()).isEqualTo("CLOSED");
    assertThat(call(pool).result()).isEqualTo("CLOSED");
    gate.open();
    assertThat(one.result()).isEqualTo("200 ok");
    assertThat(two.result()).isEqualTo("200 ok");
    await().until(() -> server.openConnections() == 0);
    assertThat(onLoop(pool::connections)).isZero();
  }

  /** Gives up as soon as it was sent. */
  private PoolRig.Call cancelledCall(HttpUpstream pool) {
    PoolRig.Call call = new PoolRig.Call(pool);
    call.begun =
        connection ->
            loop.execute(
                () -> {
                  if (!call.ended.isDone()) {
                    connection.cancel();
                    call.ended.complete("cancelled");
                  }
                });
    return call.start();
  }

  @Test
  void nobodyIsForgottenWhateverHappens() {
    long seed = 20_260_401L;
    Random random = new Random(seed);
    AtomicInteger number = new AtomicInteger();
    HttpUpstream pool = pool(5, 1_000);
    server.script(
        (request, wire) -> {
          switch (Seeds.random(seed + number.incrementAndGet()).nextInt(10)) {
            case 0 -> wire.reset();
            case 1 -> wire.respond(200, "ok").close();
            case 2 -> wire.respond(200, "ok", "Connection: close").close();
            case 3 -> wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 5");
            case 4 -> wire.close();
            default -> wire.respond(200, "ok");
          }
        });
    List<PoolRig.Call> calls = new ArrayList<>();
    for (int i = 0; i < 1_500; i++) {
      boolean cancelled = random.nextInt(20) == 0;
      PoolRig.Call call = cancelled ? onLoop(() -> cancelledCall(pool)) : call(pool);
      calls.add(call);
      if (random.nextInt(10) == 0) {
        call.result();
      }
    }
    for (PoolRig.Call call : calls) {
      assertThat(call.result())
          .as("seed %d", seed)
          .isIn("200 ok", "CLOSED", "cancelled", "QUEUE_FULL");
    }
    assertThat(onLoop(pool::waitingRequests)).isZero();
    assertThat(onLoop(() -> pool.connections() <= 5)).isTrue();
    await().until(() -> onLoop(() -> pool.connections() == pool.idleConnections()));
    onLoop(
        () -> {
          pool.close();
          return null;
        });
    await().until(() -> server.openConnections() == 0);
  }
}
