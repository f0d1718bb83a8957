package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.HopByHop;
import dev.idempotency.gateway.http.ProblemDetails;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.IdempotencyKey.Reading;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Judges the head of one request on a route with keys: what key it has, who calls, how long it is.
 * Then opens its exchange.
 */
final class Guard {

  private final Exchanges exchanges;
  private final Route route;
  private final Course course;
  private final RequestHead head;
  private final long contentLength;
  private final Peer peer;
  private final ClientStream client;

  Guard(
      Exchanges exchanges,
      Route route,
      Course course,
      long contentLength,
      Peer peer,
      ClientStream client) {
    this.exchanges = exchanges;
    this.route = route;
    this.course = course;
    this.head = course.head();
    this.contentLength = contentLength;
    this.peer = peer;
    this.client = client;
  }

  Exchange open() {
    String nominated = nominated();
    if (nominated != null) {
      return course.refuse(
          client,
          Result.BAD_REQUEST,
          Problems.badRequest("The header Connection must not name " + nominated + "."));
    }
    Reading reading = KeyReader.inHead(route.keys(), head);
    if (reading instanceof Reading.Malformed malformed) {
      return refuse(Result.KEY_INVALID, Problems.keyInvalid(route.keys(), malformed.reason()));
    }
    if (reading instanceof Reading.Present present) {
      KeyTime.Refusal refusal =
          KeyTime.refusal(route.keys(), present.key(), head.headers(), exchanges.scheduler);
      return refusal == null ? admit(present.key()) : refuse(refusal.result(), refusal.problem());
    }
    if (route.keys().looksIntoBodies() || route.keys().derives()) {
      // The body may have the key, or be it; whose it is must be known all the same.
      return admit(null);
    }
    return route.keying() == Route.Keying.OPTIONAL
        ? admit(null)
        : refuse(Result.KEY_MISSING, Problems.keyMissing(route.keys()));
  }

  private Exchange admit(@Nullable IdempotencyKey key) {
    boolean keyed = key != null || route.keys().looksIntoBodies() || route.keys().derives();
    if (Inquiry.isDue(route.callers(), keyed)) {
      return inquire(key, keyed);
    }
    return keyed ? admitted(key, true, identify()) : passThrough();
  }

  /** Asks others first; nothing is read and nothing is stored until they have answered. */
  private Exchange inquire(@Nullable IdempotencyKey key, boolean keyed) {
    PendingExchange pending = new PendingExchange(exchanges, course, client);
    new Inquiry(
            exchanges,
            route.callers(),
            course,
            peer,
            keyed,
            admission -> pending.open(() -> admitted(key, keyed, admission)))
        .begin();
    return pending.current();
  }

  private Admission identify() {
    IdentityReader reader = new IdentityReader(head.headers(), peer, exchanges.proxied, null, null);
    return reader.read(route.callers().scope());
  }

  private Exchange passThrough() {
    return PassThroughExchange.open(route, course, contentLength, peer, client);
  }

  /**
   * @param keyed whether the request has a key, or may turn out to have one
   */
  private Exchange admitted(@Nullable IdempotencyKey key, boolean keyed, Admission admission) {
    if (admission instanceof Admission.Refused refused) {
      return refuse(refused.result(), refused.problem());
    } else if (admission instanceof Admission.Denied denied) {
      return refuse(Result.DENIED, denied.response());
    } else if (!keyed) {
      return passThrough();
    }
    return contentLength > route.requestLimit()
        ? refuse(Result.TOO_LARGE, Problems.bodyTooLarge(route.requestLimit()))
        : keyed(new Claimant(route, ((Admission.Admitted) admission).caller(), key));
  }

  private Exchange keyed(Claimant claimant) {
    // Without content there is nothing to stream, and everything is known; without a key nothing
    // is known before the body is whole.
    KeyedExchange keyed =
        route.streamsRequest() && contentLength != 0 && !claimant.isDerived()
            ? new UploadExchange(exchanges, claimant, course, contentLength, peer, client)
            : new GatheredExchange(exchanges, claimant, course, contentLength, peer, client);
    exchanges.opened(keyed);
    keyed.begin();
    return keyed;
  }

  private Exchange refuse(Result result, ProblemDetails problem) {
    return refuse(result, course.render(problem));
  }

  /** Refuses; a route that only observes lets the request pass as if there were no gateway. */
  private Exchange refuse(Result result, Response response) {
    if (route.observe()) {
      course.observed(result);
      return passThrough();
    }
    return course.refuse(client, result, response);
  }

  /** The field of this route's key or scope that the sender wants to be removed; null: none. */
  private @Nullable String nominated() {
    Headers headers = head.headers();
    if (!headers.contains("Connection")) {
      return null;
    }
    List<String> lines = headers.all("Connection");
    for (KeySource source : route.keys().sources()) {
      if (source instanceof KeySource.Header header
          && HopByHop.isNominatedInAnySpelling(lines, header.name())) {
        return header.name();
      }
    }
    KeyRule.KeyAge age = route.keys().age();
    String firstSent = age == null ? null : age.firstSent();
    if (firstSent != null && HopByHop.isNominatedInAnySpelling(lines, firstSent)) {
      return firstSent;
    }
    for (ScopePart part : route.callers().scope()) {
      String name = part.field();
      if (name != null && HopByHop.isNominatedInAnySpelling(lines, name)) {
        return name;
      }
    }
    return null;
  }
}
