package dev.idempotency.gateway.testing;

import static dev.idempotency.gateway.testing.RedisServers.await;
import static dev.idempotency.gateway.testing.RedisServers.require;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Three masters, and replicas where wanted, as local processes that die with this JVM. A node is
 * taken for failed after a second.
 */
public final class RedisCluster implements AutoCloseable {

  public static final int SLOTS = 16_384;
  private static final int MASTERS = 3;
  private static final Pattern BLANK = Pattern.compile(" ");
  private static RedisCluster shared;

  private final List<RedisServer> nodes;
  private final List<Integer> busPorts;
  private final List<Integer> tlsPorts;
  private final Path folder;

  private RedisCluster(
      List<RedisServer> nodes, List<Integer> busPorts, List<Integer> tlsPorts, Path folder) {
    this.nodes = nodes;
    this.busPorts = busPorts;
    this.tlsPorts = tlsPorts;
    this.folder = folder;
  }

  /** The cluster of this JVM. Others use it too: no stop, no flush, names of one's own. */
  public static synchronized RedisCluster shared() {
    if (shared == null) {
      shared = start(false);
    }
    return shared;
  }

  /**
   * A cluster of one's own.
   *
   * @param replicated whether each master has a replica
   * @param options of each node
   */
  public static RedisCluster start(boolean replicated, String... options) {
    return start(replicated, false, options);
  }

