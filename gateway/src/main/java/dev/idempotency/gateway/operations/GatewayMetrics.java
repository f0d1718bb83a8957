package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.exchange.Authorizer;
import dev.idempotency.gateway.exchange.BodyBudget;
import dev.idempotency.gateway.exchange.ExchangeListener;
import dev.idempotency.gateway.exchange.Sweeper;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.StoreHealth;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts what exchanges do and shows it to Prometheus. All names begin with {@code gateway_} and
 * are stable; label values come from the configuration and from fixed lists, never from clients.
 *
 * <p>Counting writes plain counters, so that it costs next to nothing on the event loops; the
 * metrics library is not even loaded before the first scrape.
 *
 * <p>Threading: events come from any thread. Sources are added while the gateway starts. The
 * suppliers are asked on the thread that scrapes: where they read fields of an event loop the value
 * may be a moment old, which a gauge can live with.
 */
public final class GatewayMetrics implements ExchangeListener {

  private final String version;
  private @Nullable Exposition exposition;
  private final RouteCounts unrouted = new RouteCounts("");
  private volatile Map<String, RouteCounts> routes = Map.of();
  private final LongAdder opened = new LongAdder();
  private final LongAdder closed = new LongAdder();
  final LongAdder connectionsRefused = new LongAdder();
  final LongAdder deferred = new LongAdder();
  final LongAdder written = new LongAdder();
  final LongAdder dropped = new LongAdder();
  final LongAdder droppedResponses = new LongAdder();
  final LongAdder renewalFailures = new LongAdder();
  final LongAdder fenced = new LongAdder();
  final LongAdder storeFailures = new LongAdder();
  final LongAdder unreadableResponses = new LongAdder();
  final LongAdder bugs = new LongAdder();
  final Gauges gauges = new Gauges();

  /** What authorisation services said. */
  final Map<Asked, LongAdder> words = new ConcurrentHashMap<>();

  /** What upstreams said of operations whose outcome was unknown. */
  final Map<Probed, LongAdder> probes = new ConcurrentHashMap<>();

  final LongAdder sweeps = new LongAdder();

  /** What the latest sweep counted; null before the first. */
  volatile @Nullable Swept swept;

  /** One of few: routes come from the configuration, findings are three. */
  record Probed(String route, String finding) {}

  /**
   * What a sweep counted.
   *
   * @param counts by {@link Sweeper#AGES}
   */
  record Swept(Duration oldest, List<Long> counts) {}

  /** One of few: routes come from the configuration. */
  record Asked(String route, Authorizer.Word word) {}

  /** What operators did. */
  final Map<Operated, LongAdder> operated = new ConcurrentHashMap<>();

  /** One of few: both from fixed lists. */
  record Operated(String action, String result) {}

  /** Counts what an operator did, and how it was answered. */
  void operatorAction(String action, int status) {
    String result =
        switch (status) {
          case 200 -> "done";
          case 400 -> "invalid";
          case 401, 403 -> "denied";
          case 404 -> "not-found";
          case 409 -> "refused";
          default -> "failed";
        };
    operated.computeIfAbsent(new Operated(action, result), key -> new LongAdder()).increment();
  }

  /**
   * @param version the gateway's own, shown as a label
   */
  public GatewayMetrics(String version) {
    this.version = version;
  }

  /** Shows a route's series from the start. Exchanges of other routes count under "". */
  public synchronized void route(String name) {
    Map<String, RouteCounts> more = new LinkedHashMap<>(routes);
    more.putIfAbsent(name, RouteCounts.ofRoute(name));
    routes = more;
  }

  /** Shows the memory that bodies take. */
  public void bodies(BodyBudget budget) {
    gauges.bodies = budget;
  }

  /** Shows whether the store is up and the gateway is ready. */
  public void readiness(Readiness readiness) {
    gauges.readiness = readiness;
  }

  /** Shows open connections of clients. */
  public void clientConnections(IntSupplier connections) {
    gauges.clientConnections = connections;
  }

  /**
   * Shows TLS to clients; where there is none, nothing.
   *
   * @param expires when the first certificate expires; null where there is none
   * @param handshakes handshakes that failed
   * @param reloads changed files that were of no use
   */
  public void tls(
      Supplier<@Nullable Instant> expires, LongSupplier handshakes, LongSupplier reloads) {
    gauges.tls = new Gauges.Tls(expires, handshakes, reloads);
  }

