package dev.idempotency.gateway.store.postgres;

import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * One command on its way: waits for its lane, runs there, is answered on the event loop that it
 * came from. The deadline is the loop's, whatever the thread of the lane is stuck in.
 */
final class Work<R> implements Runnable {

  private enum Phase {
    WAITING,
    RUNNING,
    OVER
  }

  private final Connections connections;
  private final Command<R> command;
  private final EventLoop loop;
  private final long deadlineMillis;
  private final CompletableFuture<R> reply = new CompletableFuture<>();
  private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.WAITING);
  private final ScheduledFuture<?> timer;

  Work(Connections connections, Command<R> command, EventLoop loop, long deadlineMillis) {
    this.connections = connections;
    this.command = command;
    this.loop = loop;
    this.deadlineMillis = deadlineMillis;
    this.timer = loop.schedule(this::expire, deadlineMillis, TimeUnit.MILLISECONDS);
  }

  CompletableFuture<R> reply() {
    return reply;
  }

  /** Runs it on a lane's thread, unless it is too late. */
  @Override
  public void run() {
    if (!phase.compareAndSet(Phase.WAITING, Phase.RUNNING)) {
      return;
    }
    try {
      // Whoever no longer waits is not to find it done later.
      R answer = connections.run(command, () -> phase.get() == Phase.RUNNING);
      finish(() -> reply.complete(answer));
    } catch (StoreUnavailableException e) {
      finish(() -> reply.completeExceptionally(e));
    } catch (RuntimeException e) {
      finish(
          () ->
              reply.completeExceptionally(
                  new StoreUnavailableException("the answer of PostgreSQL makes no sense", e)));
    }
  }

  /** Fails it, as it never got to a lane. */
  void refuse(StoreUnavailableException why) {
    phase.set(Phase.OVER);
    boolean unused = timer.cancel(false);
    reply.completeExceptionally(why);
  }

  private void finish(Runnable completion) {
    if (!phase.compareAndSet(Phase.RUNNING, Phase.OVER)) {
      return;
    }
    try {
      loop.execute(
          () -> {
            boolean unused = timer.cancel(false);
            completion.run();
          });
    } catch (RejectedExecutionException e) {
      // The loop has ended, and nobody waits there any more.
    }
  }

  private void expire() {
    if (phase.compareAndSet(Phase.WAITING, Phase.OVER)) {
      reply.completeExceptionally(
          StoreUnavailableException.notExecuted(
              "no connection to PostgreSQL was free within " + deadlineMillis + " ms"));
    } else if (phase.compareAndSet(Phase.RUNNING, Phase.OVER)) {
      reply.completeExceptionally(
          new StoreUnavailableException(
              "PostgreSQL did not answer within " + deadlineMillis + " ms"));
    }
  }
}
