package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.AddressRanges;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.HopByHop;
import dev.idempotency.gateway.http.ProblemDetails;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.IdempotencyStore;
import dev.idempotency.gateway.idempotency.OperationId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The exchanges of one event loop: judges the head of each request and opens the story that it
 * takes.
 *
 * <p>Threading: everything happens on that event loop.
 */
public final class Exchanges {

  private static final int MOST_DEFERRED = 10_000;
  private static final int MOST_WAITERS = 1_000;
  private static final Set<String> PAGE_METHODS = Set.of("GET", "HEAD");

  private final List<Route> routes;
  private final Response page;
  private final Set<KeyedExchange> undecided = new HashSet<>();
  final IdempotencyStore store;
  final Scheduler scheduler;
  final BodyBudget budget;
  final ExchangeListener listener;
  final ForwardedFields forwarded;
  final Leases leases;
  final DeferredWrites deferred;
  private int waiters;
  private boolean stopping;

  /**
   * @param routes tried in this order
   * @param page what is answered at {@link ProblemDetails#PAGE}
   * @param trustedProxies whose word on the client's address is believed
   */
  public Exchanges(
      List<Route> routes,
      Response page,
      IdempotencyStore store,
      Scheduler scheduler,
      BodyBudget budget,
      AddressRanges trustedProxies,
      ExchangeListener listener) {
    this.routes = List.copyOf(routes);
    this.page = page;
    this.store = store;
    this.scheduler = scheduler;
    this.budget = budget;
    this.listener = listener;
    this.forwarded = new ForwardedFields(trustedProxies);
    this.leases = new Leases(scheduler, listener);
    this.deferred = new DeferredWrites(store, scheduler, listener, MOST_DEFERRED);
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
      return course.refuse(
          client,
          Result.PASSED,
          Response.of(page.status(), page.head().headers().copy(), page.body()));
    }
    Route route = routeOf(head);
    if (route == null) {
      return course.refuse(client, Result.NO_ROUTE, Problems.noRoute());
    }
    course.route(route.name());
    if (route.keying() == Route.Keying.OFF || !route.methods().contains(head.method())) {
      return route.websocket() && WebSocketUpgrade.isAskedFor(head, contentLength, peer)
          ? PassThroughExchange.upgrade(route, course, peer, client)
          : PassThroughExchange.open(route, course, contentLength, peer, client);
    }
    return guard(head, contentLength, peer, client, course, route);
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

  private Exchange guard(
      RequestHead head,
      long contentLength,
      Peer peer,
      ClientStream client,
      Course course,
      Route route) {
    String nominated = nominated(head.headers(), route);
    if (nominated != null) {
      Response problem =
          Problems.badRequest("The header Connection must not name " + nominated + ".");
      return course.refuse(client, Result.BAD_REQUEST, problem);
    }
    IdempotencyKey.Reading reading = IdempotencyKey.read(head.headers().all(route.keyHeader()));
    if (reading instanceof IdempotencyKey.Reading.Malformed malformed) {
      Response problem = Problems.keyInvalid(route.keyHeader(), malformed.reason());
      return course.refuse(client, Result.KEY_INVALID, problem);
    }
    if (!(reading instanceof IdempotencyKey.Reading.Present present)) {
      return route.keying() == Route.Keying.OPTIONAL
          ? PassThroughExchange.open(route, course, contentLength, peer, client)
          : course.refuse(client, Result.KEY_MISSING, Problems.keyMissing(route.keyHeader()));
    }
    List<@Nullable String> identity = new ArrayList<>(2);
    Response refusal = identify(head.headers(), peer, route, identity);
    if (refusal != null) {
      Result result = refusal.status() == 401 ? Result.IDENTITY_MISSING : Result.BAD_REQUEST;
      return course.refuse(client, result, refusal);
    }
    if (contentLength > route.requestLimit()) {
      Response problem = Problems.bodyTooLarge(route.requestLimit());
      return course.refuse(client, Result.TOO_LARGE, problem);
    }
    OperationId id = OperationId.of(route.name(), identity, present.key());
    // Without content there is nothing to stream, and everything is known.
    KeyedExchange keyed =
        route.streamsRequest() && contentLength != 0
            ? new UploadExchange(this, route, course, id, contentLength, peer, client)
            : new GatheredExchange(this, route, course, id, contentLength, peer, client);
    undecided.add(keyed);
    keyed.begin();
    return keyed;
  }

  /** The field of this route's key or scope that the sender wants to be removed; null: none. */
  private static @Nullable String nominated(Headers headers, Route route) {
    if (!headers.contains("Connection")) {
      return null;
    }
    List<String> lines = headers.all("Connection");
    if (HopByHop.isNominatedInAnySpelling(lines, route.keyHeader())) {
      return route.keyHeader();
    }
    for (ScopePart part : route.scope()) {
      if (part instanceof ScopePart.Header header
          && HopByHop.isNominatedInAnySpelling(lines, header.name())) {
        return header.name();
      }
    }
    return null;
  }

  /** Gathers the parts of the caller's identity; gives the refusal where one is missing. */
  private static @Nullable Response identify(
      Headers headers, Peer peer, Route route, List<@Nullable String> identity) {
    if (route.scope().isEmpty()) {
      return identify(headers, "Authorization", false, identity);
    }
    for (ScopePart part : route.scope()) {
      Response refusal =
          part instanceof ScopePart.Header header
              ? identify(headers, header.name(), true, identity)
              : identify(peer, identity);
      if (refusal != null) {
        return refusal;
      }
    }
    return null;
  }

  private static @Nullable Response identify(
      Headers headers, String name, boolean demanded, List<@Nullable String> identity) {
    List<String> values = headers.all(name);
    if (values.size() > 1) {
      return Problems.badRequest("The header " + name + " is sent " + values.size() + " times.");
    }
    String value = values.isEmpty() ? null : values.get(0);
    if (demanded && (value == null || value.isBlank())) {
      return Problems.identityMissing(name);
    }
    identity.add(value);
    return null;
  }

  private static @Nullable Response identify(Peer peer, List<@Nullable String> identity) {
    if (peer.subject() == null) {
      return Problems.certificateMissing();
    }
    identity.add(peer.subject());
    return null;
  }

  void decided(KeyedExchange exchange) {
    undecided.remove(exchange);
  }

  /** Takes a place to wait in; false where none is left. */
  boolean takeWaiter() {
    if (waiters >= MOST_WAITERS) {
      return false;
    }
    waiters++;
    return true;
  }

  void giveWaiterBack() {
    waiters--;
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

  /** How many exchanges with a key are under way. */
  public int underWay() {
    return undecided.size() + leases.underWay().size();
  }

  /**
   * Ends what is still under way: what surely was not sent is released and answered 503, what was
   * sent is marked unknown at once. Afterwards every new request is refused.
   */
  public void abandon() {
    stopping = true;
    List.copyOf(undecided).forEach(KeyedExchange::abandon);
    leases.underWay().forEach(Attempt::abandon);
  }
}
