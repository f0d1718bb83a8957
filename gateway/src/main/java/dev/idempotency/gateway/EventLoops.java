package dev.idempotency.gateway;

import dev.idempotency.gateway.config.Configuration;
import dev.idempotency.gateway.config.Upstream;
import dev.idempotency.gateway.exchange.BodyBudget;
import dev.idempotency.gateway.exchange.ExchangeListener;
import dev.idempotency.gateway.exchange.Exchanges;
import dev.idempotency.gateway.exchange.PathPattern;
import dev.idempotency.gateway.exchange.PublicPage;
import dev.idempotency.gateway.exchange.Route;
import dev.idempotency.gateway.exchange.WaitingPlaces;
import dev.idempotency.gateway.fingerprint.RequestFingerprinter;
import dev.idempotency.gateway.http.AddressRanges;
import dev.idempotency.gateway.idempotency.Fingerprinter;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.OutcomePolicy;
import dev.idempotency.gateway.operations.Policy;
import dev.idempotency.gateway.operations.PolicyRoute;
import dev.idempotency.gateway.transport.Transport;
import dev.idempotency.gateway.upstream.HealthBoard;
import dev.idempotency.gateway.upstream.HttpUpstream;
import dev.idempotency.gateway.upstream.UpstreamListener;
import dev.idempotency.gateway.upstream.UpstreamOptions;
import dev.idempotency.gateway.upstream.UpstreamTls;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.resolver.AddressResolverGroup;
import io.netty.util.concurrent.EventExecutor;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What each event loop has of its own: exchanges, pools of upstream connections, a store. Loops
 * share nothing that has to be locked.
 */
final class EventLoops {

  private final Map<EventLoop, Exchanges> exchanges = new LinkedHashMap<>();
  private final Map<EventLoop, List<HttpUpstream>> upstreams = new LinkedHashMap<>();
  private final Map<EventExecutor, OperationStore> stores = new HashMap<>();
  private List<Route> routes = List.of();

  EventLoops(
      Configuration configuration,
      EventLoopGroup group,
      Transport transport,
      Stores stores,
      OutgoingTls tls,
      BodyBudget budget,
      BodyBudget backlog,
      RouteCallers callers,
      LongSupplier wallClock,
      ExchangeListener listener) {
    AddressResolverGroup<InetSocketAddress> resolver =
        new NameResolvers(transport, resolveInterval(configuration));
    Map<String, HealthBoard> boards = new HashMap<>();
    UpstreamListener log = new UpstreamLog();
    List<Fingerprinter> fingerprinters = fingerprinters(configuration);
    WaitingPlaces places = new WaitingPlaces(configuration.limits().waiters());
    @Nullable PublicPage page = null;
    for (EventExecutor executor : group) {
      EventLoop loop = (EventLoop) executor;
      Map<String, HttpUpstream> pools = new LinkedHashMap<>();
      for (Upstream upstream : configuration.upstreams().values()) {
        UpstreamOptions options = EdgeOptions.upstream(upstream, configuration.threads());
        HealthBoard board = boards.computeIfAbsent(upstream.name(), name -> new HealthBoard());
        UpstreamTls own = tls.of(upstream.name());
        pools.put(
            upstream.name(), new HttpUpstream(options, own, loop, transport, resolver, board, log));
      }
      upstreams.put(loop, List.copyOf(pools.values()));
      routes = routes(configuration, fingerprinters, callers, loop, pools);
      if (exchanges.isEmpty()) {
        page = policy(configuration, routes);
      }
      OperationStore store = stores.open(loop, listener::responseUnreadable);
      this.stores.put(loop, store);
      exchanges.put(
          loop,
          new Exchanges(
              routes,
              page,
              store,
              new LoopScheduler(loop, wallClock),
              budget,
              backlog,
              places,
              AddressRanges.of(configuration.trustedProxies()),
              listener));
    }
  }

  /** All upstreams share the resolvers: an answer is kept as long as the strictest of them says. */
  private static Duration resolveInterval(Configuration configuration) {
    return configuration.upstreams().values().stream()
        .map(Upstream::resolve)
        .min(Comparator.naturalOrder())
        .orElse(Duration.ZERO);
  }

  private static List<Fingerprinter> fingerprinters(Configuration configuration) {
    return configuration.routes().stream()
        .<Fingerprinter>map(
            route ->
                RequestFingerprinter.create(
                    RouteRules.fingerprint(
                        RouteRules.counted(route), configuration.secrets(), route.requestLimit())))
        .toList();
  }

  private static List<Route> routes(
      Configuration configuration,
      List<Fingerprinter> fingerprinters,
      RouteCallers callers,
      EventLoop loop,
      Map<String, HttpUpstream> pools) {
    List<Route> routes = new ArrayList<>();
    for (int i = 0; i < configuration.routes().size(); i++) {
      Configuration.Route route = configuration.routes().get(i);
      HttpUpstream pool = pools.get(route.upstream());
      if (pool == null) {
        throw new IllegalStateException("the configuration was not validated");
      }
      Route.Safety safety = RouteRules.safety(route.safety(), pools);
      routes.add(route(route, callers.of(i, loop, pools), fingerprinters.get(i), pool, safety));
    }
    return routes;
  }

  private static Route route(
      Configuration.Route route,
      Route.Callers callers,
      Fingerprinter fingerprinter,
      HttpUpstream pool,
      Route.Safety safety) {
    return new Route(
        route.name(),
        route.methods(),
        PathPattern.of(route.path()),
        pool,
        Route.Keying.valueOf(route.idempotency().name()),
        route.observe(),
        RouteRules.keys(route),
        callers,
        fingerprinter,
        route.retention(),
        route.lease(),
        RouteRules.waiting(route.waiting()),
        route.unknown(),
        safety,
        route.storeOutage() == Configuration.StoreOutage.BYPASS,
        new OutcomePolicy(route.outcomes()),
        route.requestLimit(),
        route.responseLimit(),
        route.responseMode() == Configuration.BodyMode.STREAM,
        RouteRules.copy(route.copy()),
        RouteRules.answers(route),
        route.requestMode() == Configuration.BodyMode.STREAM,
        route.webSocket());
  }

  /** What clients may know, which the routes of every event loop say alike; null: nothing. */
  private static @Nullable PublicPage policy(Configuration configuration, List<Route> routes) {
    if (!configuration.discovery()) {
      return null;
    }
    List<PolicyRoute> listed = new ArrayList<>();
    for (int i = 0; i < routes.size(); i++) {
      Route route = routes.get(i);
      // A client must not rely on a route that only observes: its retries are executed again.
      boolean protects = route.keying() != Route.Keying.OFF && !route.observe();
      if (protects && configuration.routes().get(i).listed()) {
        listed.add(PolicyRoute.of(route));
      }
    }
    return new Policy(listed);
  }

  Exchanges exchanges(EventLoop loop) {
    Exchanges own = exchanges.get(loop);
    if (own == null) {
      throw new IllegalStateException("a loop of another group");
    }
    return own;
  }

  /** The routes as one of the loops has them. */
  List<Route> routes() {
    return routes;
  }

  OperationStore store(EventExecutor loop) {
    OperationStore own = stores.get(loop);
    if (own == null) {
      throw new IllegalStateException("a loop of another group");
    }
    return own;
  }

  Map<EventLoop, Exchanges> exchanges() {
    return exchanges;
  }

  Map<EventLoop, List<HttpUpstream>> upstreams() {
    return upstreams;
  }
}
