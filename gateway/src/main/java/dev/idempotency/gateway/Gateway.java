package dev.idempotency.gateway;

import dev.idempotency.gateway.config.Configuration;
import dev.idempotency.gateway.config.HostAndPort;
import dev.idempotency.gateway.config.Listener;
import dev.idempotency.gateway.exchange.BodyBudget;
import dev.idempotency.gateway.exchange.ExchangeListener;
import dev.idempotency.gateway.exchange.Exchanges;
import dev.idempotency.gateway.operations.AccessLog;
import dev.idempotency.gateway.operations.AdminServer;
import dev.idempotency.gateway.operations.FailureLog;
import dev.idempotency.gateway.operations.GatewayMetrics;
import dev.idempotency.gateway.operations.Listeners;
import dev.idempotency.gateway.operations.Logging;
import dev.idempotency.gateway.operations.OperationsApi;
import dev.idempotency.gateway.operations.Readiness;
import dev.idempotency.gateway.server.HttpServer;
import dev.idempotency.gateway.transport.TlsFileException;
import dev.idempotency.gateway.transport.Transport;
import dev.idempotency.gateway.upstream.HttpUpstream;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A running gateway: wires the parts, starts them, drains and stops them. */
final class Gateway implements AutoCloseable {

  private static final Duration SETTLING = Duration.ofSeconds(2);
  private static final long PAUSE_MILLIS = 10;

  private final Configuration configuration;
  private final BodyBudget budget;
  private final BodyBudget backlog;
  private final MultiThreadIoEventLoopGroup group;
  private final Stores stores;
  private final OutgoingTls tls;
  private final RouteCallers callers;
  private final EventLoops loops;
  private final HttpServer server;
  private final AdminServer admin;
  private final StoreWatch watch;
  private final List<Channel> listeners = new ArrayList<>();
  private final Channel adminListener;
  private volatile boolean draining;

  private Gateway(
      Configuration configuration,
      String version,
      Transport transport,
      LongSupplier wallClock,
      List<ExchangeListener> others)
      throws StartupException {
    this.configuration = configuration;
    // First, because it may refuse, and nothing has been started yet.
    this.stores = new Stores(configuration);
    this.tls = new OutgoingTls(configuration);
    GatewayMetrics metrics = new GatewayMetrics(version);
    ExchangeListener heard = listeners(configuration, metrics, others);
    this.callers = RouteCallers.open(configuration, heard);
    this.group = transport.group(configuration.threads(), "gateway");
    this.budget = new BodyBudget(configuration.limits().bodyBudget());
    this.backlog = new BodyBudget(configuration.limits().backlog());
    this.loops =
        new EventLoops(
            configuration,
            group,
            transport,
            stores,
            tls,
            budget,
            backlog,
            callers,
            wallClock,
            heard);
    this.server =
        new HttpServer(
            transport, group, EdgeOptions.server(configuration), loops::exchanges, heard::bug);
    OperationsApi operations =
        new OperationsApi(
            RouteRules.operators(configuration), loops.routes(), loops::store, metrics);
    this.admin = new AdminServer(transport, group, metrics, this::readiness, operations);
    this.watch =
        new StoreWatch(stores, group.next(), () -> onLoops(Exchanges::retryDeferredWrites));
    describe(metrics, budget);
    try {
      this.adminListener = bind("admin", configuration.admin(), admin::bind);
      listen(configuration.listen());
    } catch (StartupException e) {
      stop();
      throw e;
    }
    watch.start();
    sweep(metrics);
    ScopeNotes.log(configuration);
  }

  private static ExchangeListener listeners(
      Configuration configuration, GatewayMetrics metrics, List<ExchangeListener> others) {
    List<ExchangeListener> heard = new ArrayList<>(List.of(metrics, new FailureLog()));
    if (configuration.log().access()) {
      heard.add(new AccessLog(Logging.Format.valueOf(configuration.log().format().name())));
    }
    heard.addAll(others);
    return Listeners.of(heard);
  }

