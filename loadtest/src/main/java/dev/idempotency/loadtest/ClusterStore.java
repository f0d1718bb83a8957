package dev.idempotency.loadtest;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Three masters without replicas. Each is known to clients by the port of its relay; among
 * themselves they speak directly.
 */
final class ClusterStore implements LabStore {

  private static final int MASTERS = 3;
  private static final int SLOTS = 16_384;

  /** How many slots move at a time, and for how long each of them has two owners. */
  private static final int MOVED = 8;

  private static final long MOVING_MILLIS = 30;
  private static final Pattern BLANK = Pattern.compile(" ");

  private final List<RedisNode> nodes = new ArrayList<>();
  private final List<Relay> relays = new ArrayList<>();
  private final List<Integer> busPorts = new ArrayList<>();
  private final AtomicInteger hops = new AtomicInteger();

  ClusterStore(Path program, Path folder) throws IOException, InterruptedException {
    try {
      for (int i = 0; i < MASTERS; i++) {
        Relay relay = Relay.waiting();
        relays.add(relay);
        busPorts.add(Ports.free());
        nodes.add(RedisNode.start(program, folder.resolve("redis-" + i), options(i)));
        relay.target(nodes.get(i).port());
      }
      meet();
    } catch (IOException | InterruptedException | IllegalStateException e) {
      close();
      throw e;
    }
  }

  private List<String> options(int node) {
    String bus = Integer.toString(busPorts.get(node));
    return List.of(
        "--cluster-enabled",
        "yes",
        "--cluster-node-timeout",
        "1000",
        "--cluster-require-full-coverage",
        "no",
        "--cluster-port",
        bus,
        "--cluster-announce-ip",
        "127.0.0.1",
        "--cluster-announce-bus-port",
        bus,
        "--cluster-announce-port",
        Integer.toString(relays.get(node).port()));
  }

  private void meet() throws IOException, InterruptedException {
    for (int i = 0; i < MASTERS; i++) {
      RedisNode node = nodes.get(i);
      node.call("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
      String from = Integer.toString(SLOTS * i / MASTERS);
      String to = Integer.toString(SLOTS * (i + 1) / MASTERS - 1);
      node.call("CLUSTER", "ADDSLOTSRANGE", from, to);
      String port = Integer.toString(node.port());
      nodes.get(0).call("CLUSTER", "MEET", "127.0.0.1", port, Integer.toString(busPorts.get(i)));
    }
    awaitOk();
  }

  private void awaitOk() throws IOException, InterruptedException {
    for (RedisNode node : nodes) {
      Until.holds(
          "the cluster is well",
          () -> {
            String state = node.call("CLUSTER", "INFO");
            return state.contains("cluster_state:ok")
                && state.contains("cluster_slots_ok:" + SLOTS)
                && state.contains("cluster_known_nodes:" + MASTERS);
          });
    }
  }

  @Override
  public Hop hop() {
    String url =
        relays.stream()
            .map(relay -> "127.0.0.1:" + relay.port())
            .collect(Collectors.joining(",", "redis-cluster://", ""));
    return new Hop(url, relays.get(hops.getAndIncrement() % MASTERS));
  }

  @Override
  public Child server(RandomGenerator random) {
    return nodes.get(random.nextInt(MASTERS)).process();
  }

  @Override
  public void restart(RandomGenerator random) throws IOException, InterruptedException {
    int node = random.nextInt(MASTERS);
    nodes.get(node).restart(options(node));
    awaitOk();
  }

  @Override
  public void moveSlots(RandomGenerator random) throws IOException, InterruptedException {
    awaitOk();
    for (int i = 0; i < MOVED; i++) {
      int from = random.nextInt(MASTERS);
      int to = (from + 1 + random.nextInt(MASTERS - 1)) % MASTERS;
      move(slotWithRecords(from, random), from, to);
    }
  }

  /** A slot of that master; one with records in it, if it has any. */
  private String slotWithRecords(int node, RandomGenerator random) throws IOException {
    String key = nodes.get(node).call("RANDOMKEY");
    return key.isEmpty() ? anySlot(node, random) : nodes.get(node).call("CLUSTER", "KEYSLOT", key);
  }

  private String anySlot(int node, RandomGenerator random) throws IOException {
    String self =
        nodes
            .get(node)
            .call("CLUSTER", "NODES")
            .lines()
            .filter(line -> line.contains("myself"))
            .findFirst()
            .orElseThrow();
    List<String> ranges = BLANK.splitAsStream(self).skip(8).toList();
    String range = ranges.get(random.nextInt(ranges.size()));
    int dash = range.indexOf('-');
    return dash < 0 ? range : range.substring(0, dash);
  }

  /** As a resharding does: for a while the old owner refers to the new one for what has moved. */
  private void move(String slot, int from, int to) throws IOException, InterruptedException {
    RedisNode source = nodes.get(from);
    String target = nodes.get(to).call("CLUSTER", "MYID");
    nodes.get(to).call("CLUSTER", "SETSLOT", slot, "IMPORTING", source.call("CLUSTER", "MYID"));
    source.call("CLUSTER", "SETSLOT", slot, "MIGRATING", target);
    for (String key = key(source, slot); !key.isEmpty(); key = key(source, slot)) {
      source.call("MIGRATE", "127.0.0.1", Integer.toString(nodes.get(to).port()), key, "0", "5000");
    }
    TimeUnit.MILLISECONDS.sleep(MOVING_MILLIS);
    // The new owner first: nobody may find the slot without one.
    nodes.get(to).call("CLUSTER", "SETSLOT", slot, "NODE", target);
    for (RedisNode node : nodes) {
      node.call("CLUSTER", "SETSLOT", slot, "NODE", target);
    }
  }

  private static String key(RedisNode node, String slot) throws IOException {
    return node.call("CLUSTER", "GETKEYSINSLOT", slot, "1");
  }

  @Override
  public void heal() throws IOException, InterruptedException {
    for (RedisNode node : nodes) {
      node.process().signal("CONT");
    }
    relays.forEach(Relay::mend);
    awaitOk();
  }

  @Override
  public void close() throws IOException {
    for (Relay relay : relays) {
      relay.close();
    }
    for (RedisNode node : nodes) {
      node.close();
    }
  }
}
