package dev.idempotency.loadtest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/**
 * A primary and a replica under three sentinels. Each server is known to all by the port of its
 * relay.
 */
final class SentinelStore implements LabStore {

  private static final String NAME = "records";
  private static final int SENTINELS = 3;
  private static final int SERVERS = 2;

  /** For how long writes do not reach the replica before the primary dies. */
  private static final long LOST_MILLIS = 700;

  private static final String FILE =
      """
      port %2$d
      bind 127.0.0.1
      dir %4$s
      sentinel monitor %1$s 127.0.0.1 %3$d 2
      sentinel down-after-milliseconds %1$s 1000
      sentinel failover-timeout %1$s 4000
      """;

  private final List<RedisNode> nodes = new ArrayList<>();
  private final List<Relay> relays = new ArrayList<>();
  private final List<Integer> sentinelPorts = new ArrayList<>();
  private final List<Child> sentinels = new ArrayList<>();
  private final AtomicInteger hops = new AtomicInteger();

  SentinelStore(Path program, Path folder) throws IOException, InterruptedException {
    try {
      for (int i = 0; i < SERVERS; i++) {
        // The relay's port has to be known before the server is.
        Relay relay = Relay.waiting();
        relays.add(relay);
        nodes.add(RedisNode.start(program, folder.resolve("redis-" + i), options(i, 0)));
        relay.target(nodes.get(i).port());
      }
      for (int i = 0; i < SENTINELS; i++) {
        watch(program, Files.createDirectories(folder.resolve("sentinel-" + i)));
      }
      awaitReady();
    } catch (IOException | InterruptedException | IllegalStateException e) {
      close();
      throw e;
    }
  }

  private List<String> options(int node, int primary) {
    List<String> options = new ArrayList<>();
    options.addAll(List.of("--replica-announce-ip", "127.0.0.1"));
    options.addAll(List.of("--replica-announce-port", Integer.toString(relays.get(node).port())));
    if (node != primary) {
      options.addAll(
          List.of("--replicaof", "127.0.0.1", Integer.toString(relays.get(primary).port())));
    }
    return options;
  }

  private void watch(Path program, Path folder) throws IOException {
    int port = Ports.free();
    Path file =
        Files.writeString(
            folder.resolve("sentinel.conf"),
            FILE.formatted(NAME, port, relays.get(0).port(), folder));
    sentinelPorts.add(port);
    sentinels.add(
        Child.start(
            folder.resolve("sentinel.log"),
            List.of(program.toString(), file.toString(), "--sentinel")));
  }

  private void awaitReady() throws IOException, InterruptedException {
    for (int port : sentinelPorts) {
      // They would look around every ten and talk every two seconds.
      Until.holds(
          "a sentinel answers",
          () ->
              Resp.says(
                  port,
                  "OK",
                  "SENTINEL",
                  "DEBUG",
                  "info-period",
                  "200",
                  "publish-period",
                  "200",
                  "ping-period",
                  "200"));
    }
    for (int port : sentinelPorts) {
      Until.holds(
          "the sentinels know each other and the replica",
          () -> {
            List<String> state = Resp.call(port, "SENTINEL", "MASTER", NAME).lines().toList();
            return field(state, "num-slaves").equals("1")
                && field(state, "num-other-sentinels").equals("2")
                && field(state, "flags").equals("master");
          });
    }
    awaitReplica();
  }

  private static String field(List<String> state, String name) {
    int at = state.indexOf(name);
    return at < 0 || at + 1 >= state.size() ? "" : state.get(at + 1);
  }

  private void awaitReplica() throws IOException, InterruptedException {
    Until.holds(
        "the replica is in step",
        () ->
            nodes.get(1 - primary()).says("master_link_status:up", "INFO", "replication")
                && nodes.get(primary()).says("role:master", "INFO", "replication"));
  }

  /** The number of the server that the sentinels call the primary. */
  private int primary() throws IOException {
    String named = Resp.call(sentinelPorts.get(0), "SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME);
    String port = Integer.toString(relays.get(1).port());
    return named.lines().skip(1).findFirst().orElse("").equals(port) ? 1 : 0;
  }

  @Override
  public Hop hop() {
    String url =
        sentinelPorts.stream()
            .map(port -> "127.0.0.1:" + port)
            .collect(Collectors.joining(",", "redis-sentinel://", "/0#" + NAME));
    return new Hop(url, relays.get(hops.getAndIncrement() % SERVERS));
  }

  @Override
  public Child server(RandomGenerator random) {
    return nodes.get(random.nextInt(SERVERS)).process();
  }

  @Override
  public void restart(RandomGenerator random) throws IOException, InterruptedException {
    int node = random.nextInt(SERVERS);
    nodes.get(node).restart(options(node, primary()));
  }

  @Override
  public void failOver(boolean losing) throws IOException, InterruptedException {
    // One that is behind by chance would lose writes as well, and not be chosen.
    awaitReplica();
    int old = primary();
    RedisNode dying = nodes.get(old);
    RedisNode heir = nodes.get(1 - old);
    if (losing) {
      heir.process().signal("STOP");
      // What is under way to it would reach it all the same when it goes on.
      dying.call("CLIENT", "KILL", "TYPE", "replica");
      TimeUnit.MILLISECONDS.sleep(LOST_MILLIS);
    }
    dying.process().kill();
    heir.process().signal("CONT");
    Until.holds(
        "the replica is the primary",
        () -> primary() != old && heir.says("role:master", "INFO", "replication"));
    dying.restart(options(old, 1 - old));
    awaitReplica();
  }

  @Override
  public void heal() throws IOException, InterruptedException {
    for (RedisNode node : nodes) {
      node.process().signal("CONT");
    }
    relays.forEach(Relay::mend);
    awaitReplica();
  }

  @Override
  public void close() throws IOException {
    for (Child sentinel : sentinels) {
      sentinel.close();
    }
    for (Relay relay : relays) {
      relay.close();
    }
    for (RedisNode node : nodes) {
      node.close();
    }
  }
}