  /** One loop of a gateway looks for operations that are overdue. */
  private void sweep(GatewayMetrics metrics) {
    if (configuration.sweepEvery().isZero()) {
      return;
    }
    Map.Entry<EventLoop, Exchanges> first = loops.exchanges().entrySet().iterator().next();
    first
        .getKey()
        .execute(() -> first.getValue().sweep(configuration.sweepEvery(), metrics::swept));
  }

  /** Shows the metrics where their numbers are. */
  private void describe(GatewayMetrics metrics, BodyBudget budget) {
    configuration.routes().forEach(route -> metrics.route(route.name()));
    metrics.bodies(budget);
    metrics.deferredBytes(backlog::used);
    metrics.storeHealth(stores);
    metrics.tokenKeys(callers::keysAgeSeconds);
    metrics.readiness(this::readiness);
    metrics.clientConnections(server::connections);
    metrics.tls(server::certificateExpires, server::handshakeFailures, server::reloadFailures);
    loops.exchanges().values().forEach(own -> metrics.deferredWrites(own::deferredWrites));
    for (List<HttpUpstream> pools : loops.upstreams().values()) {
      for (HttpUpstream pool : pools) {
        metrics.upstream(
            pool.name(), pool::connections, pool::idleConnections, pool::waitingRequests);
        metrics.upstreamAddresses(
            pool.name(),
            pool::addresses,
            pool::ejectedAddresses,
            pool::unhealthyAddresses,
            pool::ejections,
            pool::connectFailures);
      }
    }
  }

  /** Starts a gateway; it answers when this returns. */
  static Gateway start(Configuration configuration, String version) throws StartupException {
    return start(configuration, version, Transport.best());
  }

  /** Starts a gateway on a transport other than the best one here. */
  static Gateway start(Configuration configuration, String version, Transport transport)
      throws StartupException {
    return start(configuration, version, transport, LoopScheduler.MACHINE, List.of());
  }

  /**
   * Starts a gateway that others listen to as well.
   *
   * @param wallClock milliseconds since 1970, as exchanges have them
   */
  static Gateway start(
      Configuration configuration,
      String version,
      Transport transport,
      LongSupplier wallClock,
      List<ExchangeListener> others)
      throws StartupException {
    return new Gateway(configuration, version, transport, wallClock, others);
  }

  private void listen(List<Listener> wanted) throws StartupException {
    for (Listener listener : wanted) {
      String setting = wanted.size() == 1 ? "listen" : "listen[" + listeners.size() + "]";
      listeners.add(
          bind(
              setting,
              listener.address(),
              address -> server.bind(EdgeOptions.listener(listener, address))));
    }
  }

  /** Listens, or says in one line why not. */
  private interface Binder {
    ChannelFuture bind(InetSocketAddress address) throws TlsFileException;
  }

  private static Channel bind(String setting, HostAndPort where, Binder binder)
      throws StartupException {
    InetSocketAddress address = new InetSocketAddress(where.host(), where.port());
    if (address.isUnresolved()) {
      throw new StartupException(
          setting + ": " + where + " (expected: an address of this machine, no such host)");
    }
    ChannelFuture bound;
    try {
      bound = binder.bind(address).awaitUninterruptibly();
    } catch (TlsFileException e) {
      throw new StartupException(setting + ": " + where + " tls: " + e.getMessage());
    }
    if (!bound.isSuccess()) {
      throw new StartupException(
          setting
              + ": "
              + where
              + " can't be listened on: "
              + bound.cause().getMessage()
              + " (choose another"
              // No flag stands for one of several.
              + (setting.endsWith("]") ? "" : " with --" + setting + " HOST:PORT")
              + ", or stop what listens there)");
    }
    return bound.channel();
  }

  /** The port of the first listener. */
  int port() {
    return ports().get(0);
  }

  /** The ports that clients connect to, in the order of the configuration. */
  List<Integer> ports() {
    return listeners.stream().map(Gateway::portOf).toList();
  }

  private static int portOf(Channel listener) {
    return ((InetSocketAddress) listener.localAddress()).getPort();
  }