  /**
   * Shows how old the keys of tokens are.
   *
   * @param age in seconds; -1 where they never were fetched
   */
  public void tokenKeys(LongSupplier age) {
    gauges.tokenKeysAge = age;
  }

  /** Shows the memory of responses that wait to be stored. */
  public void deferredBytes(LongSupplier bytes) {
    gauges.deferredBytes = bytes;
  }

  /** Shows what threatens the records, and what the store has thrown away. */
  public void storeHealth(StoreHealth health) {
    gauges.store = health;
  }

  /** Shows writes that wait to be tried again; called once for each event loop. */
  public void deferredWrites(IntSupplier writes) {
    gauges.deferredWrites.add(writes);
  }

  /**
   * Shows an upstream's connections; called once for each event loop, the sum is shown.
   *
   * @param open connections in all, those at rest included
   * @param idle connections at rest
   * @param waiting requests that wait for a connection
   */
  public void upstream(String name, IntSupplier open, IntSupplier idle, IntSupplier waiting) {
    gauges.upstreams.add(new Gauges.UpstreamPool(name, open, idle, waiting));
  }

  /**
   * Shows what is thought of an upstream's addresses; called once for each event loop. Of the
   * gauges the highest is shown, of the counts the sum.
   *
   * @param known addresses in all
   * @param ejected those that are passed over because requests to them fail
   * @param unhealthy those that fail their health checks
   * @param ejections how often one was ejected
   * @param connectFailures connections that could not be made
   */
  public void upstreamAddresses(
      String name,
      IntSupplier known,
      IntSupplier ejected,
      IntSupplier unhealthy,
      LongSupplier ejections,
      LongSupplier connectFailures) {
    gauges.addresses.add(
        new Gauges.UpstreamAddresses(name, known, ejected, unhealthy, ejections, connectFailures));
  }

  /**
   * All metrics as text. Takes some milliseconds, the first time some hundred: not for an event
   * loop.
   *
   * @param openMetrics whether in the OpenMetrics 1.0 format, else in Prometheus' text format 0.0.4
   */
  public byte[] scrape(boolean openMetrics) {
    return exposition().scrape(openMetrics);
  }

  /** Made at the first scrape: the start has no time for it. */
  private synchronized Exposition exposition() {
    Exposition made = exposition;
    if (made == null) {
      made = new Exposition(this, version);
      exposition = made;
    }
    return made;
  }

  Collection<RouteCounts> routes() {
    return routes.values();
  }

  RouteCounts unrouted() {
    return unrouted;
  }

  /** Never below 0: what is closed is read first. */
  long inFlight() {
    long before = closed.sum();
    return Math.max(0, opened.sum() - before);
  }

  @Override
  public void opened() {
    opened.increment();
  }

  @Override
  public void closed(RequestHead head, Summary summary) {
    closed.increment();
    @Nullable RouteCounts counts = routes.get(summary.route());
    (counts == null ? unrouted : counts).add(summary);
  }

  @Override
  public void connectionRefused() {
    connectionsRefused.increment();
  }

  @Override
  public void authorized(String route, Authorizer.Word word) {
    words.computeIfAbsent(new Asked(route, word), asked -> new LongAdder()).increment();
  }

  @Override
  public void probed(String route, String finding) {
    probes.computeIfAbsent(new Probed(route, finding), probed -> new LongAdder()).increment();
  }

  /** Takes what a sweep counted. */
  public void swept(Duration oldest, List<Long> counts) {
    sweeps.increment();
    swept = new Swept(oldest, List.copyOf(counts));
  }

  @Override
  public void storeWriteDeferred() {
    deferred.increment();
  }

  @Override
  public void deferredWriteEnded(boolean done) {
    (done ? written : dropped).increment();
  }

  @Override
  public void deferredResponseDropped() {
    droppedResponses.increment();
  }

  @Override
  public void renewalFailed() {
    renewalFailures.increment();
  }

  @Override
  public void fenced() {
    fenced.increment();
  }

  @Override
  public void storeFailed(String message) {
    storeFailures.increment();
  }

  @Override
  public void responseUnreadable(String message) {
    unreadableResponses.increment();
  }

  @Override
  public void bug(Throwable cause) {
    bugs.increment();
  }
}
