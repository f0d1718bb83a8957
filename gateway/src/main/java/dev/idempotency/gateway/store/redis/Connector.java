package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.StoreHealth;
import dev.idempotency.gateway.idempotency.WriteReply;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulRedisConnection;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps one connection to a server up, for ever: the first attempt after a loss at once, later ones
 * with growing pauses of at most a second. A connection counts once the server has shown that it
 * takes writes.
 *
 * <p>Threading: confined to the event loop, health apart.
 */
final class Connector implements StoreHealth, ScriptCommand.Listener {

  /** Hears of connections, on the event loop. */
  interface Listener {
    /** A connection can be used. */
    void connected(StatefulRedisConnection<byte[], byte[]> connection);

    /** That connection can no longer be used. */
    void disconnected(StatefulRedisConnection<byte[], byte[]> connection);

    /** The attempt on which commands wait has failed or takes too long. */
    void gaveUp(String why);
  }

  private enum Phase {
    /** The first attempt after a loss is under way: commands may wait for it. */
    PROMISING,
    UP,
    DOWN,
    CLOSED
  }

  private static final Logger log = LoggerFactory.getLogger(Connector.class);

  private final EventLoop loop;
  private final Target target;
  private final long deadlineNanos;
  private final long connectNanos;
  private final Listener listener;
  private final @Nullable Epoch epoch;
  private final Backoff backoff = new Backoff();
  private final Tick tick;

  private volatile Phase phase = Phase.PROMISING;
  private volatile String detail = "connecting for the first time";
  private @Nullable StatefulRedisConnection<byte[], byte[]> connection;
  private int attempt;
  private boolean attempting;
  private long attemptAt;

  /**
   * @param epoch asked before a connection counts; null where nobody wants to know
   */
  Connector(EventLoop loop, Target target, Terms terms, @Nullable Epoch epoch, Listener listener) {
    this.epoch = epoch;
    this.loop = loop;
    this.target = target;
    this.deadlineNanos = terms.deadline().toNanos();
    // Somewhat longer than the client's own limit, which covers all but the probe.
    this.connectNanos = terms.connect().toNanos() * 5 / 4;
    this.listener = listener;
    this.tick = new Tick(loop, deadlineNanos / 4, this::onTick);
  }

  @Override
  public boolean reachable() {
    return phase == Phase.UP;
  }

  @Override
  public String detail() {
    return detail;
  }

  /** Whether a connection is likely to be there in a moment. */
  boolean isPromising() {
    return phase == Phase.PROMISING;
  }

  void start() {
    if (phase == Phase.CLOSED) {
      return;
    }
    int number = ++attempt;
    attempting = true;
    attemptAt = System.nanoTime();
    tick.start();
    CompletableFuture<Void> unused =
        target
            .connect()
            .toCompletableFuture()
            .handle(
                (fresh, failure) -> {
                  onLoop(() -> attempted(number, fresh, failure));
                  return null;
                });
  }

  private void onLoop(Runnable work) {
    if (loop.inEventLoop()) {
      work.run();
    } else {
      loop.execute(work);
    }
  }

  private void attempted(
      int number,
      @Nullable StatefulRedisConnection<byte[], byte[]> fresh,
      @Nullable Throwable failure) {
    if (number != attempt || phase == Phase.CLOSED) {
      close(fresh);
    } else if (fresh == null) {
      failed(failure == null ? "no connection" : Refusal.text(failure));
    } else {
      connection = fresh;
      fresh.addListener(new Losses(fresh));
      probe(fresh);
    }
  }

  private void probe(StatefulRedisConnection<byte[], byte[]> fresh) {
    Call<WriteReply> probe =
        new Call<>(
            Script.PROBE,
            new byte[][] {target.probeKey()},
            new byte[0][],
            new long[0],
            Replies::write);
    fresh.dispatch(new ScriptCommand(probe, fresh, true, this));
  }

  @Override
  public void replied(ScriptCommand probe) {
    if (probe.connection != connection || phase == Phase.CLOSED) {
      return;
    }
    String error = probe.error();
    if (error != null && !target.isSignOfLife(error)) {
      close(connection);
      failed(Refusal.text(error));
      return;
    }
    if (epoch == null) {
      up(probe.connection);
    } else if (error != null) {
      epoch.unknown();
      up(probe.connection);
    } else {
      ask(epoch, probe.connection);
    }
  }

