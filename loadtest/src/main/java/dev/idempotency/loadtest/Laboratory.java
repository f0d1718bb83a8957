package dev.idempotency.loadtest;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * Three gateways, a Redis that keeps every acknowledged write on disk, and the demo order service
 * with its ledger on disk: all of them processes, with a {@link Relay} on every hop.
 *
 * <p>Threading: confined to one thread; gateways may be added, and relays used, from any.
 */
final class Laboratory implements Closeable {

  static final int GATEWAYS = 3;
  static final Duration LEASE = Duration.ofMillis(1_500);
  private static final long START_SECONDS = 60;

  private static final String YAML =
      """
      listen: 127.0.0.1:%d
      admin: 127.0.0.1:%d
      store: { url: "redis://127.0.0.1:%d", timeout: 500ms }
      drain: 1s
      threads: 1
      upstreams:
        orders: { url: "http://127.0.0.1:%d", connect-timeout: 500ms, response-timeout: 3s }
      routes:
        - name: orders
          path: /orders
          upstream: orders
          idempotency: required
          scope: [ "header:Authorization" ]
          lease: %dms
          unknown: %s
          retention: 1h
      """;

  /** A gateway and its three hops. */
  private final class Station {
    final int port = freePort();
    final int adminPort = freePort();
    final Relay clients = Relay.to(port);
    final Relay store = Relay.to(redisPort);
    final Relay upstream = Relay.to(upstreamPort);
    final Path file;
    Child process;

    Station(String policy, String step) throws IOException {
      file = folder.resolve("gateway-" + port + ".yaml");
      long lease = LEASE.toMillis();
      Files.writeString(
          file,
          String.format(
              Locale.ROOT, YAML, port, adminPort, store.port(), upstream.port(), lease, policy));
      process = launch(step);
    }

    private Child launch(String step) throws IOException {
      List<String> command = new ArrayList<>(java());
      String main = step.isEmpty() ? "Main" : "SteppedMain";
      if (!step.isEmpty()) {
        command.add("-Dstep=" + step);
      }
      command.add("-cp");
      command.add(classPath);
      command.addAll(List.of("dev.idempotency.gateway." + main, "--config", file.toString()));
      return Child.start(folder.resolve("gateways.log"), command);
    }
  }

  private final HttpClient http = HttpClient.newHttpClient();
  private final Path folder;
  private final String classPath;
  private final int redisPort = freePort();
  private final int upstreamPort = freePort();
  private final List<Station> stations = new CopyOnWriteArrayList<>();
  private Child redis;
  private Child orders;

  /**
   * Starts everything.
   *
   * @param folder for configurations, logs, the ledger and what Redis keeps
   * @param classPath of the gateway, with its test classes where it is to die at a step
   * @param policy hold or retry
   */
  Laboratory(Path folder, String classPath, String policy)
      throws IOException, InterruptedException {
    this(folder, classPath, Collections.nCopies(GATEWAYS, policy));
  }

  /**
   * Starts everything.
   *
   * @param folder for configurations, logs, the ledger and what Redis keeps
   * @param classPath of the gateway, with its test classes where it is to die at a step
   * @param policies hold or retry, for each gateway
   */
  Laboratory(Path folder, String classPath, List<String> policies)
      throws IOException, InterruptedException {
    this.folder = folder;
    this.classPath = classPath;
    this.redis = launchRedis();
    this.orders = launchOrders();
    try {
      for (String policy : policies) {
        stations.add(new Station(policy, ""));
      }
      awaitAll();
    } catch (IOException | InterruptedException e) {
      close();
      throw e;
    }
  }