  private static RedisCluster start(boolean replicated, boolean tls, String... options) {
    Path folder = folder();
    int count = replicated ? 2 * MASTERS : MASTERS;
    List<Integer> busPorts =
        IntStream.range(0, count).mapToObj(i -> RedisProcess.freePort()).toList();
    List<Integer> tlsPorts =
        IntStream.range(0, tls ? count : 0).mapToObj(i -> RedisProcess.freePort()).toList();
    List<Supplier<RedisServer>> starts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String[] more = tls ? with(options, "--tls-port", tlsPorts.get(i)) : options;
      String[] all = options(folder, i, busPorts.get(i), more);
      starts.add(() -> RedisServer.start(all));
    }
    RedisCluster cluster =
        new RedisCluster(RedisServers.startAll(starts), busPorts, tlsPorts, folder);
    cluster.meet();
    if (replicated) {
      cluster.replicate();
    }
    return cluster;
  }

  /**
   * A cluster of one's own whose nodes speak TLS to each other, and to clients on a second port.
   *
   * @param options of each node, with its certificate
   */
  public static RedisCluster startTls(String... options) {
    return start(false, true, options);
  }

  private static String[] options(Path folder, int number, int busPort, String... more) {
    List<String> all =
        new ArrayList<>(
            List.of(
                "--cluster-enabled",
                "yes",
                "--cluster-config-file",
                folder.resolve("nodes-" + number + ".conf").toString(),
                "--cluster-node-timeout",
                "1000",
                "--cluster-port",
                Integer.toString(busPort),
                "--repl-diskless-sync-delay",
                "0",
                "--cluster-replica-validity-factor",
                "0"));
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  private static String[] with(String[] options, String name, int value) {
    List<String> all = new ArrayList<>(List.of(options));
    all.addAll(List.of(name, Integer.toString(value)));
    return all.toArray(String[]::new);
  }

  private static Path folder() {
    try {
      return Files.createTempDirectory("redis-cluster-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void meet() {
    for (int i = 0; i < nodes.size(); i++) {
      require(nodes.get(i), "CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
      if (i < MASTERS) {
        String from = Integer.toString(SLOTS * i / MASTERS);
        String to = Integer.toString(SLOTS * (i + 1) / MASTERS - 1);
        require(nodes.get(i), "CLUSTER", "ADDSLOTSRANGE", from, to);
      }
      require(
          nodes.get(0),
          "CLUSTER",
          "MEET",
          "127.0.0.1",
          // Over the bus they take the port that they speak TLS on for the main one.
          Integer.toString(tlsPorts.isEmpty() ? nodes.get(i).port() : tlsPorts.get(i)),
          Integer.toString(busPorts.get(i)));
    }
    awaitOk();
  }

  /** Waits until all nodes know each other and all slots are served. */
  public void awaitOk() {
    await(
        "the cluster is ok",
        () ->
            nodes.stream()
                .map(node -> node.call("CLUSTER", "INFO"))
                .allMatch(
                    info ->
                        info.contains("cluster_state:ok")
                            && info.contains("cluster_known_nodes:" + nodes.size())));
  }

  private void replicate() {
    for (int i = MASTERS; i < nodes.size(); i++) {
      require(nodes.get(i), "CLUSTER", "REPLICATE", id(i - MASTERS));
    }
    for (RedisServer replica : nodes.subList(MASTERS, nodes.size())) {
      await(
          "replicas are in step",
          () -> replica.call("INFO", "replication").contains("master_link_status:up"));
    }
    for (RedisServer node : nodes) {
      await(
          "all nodes know of the replicas",
          () ->
              node.call("CLUSTER", "NODES").lines().filter(l -> l.contains("slave")).count() == 3);
    }
  }

  /** Such as {@code redis-cluster://127.0.0.1:7000,127.0.0.1:7001,127.0.0.1:7002}. */
  public String url() {
    return url("");
  }

  /**
   * The same with a user.
   *
   * @param userInfo such as {@code user:password@}
   */
  public String url(String userInfo) {
    return "redis-cluster://"
        + userInfo
        + nodes.stream()
            .limit(MASTERS)
            .map(node -> "127.0.0.1:" + node.port())
            .collect(Collectors.joining(","));
  }

  /** Of a cluster that speaks TLS. */
  public String tlsUrl() {
    return "rediss-cluster://"
        + tlsPorts.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
  }

  /** Masters first, then the replica of each in the same order. */
  public RedisServer node(int number) {
    return nodes.get(number);
  }

  public List<RedisServer> nodes() {
    return nodes;
  }

  public String id(int number) {
    return require(nodes.get(number), "CLUSTER", "MYID");
  }

  /** The number of the node that says that the slot is its own. */
  public int owner(int slot) {
    for (int i = 0; i < nodes.size(); i++) {
      if (slots(i).contains(slot)) {
        return i;
      }
    }
    throw new IllegalStateException("nobody has slot " + slot);
  }

  private List<Integer> slots(int number) {
    String self =
        nodes
            .get(number)
            .call("CLUSTER", "NODES")
            .lines()
            .filter(line -> line.contains("myself"))
            .findFirst()
            .orElseThrow();
    return BLANK
        .splitAsStream(self)
        .skip(8)
        .filter(range -> !range.startsWith("["))
        .flatMap(RedisCluster::range)
        .toList();
  }

  private static Stream<Integer> range(String text) {
    int dash = text.indexOf('-');
    int from = Integer.parseInt(dash < 0 ? text : text.substring(0, dash));
    int to = dash < 0 ? from : Integer.parseInt(text.substring(dash + 1));
    return IntStream.rangeClosed(from, to).boxed();
  }

  /** Which slot that key is in. */
  public int slot(String key) {
    return Integer.parseInt(nodes.get(0).call("CLUSTER", "KEYSLOT", key));
  }

  /** Moves the slot with all that is in it to that master, as a resharding does. */
  public void move(int slot, int to) {
    int from = owner(slot);
    beginMove(slot, from, to);
    while (moveKeys(slot, from, to, 10) > 0) {
      // Until it is empty.
    }
    endMove(slot, from, to);
  }

  /** From now on the old owner refers to the new one for keys that it does not have. */
  public void beginMove(int slot, int from, int to) {
    awaitOneEpoch();
    String number = Integer.toString(slot);
    require(nodes.get(to), "CLUSTER", "SETSLOT", number, "IMPORTING", id(from));
    require(nodes.get(from), "CLUSTER", "SETSLOT", number, "MIGRATING", id(to));
  }

  /**
   * The new owner's claim must be the latest. If it has not heard yet of what another master got a
   * moment ago, that one's word takes the slot from it, and nobody has it in the end.
   */
  private void awaitOneEpoch() {
    await("the masters know the latest epoch", () -> epochs().distinct().count() == 1);
  }

  private Stream<String> epochs() {
    return nodes.subList(0, MASTERS).stream()
        .flatMap(node -> node.call("CLUSTER", "INFO").lines())
        .filter(line -> line.startsWith("cluster_current_epoch:"));
  }

  /** Moves some keys of the slot; says how many. */
  public int moveKeys(int slot, int from, int to, int most) {
    List<String> keys =
        require(
                nodes.get(from),
                "CLUSTER",
                "GETKEYSINSLOT",
                Integer.toString(slot),
                Integer.toString(most))
            .lines()
            .toList();
    if (!keys.isEmpty()) {
      moveKeys(keys, from, to);
    }
    return keys.size();
  }

  /** Moves these keys. */
  public void moveKeys(List<String> keys, int from, int to) {
    List<String> command =
        new ArrayList<>(
            List.of(
                "MIGRATE",
                "127.0.0.1",
                Integer.toString(nodes.get(to).port()),
                "",
                "0",
                "5000",
                "KEYS"));
    command.addAll(keys);
    require(nodes.get(from), command.toArray(String[]::new));
  }

  /** The new owner has the slot, and all masters learn of it. */
  public void endMove(int slot, int from, int to) {
    String id = id(to);
    String number = Integer.toString(slot);
    require(nodes.get(to), "CLUSTER", "SETSLOT", number, "NODE", id);
    require(nodes.get(from), "CLUSTER", "SETSLOT", number, "NODE", id);
    for (int i = 0; i < MASTERS; i++) {
      if (i != to && i != from) {
        require(nodes.get(i), "CLUSTER", "SETSLOT", number, "NODE", id);
      }
    }
  }

  /** Ends a cluster of one's own; leaves the shared one alone. */
  @Override
  public void close() {
    if (this == shared) {
      return;
    }
    nodes.forEach(RedisServer::close);
    for (int i = 0; i < nodes.size(); i++) {
      delete(folder.resolve("nodes-" + i + ".conf"));
    }
    delete(folder);
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      // The folder of temporary files is not ours to keep clean at any price.
    }
  }
}
