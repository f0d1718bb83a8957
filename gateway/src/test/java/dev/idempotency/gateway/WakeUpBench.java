package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;

import dev.idempotency.gateway.exchange.ExchangeListener;
import dev.idempotency.gateway.exchange.Result;
import dev.idempotency.gateway.exchange.Step;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Gate;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;

/**
 * How long after a settlement those who wait are answered: {@code java … WakeUpBench}, once with
 * many who wait for one operation and once with one each for many. Two gateways share a Redis.
 *
 * <p>Time runs from the moment at which the first operation's owner hears from the store that its
 * record is settled. Two ends are told: when the answer was handed to the client's socket, and when
 * the client, one thread in this process, has read it; that thread takes its share of the cores.
 */
final class WakeUpBench {

  private static final int WAITERS = 1_000;

  private WakeUpBench() {}

  /**
   * Runs the rounds and prints them.
   *
   * @param arguments the rounds, 6 where nothing is said; how many wait for one key, 1, 10 and
   *     1,000 in turn where nothing is said
   */
  public static void main(String[] arguments) throws Exception {
    int rounds = arguments.length == 0 ? 6 : Integer.parseInt(arguments[0]);
    List<Integer> sizes =
        arguments.length < 2 ? List.of(WAITERS, 10, 1) : List.of(Integer.valueOf(arguments[1]));
    try (RedisServer redis = RedisServer.start()) {
      for (int round = 0; round < rounds; round++) {
        for (int each : sizes) {
          run(redis, WAITERS / each, each, round);
        }
      }
    }
  }

  private static void run(RedisServer redis, int keys, int each, int round) throws Exception {
    Gate gate = new Gate();
    try (ScriptedUpstream upstream = ScriptedUpstream.start(gate::passAndAnswer)) {
      String store = OnBothStores.Stores.redis(redis);
      Ends ends = new Ends(keys * each);
      try (TestGateway one = gateway(upstream.url(), store, ends);
          TestGateway other = gateway(upstream.url(), store, ends)) {
        List<RawClient> owners = new ArrayList<>();
        for (int i = 0; i < keys; i++) {
          owners.add(RawClient.connect(one.port()).send(post("/o", "k" + i, "{}")));
          if (i % 50 == 49 || i == keys - 1) {
            // Not all at once, so that no connection is lost to a full backlog.
            reach("requests at the upstream", i + 1, upstream::requests);
          }
        }
        Selector selector = Selector.open();
        List<SocketChannel> channels = new ArrayList<>();
        for (int i = 0; i < keys * each; i++) {
          SocketChannel channel =
              SocketChannel.open(
                  new InetSocketAddress(InetAddress.getLoopbackAddress(), other.port()));
          channel.write(ByteBuffer.wrap(post("/o", "k" + i % keys, "{}")));
          channels.add(channel);
          channel.configureBlocking(false);
          channel.register(selector, SelectionKey.OP_READ);
        }
        reach("waiting", keys * each, other.gateway()::waitingDuplicates);
        Thread.sleep(1_000);
        long commands = commands(redis);
        long cpu = cpu();
        long[] came = new long[keys * each];
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
        long cpuAfter = cpu();
        owners.forEach(RawClient::read);
        System.out.printf(
            "%d keys of %d, round %d: answered %s, read %s; %d commands, %.1f us of the loops' CPU for each%n",
            keys,
            each,
            round,
            ends.since(ends.handed),
            ends.since(came),
            commands(redis) - commands,
            (cpuAfter - cpu) / 1e3 / came.length);
        for (SocketChannel channel : channels) {
          channel.close();
        }
        selector.close();
        owners.forEach(RawClient::close);
      }
    }
  }

  /** When the first record was settled, and when each answer was handed to its socket. */
  private static final class Ends implements ExchangeListener {
    private final AtomicLong settled = new AtomicLong();
    private final AtomicInteger count = new AtomicInteger();
    private final long[] handed;

    Ends(int number) {
      this.handed = new long[number];
    }

    @Override
    public void step(Step step) {
      if (step == Step.SETTLED) {
        settled.compareAndSet(0, System.nanoTime());
      }
    }

    @Override
    public void closed(RequestHead head, Summary summary) {
      if (summary.result() == Result.REPLAYED) {
        handed[count.getAndIncrement()] = System.nanoTime();
      }
    }

    String since(long[] moments) {
      long[] sorted = moments.clone();
      Arrays.sort(sorted);
      return String.format(
          Locale.ROOT,
          "p50 %.2f p99 %.2f last %.2f ms",
          (sorted[sorted.length / 2] - settled.get()) / 1e6,
          (sorted[sorted.length * 99 / 100] - settled.get()) / 1e6,
          (sorted[sorted.length - 1] - settled.get()) / 1e6);
    }
  }

  private static void reach(String what, int expected, IntSupplier actual) throws Exception {
    long end = System.nanoTime() + 60_000_000_000L;
    while (actual.getAsInt() < expected) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException(
            what + ": " + actual.getAsInt() + " (expected: " + expected + ")");
      }
      Thread.sleep(1);
    }
  }

  private static TestGateway gateway(String url, String store, ExchangeListener ends) {
    String yaml =
        TestGateway.yaml(
            url, store, "in-flight: wait 60s", "waiting: { longest: 60s, per-key: 1000 }");
    return TestGateway.start(
        yaml.replace(url + "\"", url + "\", max-connections: 4096"), List.of(ends));
  }

  private static long commands(RedisServer redis) {
    return redis
        .call("INFO", "stats")
        .lines()
        .filter(line -> line.startsWith("total_commands_processed:"))
        .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1).strip()))
        .sum();
  }

  /** What the event loops of both gateways have taken, ns. */
  private static long cpu() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("gateway"))
        .mapToLong(thread -> Math.max(0, threads.getThreadCpuTime(thread.getId())))
        .sum();
  }
}