  /** Bytes of bodies that are held at the moment. */
  long heldBytes() {
    return budget.used();
  }

  /** The port of metrics and health. */
  int adminPort() {
    return portOf(adminListener);
  }

  /** The one line that is printed at start. */
  String describe() {
    return "listening on "
        + places()
        + ", admin on "
        + new HostAndPort(configuration.admin().host(), adminPort())
        + ", upstream "
        + configuration.upstreams().values().stream()
            .flatMap(
                upstream ->
                    upstream.addresses().stream()
                        .map(address -> upstream.scheme() + "://" + address))
            .collect(Collectors.joining(", "))
        + ", store "
        + stores.describe();
  }

  private String places() {
    List<Listener> wanted = configuration.listen();
    return IntStream.range(0, wanted.size())
        .mapToObj(
            i ->
                (wanted.get(i).tls() == null ? "http://" : "https://")
                    + new HostAndPort(wanted.get(i).address().host(), ports().get(i)))
        .collect(Collectors.joining(", "));
  }

  /**
   * Stops: accepts nothing more, lets what is in flight finish within the configured time, marks
   * the rest unknown, and closes.
   */
  @Override
  public void close() {
    draining = true;
    // Who asks for readiness sends elsewhere from now on; what comes meanwhile is served.
    pause(configuration.drainDelay());
    onLoops(Exchanges::stopSweeping);
    listeners.stream().map(Channel::close).toList().forEach(ChannelFuture::awaitUninterruptibly);
    server.drain();
    onLoops(Exchanges::hurryDeferredWrites);
    await(configuration.drain(), () -> isQuiet() && isWritten());
    onLoops(Exchanges::abandon);
    await(SETTLING, this::isQuiet);
    await(SETTLING, this::isWritten);
    stop();
  }

  private static void pause(Duration delay) {
    await(delay, () -> false);
  }

  private boolean isQuiet() {
    return server.connections() == 0 && underWay() == 0;
  }

  /** How many exchanges with a key are under way. */
  int underWay() {
    return sum(Exchanges::underWay);
  }

  /** How many duplicates wait for an operation in flight. */
  int waitingDuplicates() {
    return sum(Exchanges::waitingDuplicates);
  }

  private boolean isWritten() {
    return deferredWrites() == 0;
  }

  /** How many writes to the store wait to be tried again. */
  int deferredWrites() {
    return sum(Exchanges::deferredWrites);
  }

  private Readiness.State readiness() {
    boolean up = stores.reachable();
    return new Readiness.State(up && !draining, up, stores.detail(), stores.findings(), draining);
  }

  private void stop() {
    watch.stop();
    tls.close();
    callers.close();
    server.close();
    admin.close();
    for (Map.Entry<EventLoop, List<HttpUpstream>> own : loops.upstreams().entrySet()) {
      own.getKey().execute(() -> own.getValue().forEach(HttpUpstream::close));
    }
    CompletableFuture.allOf(
            stores.connections().stream()
                .map(store -> store.close().toCompletableFuture())
                .toArray(CompletableFuture<?>[]::new))
        .completeOnTimeout(null, 2, TimeUnit.SECONDS)
        .join();
    group.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly(3, TimeUnit.SECONDS);
    stores.stopWorkers();
  }

  private void onLoops(java.util.function.Consumer<Exchanges> task) {
    loops.exchanges().forEach((loop, own) -> loop.execute(() -> task.accept(own)));
  }

  private int sum(ToIntFunction<Exchanges> count) {
    int sum = 0;
    for (Map.Entry<EventLoop, Exchanges> own : loops.exchanges().entrySet()) {
      sum +=
          own.getKey()
              .submit(() -> count.applyAsInt(own.getValue()))
              .awaitUninterruptibly()
              .getNow();
    }
    return sum;
  }

  /** Looks again and again; the root may block. */
  private static void await(Duration most, java.util.function.BooleanSupplier condition) {
    long until = System.nanoTime() + most.toNanos();
    while (!condition.getAsBoolean() && System.nanoTime() < until) {
      try {
        Thread.sleep(PAUSE_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
