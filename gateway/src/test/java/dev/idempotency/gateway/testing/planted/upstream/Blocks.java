package dev.idempotency.gateway.testing.planted.upstream;

import io.lettuce.core.api.StatefulRedisConnection;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/** One method for each way to block; the name says which. */
final class Blocks {

  void join(CompletableFuture<String> future) {
    future.join();
  }

  String get(Future<String> future) throws ExecutionException, InterruptedException {
    return future.get();
  }

  void sync(io.netty.util.concurrent.Future<?> future) throws InterruptedException {
    future.sync();
  }

  void await(CountDownLatch latch) throws InterruptedException {
    latch.await();
  }

  void sleep() throws InterruptedException {
    Thread.sleep(1);
  }

  String take(BlockingQueue<String> queue) throws InterruptedException {
    return queue.take();
  }

  String lettuce(StatefulRedisConnection<String, String> connection) {
    return connection.sync().get("name");
  }

  String reference(CompletableFuture<String> future) {
    java.util.function.Supplier<String> later = future::join;
    return later.get();
  }
}
