package dev.idempotency.gateway.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** What groups of servers have in common. */
final class RedisServers {

  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(40);

  private RedisServers() {}

  /** Starts all of them at once. */
  static List<RedisServer> startAll(List<Supplier<RedisServer>> starts) {
    List<CompletableFuture<RedisServer>> starting = new ArrayList<>();
    for (Supplier<RedisServer> start : starts) {
      starting.add(CompletableFuture.supplyAsync(start));
    }
    return new ArrayList<>(starting.stream().map(CompletableFuture::join).toList());
  }

  /** Waits until that holds; a server that does not answer makes it not hold. */
  static void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (!holds(condition)) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("waited in vain until " + what);
      }
      RedisProcess.nap();
    }
  }

  private static boolean holds(BooleanSupplier condition) {
    try {
      return condition.getAsBoolean();
    } catch (IllegalStateException e) {
      return false;
    }
  }

  /** The value of that field in a reply that lists names and values line by line, or "". */
  static String field(String reply, String name) {
    List<String> lines = reply.lines().toList();
    int at = lines.indexOf(name);
    return at < 0 || at + 1 >= lines.size() ? "" : lines.get(at + 1);
  }

  /** Calls that must not fail. */
  static String require(RedisServer server, String... command) {
    String reply = server.call(command);
    if (reply != null && reply.startsWith("-")) {
      throw new IllegalStateException(String.join(" ", command) + ": " + reply);
    }
    return reply;
  }
}
