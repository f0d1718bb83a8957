package dev.idempotency.loadtest;

import java.io.Closeable;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Gateways, a Redis that keeps every acknowledged write on disk, and the demo order service with
 * its ledger on disk: all of them processes, with a {@link Relay} on every hop.
 *
 * <p>Threading: confined to one thread; gateways may be added, and relays used, from any.
 */
final class Laboratory implements Closeable {

  static final Duration LEASE = Duration.ofMillis(1_500);

  private final HttpClient http = HttpClient.newHttpClient();
  private final Setup setup;
  private final Path folder;
  private final int ordersPort = Ports.free();
  private final List<Station> stations = new CopyOnWriteArrayList<>();
  private final List<Violation> ended = Collections.synchronizedList(new ArrayList<>());
  private final LabStore store;
  private Child orders;

  /**
   * Starts everything.
   *
   * @param folder for configurations, logs, the ledger and what Redis keeps
   */
  Laboratory(Path folder, Setup setup) throws IOException, InterruptedException {
    this.folder = folder;
    this.setup = setup;
    this.orders = launchOrders();
    this.store = openStore();
    try {
      awaitOrders();
      archiveClasses();
      for (String policy : setup.policies()) {
        stations.add(station(policy, Station.Oddity.NONE));
      }
      awaitAll();
      if (!ended.isEmpty()) {
        throw new IllegalStateException(ended.get(0).seen());
      }
    } catch (IOException | InterruptedException | IllegalStateException e) {
      close();
      throw e;
    }
  }

  private LabStore openStore() throws IOException, InterruptedException {
    try {
      return switch (setup.topology()) {
        case STANDALONE -> new StandaloneStore(setup.redis(), folder);
        case SENTINEL -> new SentinelStore(setup.redis(), folder);
        case CLUSTER -> new ClusterStore(setup.redis(), folder);
      };
    } catch (IOException | InterruptedException | IllegalStateException e) {
      orders.close();
      throw e;
    }
  }

  private void archiveClasses() throws IOException, InterruptedException {
    if (ClassArchive.isMissing(setup)) {
      Path made = folder.resolve("classes.jsa");
      try (Station station = station(setup.policies().get(0), Station.Oddity.archiving(made))) {
        awaitReady(station);
        station.process().signal("TERM");
        Until.holds("a gateway ends when it is told to", () -> !station.process().isAlive());
      }
      ClassArchive.put(setup, made);
    }
  }

  private Station station(String policy, Station.Oddity oddity) throws IOException {
    return new Station(setup, folder, store.hop(), ordersPort, policy, oddity);
  }

  /** How processes of the gateway begin. */
  static List<String> java() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-Xmx128m");
  }

  private Child launchOrders() throws IOException {
    List<String> command = new ArrayList<>(java());
    command.add("-Ddemo.ledger=" + ledger());
    command.addAll(List.of("-cp", setup.classPath(), "dev.idempotency.gateway.Main", "demo"));
    command.addAll(List.of("--upstream-only", "--upstream-listen", "127.0.0.1:" + ordersPort));
    if (!setup.orders().isEmpty()) {
      command.addAll(List.of("--orders", setup.orders()));
    }
    return Child.start(folder.resolve("orders.log"), command);
  }

  Path ledger() {
    return folder.resolve("ledger.jsonl");
  }

  Setup setup() {
    return setup;
  }

  /** Where clients reach a gateway. */
  int port(int gateway) {
    return stations.get(gateway).port();
  }

  Station gateway(int gateway) {
    return stations.get(gateway);
  }

  LabStore store() {
    return store;
  }

  /**
   * Starts one more gateway and waits until it is ready.
   *
   * @param policy hold, retry or probe
   * @param step where it dies or stops
   * @return its number
   */
  int addGateway(String policy, String step) throws IOException, InterruptedException {
    return addGateway(setup, policy, step);
  }

  /**
   * The same with a gateway of another make.
   *
   * @param other its class path counts
   */
  int addGateway(Setup other, String policy, String step) throws IOException, InterruptedException {
    Station.Oddity oddity = Station.Oddity.at(step);
    Station station = new Station(other, folder, store.hop(), ordersPort, policy, oddity);
    stations.add(station);
    awaitReady(station);
    return stations.indexOf(station);
  }

  /** Kills a gateway and starts it again. */
  void restartGateway(int gateway, Station.Oddity oddity) throws IOException, InterruptedException {
    Station station = stations.get(gateway);
    note(gateway, station.restart(oddity));
    awaitReady(station);
  }

  private void note(int gateway, @Nullable String seen) {
    if (seen != null) {
      ended.add(new Violation(Rule.GATEWAYS_STAY, "gateway " + gateway, seen));
    }
  }

  /** Gateways that ended without being killed. */
  List<Violation> ended() {
    return List.copyOf(ended);
  }

  Child orders() {
    return orders;
  }

  void restartOrders() throws IOException, InterruptedException {
    orders.kill();
    orders = launchOrders();
    awaitOrders();
  }

  private void awaitOrders() throws IOException, InterruptedException {
    Until.holds(
        "the order service answers, see " + folder.resolve("orders.log"),
        () -> {
          if (!orders.isAlive()) {
            throw new IllegalStateException("the order service ended: " + orders.lastLines());
          }
          return Ports.answers(ordersPort);
        });
  }

  /**
   * Whether the order service says that there is an order under the key. It may have been killed
   * after it had committed one, and before it could write that into the ledger.
   */
  boolean hasOrder(String key) throws IOException, InterruptedException {
    return get(ordersPort, "/orders/by-key/" + key) == 200;
  }

  /** Ends all faults: what is dead is started, what stands goes on, what is cut passes. */
  void heal() throws IOException, InterruptedException {
    orders.signal("CONT");
    store.heal();
    for (int i = 0; i < stations.size(); i++) {
      Station station = stations.get(i);
      station.mend();
      if (!station.process().isAlive()) {
        note(i, station.restart(Station.Oddity.NONE));
      }
    }
    awaitAll();
  }

  private void awaitAll() throws IOException, InterruptedException {
    awaitOrders();
    for (int i = 0; i < stations.size(); i++) {
      awaitReady(stations.get(i));
      note(i, stations.get(i).ended());
    }
  }

  /**
   * A gateway listens before it has its store: until then it refuses what has a key. One that does
   * not get there says in its log what its threads do, and another takes its place.
   */
  private void awaitReady(Station station) throws IOException, InterruptedException {
    try {
      awaitReadyOrEnded(station);
    } catch (IOException e) {
      station.process().signal("QUIT");
      TimeUnit.SECONDS.sleep(1);
      note(stations.indexOf(station), e.getMessage() + ", its threads are in the log");
      String unused = station.restart(Station.Oddity.NONE);
      awaitReadyOrEnded(station);
    }
  }

  private void awaitReadyOrEnded(Station station) throws IOException, InterruptedException {
    Until.holds(
        "a gateway is ready, see the logs in " + folder,
        // It may have come to its step before anybody could see it ready.
        () -> !station.process().isAlive() || station.isHeld() || isReady(station));
  }

  private boolean isReady(Station station) throws IOException, InterruptedException {
    return get(station.adminPort(), "/readyz") == 200;
  }

  private int get(int port, String path) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(Duration.ofSeconds(2))
            .build();
    return http.send(request, BodyHandlers.discarding()).statusCode();
  }

  @Override
  public void close() throws IOException {
    for (Station station : stations) {
      station.close();
    }
    orders.close();
    store.close();
  }
}
