package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Gate;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;

/**
 * How long after a settlement those who wait are answered: {@code java … WakeUpBench}, once with
 * many who wait for one operation and once with one each for many. Two gateways share a Redis.
 */
final class WakeUpBench {

  private static final int WAITERS = 1_000;

  private WakeUpBench() {}

  /**
   * Runs the rounds and prints them.
   *
   * @param arguments the rounds; 6 where nothing is said
   */
  public static void main(String[] arguments) throws Exception {
    int rounds = arguments.length == 0 ? 6 : Integer.parseInt(arguments[0]);
    try (RedisServer redis = RedisServer.start()) {
      for (int round = 0; round < rounds; round++) {
        run(redis, "one key", 1, WAITERS, round);
        run(redis, "a key for ten", WAITERS / 10, 10, round);
        run(redis, "a key each", WAITERS, 1, round);
      }
    }
  }

  private static void run(RedisServer redis, String name, int keys, int each, int round)
      throws Exception {
    Gate gate = new Gate();
    try (ScriptedUpstream upstream = ScriptedUpstream.start(gate::passAndAnswer)) {
      String store = OnBothStores.Stores.redis(redis);
      try (TestGateway one = gateway(upstream.url(), store);
          TestGateway other = gateway(upstream.url(), store)) {
        List<RawClient> owners = new ArrayList<>();
        for (int i = 0; i < keys; i++) {
          owners.add(RawClient.connect(one.port()).send(post("/o", "k" + i, "{}")));
        }
        reach("requests at the upstream", keys, upstream::requests);
        Selector selector = Selector.open();
        for (int i = 0; i < keys * each; i++) {
          SocketChannel channel =
              SocketChannel.open(
                  new InetSocketAddress(InetAddress.getLoopbackAddress(), other.port()));
          channel.write(ByteBuffer.wrap(post("/o", "k" + i % keys, "{}")));
          channel.configureBlocking(false);
          channel.register(selector, SelectionKey.OP_READ);
        }
        reach("waiting", keys * each, other.gateway()::waitingDuplicates);
        Thread.sleep(1_000);
        long commands = commands(redis);
        long cpu = cpu();
        long[] came = new long[keys * each];
        AtomicLong settled = new AtomicLong();
        Thread owner =
            new Thread(
                () -> {
                  owners.get(0).read();
                  settled.set(System.nanoTime());
                });
        owner.start();
        gate.open();
        ByteBuffer buffer = ByteBuffer.allocate(8_192);
        int count = 0;
        while (count < came.length) {
          selector.select();
          for (SelectionKey key : selector.selectedKeys()) {
            buffer.clear();
            if (((SocketChannel) key.channel()).read(buffer) > 0) {
              came[count++] = System.nanoTime();
              key.cancel();
            }
          }
          selector.selectedKeys().clear();
        }
        owner.join();
        long first = Math.min(settled.get(), came[0]);
        Arrays.sort(came);
        System.out.printf(
            "%s, round %d: p50 %.2f ms, p99 %.2f ms, last %.2f ms; %d commands, %.0f ms of CPU%n",
            name,
            round,
            (came[came.length / 2] - first) / 1e6,
            (came[came.length * 99 / 100] - first) / 1e6,
            (came[came.length - 1] - first) / 1e6,
            commands(redis) - commands,
            (cpu() - cpu) / 1e6);
        for (SelectionKey key : selector.keys()) {
          key.channel().close();
        }
        selector.close();
        owners.forEach(RawClient::close);
      }
    }
  }

  private static void reach(String what, int expected, IntSupplier actual) throws Exception {
    long end = System.nanoTime() + 20_000_000_000L;
    while (actual.getAsInt() < expected) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException(
            what + ": " + actual.getAsInt() + " (expected: " + expected + ")");
      }
      Thread.sleep(5);
    }
  }

  private static TestGateway gateway(String url, String store) {
    String yaml =
        TestGateway.yaml(
            url, store, "in-flight: wait 60s", "waiting: { longest: 60s, per-key: 1000 }");
    return TestGateway.start(yaml.replace(url + "\"", url + "\", max-connections: 4096"));
  }

  private static long commands(RedisServer redis) {
    return redis
        .call("INFO", "stats")
        .lines()
        .filter(line -> line.startsWith("total_commands_processed:"))
        .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1).strip()))
        .sum();
  }

  private static long cpu() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }
}