  /** No command may be older than the answer. */
  private void ask(Epoch asked, StatefulRedisConnection<byte[], byte[]> fresh) {
    CompletionStage<Void> unused =
        asked
            .ask(fresh, KeyNames.epoch(target.probeKey()))
            .whenComplete(
                (none, failure) -> {
                  if (fresh != connection || !attempting || phase == Phase.CLOSED) {
                    return;
                  }
                  if (failure == null) {
                    up(fresh);
                  } else if (target.isSignOfLife(Refusal.text(failure))) {
                    asked.unknown();
                    up(fresh);
                  } else {
                    close(fresh);
                    failed(Refusal.text(failure));
                  }
                });
  }

  private void up(StatefulRedisConnection<byte[], byte[]> fresh) {
    attempting = false;
    backoff.succeeded();
    become(Phase.UP, "connected");
    listener.connected(fresh);
  }

  @Override
  public void broken(ScriptCommand probe, Throwable cause) {
    if (probe.connection == connection && attempting) {
      close(connection);
      failed("connection lost at once");
    }
  }

  /** An attempt came to nothing. */
  private void failed(String why) {
    connection = null;
    attempting = false;
    attempt++;
    backoff.failed();
    boolean awaited = phase == Phase.PROMISING;
    become(Phase.DOWN, why);
    retry();
    if (awaited) {
      listener.gaveUp(why);
    }
  }

  /** The connection has broken. */
  void lost(StatefulRedisConnection<byte[], byte[]> broken) {
    if (broken == connection && !attempting && phase != Phase.CLOSED) {
      leave(broken, Phase.PROMISING, "connection lost");
    }
  }

  /** The connection is of no use; the next attempt is not expected to be better. */
  void drop(StatefulRedisConnection<byte[], byte[]> useless, String why) {
    if (useless == connection && !attempting && phase != Phase.CLOSED) {
      backoff.failed();
      leave(useless, Phase.DOWN, why);
    }
  }

  /** Another server is to be used from now on; it is likely to be well. */
  void move(String why) {
    if (connection != null && !attempting && phase != Phase.CLOSED) {
      leave(connection, Phase.PROMISING, why);
    }
  }

  private void leave(StatefulRedisConnection<byte[], byte[]> former, Phase next, String why) {
    connection = null;
    become(next, why);
    close(former);
    retry();
    listener.disconnected(former);
  }

  private void retry() {
    // Nobody waits for it; a loop that ends takes it along.
    ScheduledFuture<?> unused =
        loop.schedule(this::start, backoff.nextMillis(), TimeUnit.MILLISECONDS);
  }

  private void become(Phase next, String why) {
    if (phase == Phase.UP && next != Phase.UP && next != Phase.CLOSED) {
      log.warn("{} connection lost: {}", target.name(), why);
    } else if (phase != Phase.UP && next == Phase.UP) {
      log.info("{} connected", target.name());
    } else if (next == Phase.DOWN && !why.equals(detail)) {
      log.warn("{} cannot be reached: {}", target.name(), why);
    }
    detail = why;
    phase = next;
  }

  private boolean onTick(long now) {
    if (attempting && now - attemptAt > connectNanos) {
      close(connection);
      failed("no answer while connecting");
    } else if (attempting && phase == Phase.PROMISING && now - attemptAt > deadlineNanos) {
      become(Phase.DOWN, "connecting takes long");
      listener.gaveUp("connecting takes long");
    }
    return attempting && phase != Phase.CLOSED;
  }

  void close() {
    become(Phase.CLOSED, "closed");
    close(connection);
    connection = null;
  }

  private static void close(@Nullable StatefulRedisConnection<byte[], byte[]> former) {
    if (former != null) {
      CompletableFuture<Void> unused = former.closeAsync();
    }
  }

  /** Hears when a connection is lost while nothing is under way on it. */
  private final class Losses implements RedisConnectionStateListener {
    private final StatefulRedisConnection<byte[], byte[]> watched;

    Losses(StatefulRedisConnection<byte[], byte[]> watched) {
      this.watched = watched;
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
      onLoop(
          () -> {
            if (attempting && watched == connection) {
              failed("connection lost at once");
            } else {
              lost(watched);
            }
          });
    }
  }
}
