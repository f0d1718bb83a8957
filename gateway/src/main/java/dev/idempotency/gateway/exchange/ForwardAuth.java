package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.exchange.Authorizer.Decision.Allowed;
import dev.idempotency.gateway.exchange.Authorizer.Decision.Denied;
import dev.idempotency.gateway.exchange.Authorizer.Decision.Unavailable;
import dev.idempotency.gateway.http.AddressRanges;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Asks an HTTP service whether a caller may make a request: a GET with the request's own fields and
 * what it was for. 2xx is a yes, 401 and 403 are a no that the client gets as it is, and everything
 * else is no answer. Where requests go on while the service is away, they do not on an answer that
 * blames the question or sends it elsewhere (3xx, 4xx): the client can have written it so.
 *
 * <p>Threading: one for each route and event loop, used on that loop.
 */
public final class ForwardAuth implements Authorizer {

  /** Made here, whoever sent them before. */
  private static final Set<String> OWN = Set.of("x-forwarded-method", "x-forwarded-uri");

  /** Would change what the answer is, of a request that is not the client's. */
  private static final Set<String> CONDITIONS =
      Set.of(
          "if-match",
          "if-none-match",
          "if-modified-since",
          "if-unmodified-since",
          "if-range",
          "range");

  private final String route;
  private final ForwardAuthOptions options;
  private final Upstream upstream;
  private final Scheduler scheduler;
  private final ForwardedFields forwarded;
  private final ExchangeListener listener;
  private final Set<String> wanted;
  private final RememberedYes remembered;

  /** In the order in which their time is up, which is the same for all. */
  private final ArrayDeque<AuthorizationCall> calls = new ArrayDeque<>();

  private boolean watching;

  /**
   * @param route the route's name
   * @param keys where the route's keys come from: a key does not tell one caller from another
   * @param scope the parts that are read from the answer
   * @param upstream the service
   * @param trustedProxies whose word on the client's address is believed
   */
  public ForwardAuth(
      String route,
      ForwardAuthOptions options,
      KeyRule keys,
      List<ScopePart> scope,
      Upstream upstream,
      Scheduler scheduler,
      AddressRanges trustedProxies,
      ExchangeListener listener) {
    this.route = route;
    this.options = options;
    this.upstream = upstream;
    this.scheduler = scheduler;
    this.forwarded = new ForwardedFields(trustedProxies);
    this.listener = listener;
    this.wanted = wanted(options, scope);
    this.remembered = new RememberedYes(options.cache(), keys, scheduler);
  }

  private static Set<String> wanted(ForwardAuthOptions options, List<ScopePart> scope) {
    Set<String> names = new HashSet<>(options.copied());
    for (ScopePart part : scope) {
      if (part instanceof ScopePart.Authorized authorized) {
        names.add(authorized.name().toLowerCase(Locale.ROOT));
      }
    }
    return names;
  }

  @Override
  public Set<String> copied() {
    return options.copied();
  }

  @Override
  public void authorize(RequestHead head, Peer peer, Consumer<Decision> decided) {
    RequestHead question = question(head, peer);
    RememberedYes.Question asked = remembered.isOn() ? remembered.of(question, peer) : null;
    Headers answered = asked == null ? null : remembered.find(asked);
    if (answered != null) {
      listener.authorized(route, Word.REMEMBERED);
      decided.accept(new Allowed(answered));
      return;
    }
    ask(
        question,
        decision -> {
          forgetDecided();
          if (asked != null && decision instanceof Allowed allowed) {
            remembered.put(asked, allowed.answered());
          }
          listener.authorized(route, word(decision));
          decided.accept(decision);
        });
  }

  private static Word word(Decision decision) {
    if (decision instanceof Unavailable unavailable) {
      return unavailable.open() ? Word.LET_THROUGH : Word.UNAVAILABLE;
    }
    return decision instanceof Denied ? Word.DENIED : Word.ALLOWED;
  }

  private RequestHead question(RequestHead head, Peer peer) {
    Headers fields = forwarded.of(head, peer, 0).headers();
    ForwardedFields.remove(fields, OWN);
    ForwardedFields.remove(fields, CONDITIONS);
    fields.add("X-Forwarded-Method", head.method());
    fields.add("X-Forwarded-Uri", head.target());
    return new RequestHead("GET", options.path(), null, fields);
  }

  private void ask(RequestHead question, Consumer<Decision> decided) {
    long until = scheduler.nanoTime() + options.timeout().toNanos();
    AuthorizationCall call =
        new AuthorizationCall(upstream, question, options.open(), wanted, until, decided);
    calls.add(call);
    watch();
    call.begin();
  }

  /** One timer for all calls: most are answered long before it. */
  private void watch() {
    AuthorizationCall next = calls.peek();
    if (next != null && !watching) {
      watching = true;
      scheduler.schedule(
          this::endOverdue, Duration.ofNanos(Math.max(0, next.until() - scheduler.nanoTime())));
    }
  }

  private void endOverdue() {
    watching = false;
    forgetDecided();
    long now = scheduler.nanoTime();
    for (AuthorizationCall call = calls.peek();
        call != null && call.until() - now <= 0;
        call = calls.peek()) {
      calls.remove();
      call.overdue();
    }
    watch();
  }

  /** How many questions are held. */
  int held() {
    return calls.size();
  }

  /** What was answered need not be held, with its body, until its time would have been up. */
  private void forgetDecided() {
    for (AuthorizationCall call = calls.peek();
        call != null && call.isDecided();
        call = calls.peek()) {
      calls.remove();
    }
  }
}