  private static List<String> java() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-Xmx128m");
  }

  private Child launchRedis() throws IOException {
    return Child.start(
        folder.resolve("redis.log"),
        List.of(
            "redis-server",
            "--port",
            Integer.toString(redisPort),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "yes",
            // What was acknowledged survives a kill: without it, losing records would be allowed.
            "--appendfsync",
            "always",
            "--dir",
            folder.toString()));
  }

  private Child launchOrders() throws IOException {
    List<String> command = new ArrayList<>(java());
    command.add("-Ddemo.ledger=" + ledger());
    command.addAll(List.of("-cp", classPath, "dev.idempotency.gateway.Main", "demo"));
    command.addAll(List.of("--upstream-only", "--upstream-listen", "127.0.0.1:" + upstreamPort));
    return Child.start(folder.resolve("orders.log"), command);
  }

  Path ledger() {
    return folder.resolve("ledger.jsonl");
  }

  /** Where clients reach a gateway. */
  int port(int gateway) {
    return stations.get(gateway).clients.port();
  }

  Relay clients(int gateway) {
    return stations.get(gateway).clients;
  }

  Relay store(int gateway) {
    return stations.get(gateway).store;
  }

  Relay upstream(int gateway) {
    return stations.get(gateway).upstream;
  }

  Child gateway(int gateway) {
    return stations.get(gateway).process;
  }

  /**
   * Starts one more gateway and waits until it is ready.
   *
   * @param policy hold or retry
   * @param step where it dies or stops
   * @return its number
   */
  int addGateway(String policy, String step) throws IOException, InterruptedException {
    Station station = new Station(policy, step);
    stations.add(station);
    awaitReady(station);
    return stations.indexOf(station);
  }

  /**
   * Kills a gateway and starts it again.
   *
   * @param step where the new one dies or stops; empty for nowhere
   */
  void restartGateway(int gateway, String step) throws IOException, InterruptedException {
    Station station = stations.get(gateway);
    station.process.kill();
    station.process = station.launch(step);
    // It may have died at its step before anybody could see it ready.
    awaitReady(station);
  }

  Child redis() {
    return redis;
  }

  void restartRedis() throws IOException, InterruptedException {
    redis.kill();
    redis = launchRedis();
    await(redisPort, redis);
  }

  Child orders() {
    return orders;
  }

  void restartOrders() throws IOException, InterruptedException {
    orders.kill();
    orders = launchOrders();
    await(upstreamPort, orders);
  }

  /** Ends all faults: what is dead is started, what stands goes on, what is cut passes. */
  void heal() throws IOException, InterruptedException {
    redis.signal("CONT");
    orders.signal("CONT");
    for (Station station : stations) {
      List.of(station.clients, station.store, station.upstream)
          .forEach(
              relay -> {
                relay.pass();
                // What fell into a hole stays lost: the connections go with it.
                relay.cut();
              });
      station.process.signal("CONT");
      if (!station.process.isAlive()) {
        station.process = station.launch("");
      }
    }
    awaitAll();
  }

  private void awaitAll() throws IOException, InterruptedException {
    await(redisPort, redis);
    await(upstreamPort, orders);
    for (Station station : stations) {
      awaitReady(station);
      if (!station.process.isAlive()) {
        throw new IOException("a gateway ended, see the logs in " + folder);
      }
    }
  }

  private void await(int port, Child process) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (process.isAlive() && !answers(port)) {
      if (System.nanoTime() - deadline > 0) {
        throw new IOException("nothing listens on port " + port + ", see the logs in " + folder);
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  /** A gateway listens before it has its store: until then it refuses what has a key. */
  private void awaitReady(Station station) throws IOException, InterruptedException {
    await(station.adminPort, station.process);
    HttpRequest ready =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + station.adminPort + "/readyz"))
            .timeout(Duration.ofSeconds(5))
            .build();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (station.process.isAlive() && !isReady(ready)) {
      if (System.nanoTime() - deadline > 0) {
        throw new IOException("a gateway does not get ready, see the logs in " + folder);
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private boolean isReady(HttpRequest ready) throws InterruptedException {
    try {
      return http.send(ready, BodyHandlers.discarding()).statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  private static boolean answers(int port) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 500);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new IllegalStateException("no free port", e);
    }
  }

  @Override
  public void close() throws IOException {
    for (Station station : stations) {
      station.process.close();
      station.clients.close();
      station.store.close();
      station.upstream.close();
    }
    orders.close();
    redis.close();
  }
}
