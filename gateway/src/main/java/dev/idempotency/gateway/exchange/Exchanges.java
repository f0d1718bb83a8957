package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.AddressRanges;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ProblemDetails;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.OperationStore;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The exchanges of one event loop: judges the head of each request and opens the story that it
 * takes.
 *
 * <p>Threading: everything happens on that event loop.
 */
public final class Exchanges {

  private static final int MOST_DEFERRED = 10_000;
  private static final Set<String> PAGE_METHODS = Set.of("GET", "HEAD");

  private final List<Route> routes;
  private final @Nullable PublicPage page;
  private final Set<KeyedExchange> undecided = new HashSet<>();
  private final Set<PendingExchange> pending = new HashSet<>();
  final OperationStore store;
  final Scheduler scheduler;
  final BodyBudget budget;

  /** What responses may take that are still to be stored, because the store was away. */
  final BodyBudget backlog;

  final ExchangeListener listener;
  final ForwardedFields forwarded;
  final Leases leases;
  final DeferredWrites deferred;
  final ReplayCharges replays;
  final WaitingRoom waiting;
  final Prober prober;

  /** Whether there are proxies that name callers, so that nobody else may. */
  final boolean proxied;

  private @Nullable Sweeper sweeper;
  private boolean stopping;

  /**
   * @param routes tried in this order
   * @param page what is answered at {@link ProblemDetails#PAGE}; null where nothing is there
   * @param backlog what responses may take, over all event loops, that are still to be stored
   * @param places where duplicates wait, over all event loops
   * @param trustedProxies whose word on the client's address is believed
   */
  public Exchanges(
      List<Route> routes,
      @Nullable PublicPage page,
      OperationStore store,
      Scheduler scheduler,
      BodyBudget budget,
      BodyBudget backlog,
      WaitingPlaces places,
      AddressRanges trustedProxies,
      ExchangeListener listener) {
    this.routes = List.copyOf(routes);
    this.page = page;
    this.store = store;
    this.scheduler = scheduler;
    this.budget = budget;
    this.backlog = backlog;
    this.listener = listener;
    this.forwarded = new ForwardedFields(trustedProxies);
    this.proxied = !trustedProxies.isEmpty();
    this.leases = new Leases(scheduler, listener);
    this.deferred = new DeferredWrites(store, scheduler, listener, MOST_DEFERRED);
    this.replays = new ReplayCharges(budget);
    this.prober = new Prober(this);
    this.waiting = new WaitingRoom(store, scheduler, listener, replays, places);
  }

  /**
   * Opens the exchange of a request whose head is there.
   *
   * @param contentLength the body's bytes, -1 where they are not announced, 0 without a body
   */
  public Exchange open(RequestHead head, long contentLength, Peer peer, ClientStream client) {
    Course course = new Course(this, head);
    if (stopping) {
      return course.refuse(client, Result.SHUTTING_DOWN, Problems.shuttingDown());
    }
    if (head.path().equals(ProblemDetails.PAGE) && PAGE_METHODS.contains(head.method())) {
      return page == null
          ? course.refuse(client, Result.NO_ROUTE, Problems.noRoute())
          : course.refuse(client, Result.PASSED, page.answer(head.headers()));
    }
    Route route = routeOf(head);
    if (route == null) {
      return course.refuse(client, Result.NO_ROUTE, Problems.noRoute());
    }
    course.route(route);
    if (route.keying() == Route.Keying.OFF || !route.methods().contains(head.method())) {
      return route.websocket() && WebSocketUpgrade.isAskedFor(head, contentLength, peer)
          ? PassThroughExchange.upgrade(route, course, peer, client)
          : PassThroughExchange.open(route, course, contentLength, peer, client);
    }
    return new Guard(this, route, course, contentLength, peer, client).open();
  }

  /**
   * Hears of a request that the edge answered by itself, so that it is counted and logged as others
   * are.
   *
   * @param method the method; empty where it is not known
   * @param target the target as it came; empty where it is not known
   */
  public void answered(String method, String target, Result result, int status) {
    int mark = target.indexOf('?');
    String before = mark < 0 ? target : target.substring(0, mark);
    // Another form of target has an authority, and maybe user information: not for the log.
    String path = before.startsWith("/") ? before : "";
    new Course(this, new RequestHead(method, path, null, new Headers())).end(result, status);
  }

  /** Hears of a connection that was closed because no place was left. */
  public void connectionRefused() {
    listener.connectionRefused();
  }

  /** The route of that name; null where there is none. */
  @Nullable Route route(String name) {
    for (Route route : routes) {
      if (route.name().equals(name)) {
        return route;
      }
    }
    return null;
  }

  /** The first route that keys the request, else the first that has its path. */
  private @Nullable Route routeOf(RequestHead head) {
    Route byPath = null;
    for (Route route : routes) {
      if (route.path().matches(head.path())) {
        if (route.takes(head.method())) {
          return route;
        }
        byPath = byPath == null ? route : byPath;
      }
    }
    return byPath;
  }

  void opened(KeyedExchange exchange) {
    undecided.add(exchange);
  }

  void decided(KeyedExchange exchange) {
    undecided.remove(exchange);
  }

  void opened(PendingExchange exchange) {
    pending.add(exchange);
  }

  void decided(PendingExchange exchange) {
    pending.remove(exchange);
  }

  /** How many duplicates wait for an operation in flight. */
  public int waitingDuplicates() {
    return waiting.waiting();
  }

  /**
   * Looks for overdue operations from now on, so that they heal before their clients ask.
   *
   * @param every the pause between two rounds; more than nothing
   * @param counted as of {@link Sweeper}
   */
  public void sweep(Duration every, BiConsumer<Duration, List<Long>> counted) {
    Sweeper started = new Sweeper(this, every, counted);
    sweeper = started;
    started.start();
  }

  /** Looks for them no longer. */
  public void stopSweeping() {
    Sweeper started = sweeper;
    if (started != null) {
      started.stop();
    }
  }

  /** How many writes to the store wait to be tried again. */
  public int deferredWrites() {
    return deferred.size();
  }

  /** The store is back: tries the writes that wait at once. */
  public void retryDeferredWrites() {
    deferred.retry();
  }

  /** The process ends soon: tries the writes that wait at once, and again in short intervals. */
  public void hurryDeferredWrites() {
    deferred.hurry();
  }

  /** How many exchanges with a key, or with a caller that is asked about, are under way. */
  public int underWay() {
    return pending.size() + undecided.size() + leases.underWay().size();
  }

  /**
   * Ends what is still under way: what surely was not sent is released and answered 503, what was
   * sent is marked unknown at once. Afterwards every new request is refused.
   */
  public void abandon() {
    stopping = true;
    List.copyOf(pending).forEach(PendingExchange::abandon);
    List.copyOf(undecided).forEach(KeyedExchange::abandon);
    leases.underWay().forEach(Attempt::abandon);
  }
}
