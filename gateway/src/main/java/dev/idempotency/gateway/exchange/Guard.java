package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.HopByHop;
import dev.idempotency.gateway.http.ProblemDetails;
import dev.idempotency.gateway.http.RequestHead;
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
      return refuse(
          Result.BAD_REQUEST,
          Problems.badRequest("The header Connection must not name " + nominated + "."));
    }
    String keyHeader = keyHeader();
    Reading reading = IdempotencyKey.read(head.headers().all(keyHeader));
    if (reading instanceof Reading.Malformed malformed) {
      return refuse(Result.KEY_INVALID, Problems.keyInvalid(keyHeader, malformed.reason()));
    }
    if (reading instanceof Reading.Present present) {
      return admit(present.key());
    }
    return route.keying() == Route.Keying.OPTIONAL
        ? admit(null)
        : refuse(Result.KEY_MISSING, Problems.keyMissing(keyHeader));
  }

  private Exchange admit(@Nullable IdempotencyKey key) {
    if (Inquiry.isDue(route.callers(), key != null)) {
      return inquire(key);
    }
    return key == null ? passThrough() : admitted(key, identify());
  }

  /** Asks others first; nothing is read and nothing is stored until they have answered. */
  private Exchange inquire(@Nullable IdempotencyKey key) {
    PendingExchange pending = new PendingExchange(exchanges, course, client);
    new Inquiry(
            exchanges,
            route.callers(),
            course,
            peer,
            key != null,
            admission -> pending.open(() -> admitted(key, admission)))
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

  private Exchange admitted(@Nullable IdempotencyKey key, Admission admission) {
    if (admission instanceof Admission.Refused refused) {
      return refuse(refused.result(), refused.problem());
    } else if (admission instanceof Admission.Denied denied) {
      return course.refuse(client, Result.DENIED, denied.response());
    } else if (key == null) {
      return passThrough();
    }
    return contentLength > route.requestLimit()
        ? refuse(Result.TOO_LARGE, Problems.bodyTooLarge(route.requestLimit()))
        : keyed(new Claimant(route, ((Admission.Admitted) admission).caller(), key));
  }

  private Exchange keyed(Claimant claimant) {
    // Without content there is nothing to stream, and everything is known.
    KeyedExchange keyed =
        route.streamsRequest() && contentLength != 0
            ? new UploadExchange(exchanges, claimant, course, contentLength, peer, client)
            : new GatheredExchange(exchanges, claimant, course, contentLength, peer, client);
    exchanges.opened(keyed);
    keyed.begin();
    return keyed;
  }

  private Exchange refuse(Result result, ProblemDetails problem) {
    return course.refuse(client, result, problem);
  }

  private String keyHeader() {
    return route.keys().sources().get(0) instanceof KeySource.Header header ? header.name() : "";
  }

  /** The field of this route's key or scope that the sender wants to be removed; null: none. */
  private @Nullable String nominated() {
    Headers headers = head.headers();
    if (!headers.contains("Connection")) {
      return null;
    }
    List<String> lines = headers.all("Connection");
    String keyHeader = keyHeader();
    if (HopByHop.isNominatedInAnySpelling(lines, keyHeader)) {
      return keyHeader;
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
