package dev.idempotency.gateway.store.redis;

import io.netty.channel.EventLoop;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;

/** A way that belongs to an event loop: what comes from other threads is handed over to it. */
abstract class LoopLink implements Link {

  final EventLoop loop;

  LoopLink(EventLoop loop) {
    this.loop = loop;
  }

  /** Sends a command, or fails it; on the event loop. */
  abstract void accept(Call<?> call);

  /** Ends it; on the event loop. */
  abstract void end();

  @Override
  public final <R> CompletionStage<R> send(Call<R> call) {
    if (loop.inEventLoop()) {
      accept(call);
      return call.reply();
    }
    try {
      loop.execute(() -> accept(call));
    } catch (RejectedExecutionException e) {
      call.fail("the event loop has ended");
    }
    return call.reply();
  }

  @Override
  public final CompletionStage<Void> close() {
    try {
      if (loop.inEventLoop()) {
        end();
      } else {
        loop.execute(this::end);
      }
    } catch (RejectedExecutionException e) {
      // The loop has ended and took the connections along.
    }
    return CompletableFuture.completedFuture(null);
  }
}
