package dev.idempotency.gateway.testing;

import static dev.idempotency.gateway.testing.RedisServers.await;
import static dev.idempotency.gateway.testing.RedisServers.field;
import static dev.idempotency.gateway.testing.RedisServers.require;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * A primary, a replica and three sentinels, as local processes that die with this JVM. Sentinels
 * take a server for down after half a second and agree by two.
 */
public final class RedisSentinels implements AutoCloseable {

  /** The name that the sentinels have for the primary. */
  public static final String NAME = "orders-store";

  private static final int SENTINELS = 3;

  private final List<RedisServer> servers;
  private final List<RedisServer> sentinels;
  private final Path folder;

  private RedisSentinels(List<RedisServer> servers, List<RedisServer> sentinels, Path folder) {
    this.servers = servers;
    this.sentinels = sentinels;
    this.folder = folder;
  }

  /** How sentinels and servers differ from the usual; options of the command line. */
  public record Options(List<String> primary, List<String> replica, List<String> sentinel) {
    /** Nothing unusual. */
    public static final Options NONE = new Options(List.of(), List.of(), List.of());
  }

  public static RedisSentinels start() {
    return start(Options.NONE);
  }

  /**
   * Starts all of it and waits until the sentinels know each other and the replica.
   *
   * @param options of servers, such as {@code "--requirepass", "x"}; of sentinels: lines of their
   *     file, {@code NAME} standing for the primary's
   */
  public static RedisSentinels start(Options options) {
    Path folder = folder();
    RedisServer primary = RedisServer.start(replicating(options.primary()));
    RedisServer replica =
        RedisServer.start(
            replicating(
                options.replica(), "--replicaof", "127.0.0.1", Integer.toString(primary.port())));
    List<Supplier<RedisServer>> starts = new ArrayList<>();
    for (int i = 0; i < SENTINELS; i++) {
      Path file = write(folder.resolve("sentinel-" + i + ".conf"), primary.port(), options);
      starts.add(() -> RedisServer.startSentinel(file));
    }
    RedisSentinels all =
        new RedisSentinels(List.of(primary, replica), RedisServers.startAll(starts), folder);
    all.awaitReady();
    return all;
  }

  private static String[] replicating(List<String> options, String... more) {
    List<String> all =
        new ArrayList<>(List.of("--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"));
    all.addAll(options);
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  private static Path folder() {
    try {
      return Files.createTempDirectory("redis-sentinels-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path write(Path file, int primary, Options options) {
    String text =
        "sentinel monitor %1$s 127.0.0.1 %2$d 2\nsentinel down-after-milliseconds %1$s 500\n"
            + "sentinel failover-timeout %1$s 3000\ndir %3$s\n";
    String own =
        options.sentinel().stream()
            .map(line -> line.replace("NAME", NAME) + "\n")
            .collect(Collectors.joining());
    try {
      return Files.writeString(file, text.formatted(NAME, primary, file.getParent()) + own);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void awaitReady() {
    for (RedisServer sentinel : sentinels) {
      // They would look around every ten and talk every two seconds.
      sentinel.call(
          "SENTINEL", "DEBUG", "info-period", "200", "publish-period", "200", "ping-period", "200");
    }
    for (RedisServer sentinel : sentinels) {
      await(
          "the sentinels know each other and the replica",
          () -> {
            String state = state(sentinel);
            return field(state, "num-slaves").equals("1")
                && field(state, "num-other-sentinels").equals("2")
                && field(state, "flags").equals("master");
          });
    }
    await(
        "the replica is in step",
        () -> servers.get(1).call("INFO", "replication").contains("master_link_status:up"));
  }

  private static String state(RedisServer sentinel) {
    return require(sentinel, "SENTINEL", "MASTER", NAME);
  }

  /** Such as {@code redis-sentinel://127.0.0.1:26379,127.0.0.1:26380/0#name}. */
  public String url() {
    return url("");
  }

  /**
   * The same with a password for the servers.
   *
   * @param userInfo such as {@code user:password@}
   */
  public String url(String userInfo) {
    return "redis-sentinel://"
        + userInfo
        + sentinels.stream()
            .map(sentinel -> "127.0.0.1:" + sentinel.port())
            .collect(Collectors.joining(","))
        + "/0#"
        + NAME;
  }

  /** The one that was the primary at the start. */
  public RedisServer first() {
    return servers.get(0);
  }

  /** The one that was the replica at the start. */
  public RedisServer second() {
    return servers.get(1);
  }

  public List<RedisServer> sentinels() {
    return sentinels;
  }

  /** The port that the first sentinel which answers names. */
  public int primaryPort() {
    for (RedisServer sentinel : sentinels) {
      String named = sentinel.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME);
      if (named != null && !named.startsWith("-")) {
        return Integer.parseInt(named.lines().skip(1).findFirst().orElseThrow());
      }
    }
    throw new IllegalStateException("no sentinel names a primary");
  }

  /** Waits until all sentinels name another primary than the first and it takes writes. */
  public void awaitFailover() {
    await(
        "the replica is the primary",
        () ->
            primaryPort() == second().port()
                && second().call("INFO", "replication").contains("role:master"));
  }

  /** Has the sentinels make the replica the primary, while both are well. */
  public void failOver() {
    // Refused as long as the sentinel does not think the replica good.
    await(
        "a sentinel begins the failover",
        () -> "OK".equals(sentinels.get(0).call("SENTINEL", "FAILOVER", NAME)));
    awaitFailover();
  }

  @Override
  public void close() {
    sentinels.forEach(RedisServer::close);
    servers.forEach(RedisServer::close);
    for (int i = 0; i < SENTINELS; i++) {
      delete(folder.resolve("sentinel-" + i + ".conf"));
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
