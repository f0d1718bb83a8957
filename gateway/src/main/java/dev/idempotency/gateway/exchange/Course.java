package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ProblemDetails;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;
import org.jspecify.annotations.Nullable;

/** The course of one exchange in time, told to the listener once when it ends. */
final class Course {

  private static final Headers NOTHING = new Headers();

  private final Exchanges exchanges;
  private final RequestHead head;
  private final long began;
  private String route = "";
  private AnswerRule answers = AnswerRule.DEFAULT;
  private boolean derived;

  /** For how many seconds it waits because it asked to; -1 where it did not. */
  private long applied = -1;

  private @Nullable Authorizer authorizer;
  private Headers granted = NOTHING;
  private long attempt;
  private long sentAt;
  private boolean sent;
  private long upstreamNanos;
  private long askedAt;
  private long storeNanos;
  private boolean ended;
  private boolean broken;
  private int brokenStatus;
  private @Nullable Result wouldBe;

  Course(Exchanges exchanges, RequestHead head) {
    this.exchanges = exchanges;
    this.head = head;
    this.began = exchanges.scheduler.nanoTime();
    exchanges.listener.opened();
  }

  RequestHead head() {
    return head;
  }

  /** The head as it goes upstream, of a request without protection. */
  RequestHead forwarded(Peer peer) {
    return forwarded(peer, 0);
  }

  /**
   * The head as it goes upstream.
   *
   * @param number the attempt's, or 0 for a request without protection
   */
  RequestHead forwarded(Peer peer, long number) {
    RequestHead sent = exchanges.forwarded.of(head, peer, number);
    if (authorizer != null) {
      // Also where the service was not asked: nobody but it may say what it says.
      ForwardedFields.remove(sent.headers(), authorizer.copied());
      granted.forEach(sent.headers()::add);
    }
    return sent;
  }

  void route(Route taken) {
    route = taken.name();
    answers = taken.answers();
    authorizer = taken.callers().authorizer();
  }

  /** What goes upstream in place of the client's own fields. */
  void grant(Headers fields) {
    granted = fields;
  }

  /** The request itself names its operation; its answers say so. */
  void derived() {
    derived = true;
  }

  /** Says in a response's fields that the key was derived, if it was. */
  void mark(Headers fields) {
    if (derived) {
      fields.set(ResponseFields.DERIVED, "true");
    }
  }

  /**
   * The request waits as long as it asked for.
   *
   * @param seconds what it gets
   */
  void applied(long seconds) {
    applied = seconds;
  }

  /** Says in an answer of the gateway that it waited as it was asked to (RFC 7240 §3). */
  void markApplied(Headers fields) {
    if (applied >= 0) {
      fields.add(Preference.APPLIED, "wait=" + applied);
    }
  }

  /** An error of the gateway as the route says it. */
  Response render(ProblemDetails problem) {
    Response response = answers.render(problem, head.headers());
    mark(response.head().headers());
    markApplied(response.head().headers());
    return response;
  }

  void asked() {
    askedAt = exchanges.scheduler.nanoTime();
  }

  void replied() {
    storeNanos += exchanges.scheduler.nanoTime() - askedAt;
  }

  void sent(long number) {
    attempt = number;
    sent = true;
    sentAt = exchanges.scheduler.nanoTime();
  }

  void received() {
    if (sent && upstreamNanos == 0) {
      upstreamNanos = Math.max(1, exchanges.scheduler.nanoTime() - sentAt);
    }
  }

  /** Answers a request that goes no further. */
  Exchange refuse(ClientStream client, Result result, Response response) {
    client.respond(response);
    end(result, response.status());
    return Exchange.ANSWERED;
  }

  /** Refuses a request that goes no further. */
  Exchange refuse(ClientStream client, Result result, ProblemDetails problem) {
    return refuse(client, result, render(problem));
  }

  /**
   * The request goes on although the gateway would have ended it, since its route only observes.
   * What is found out later counts.
   *
   * @param result what would have become of it; null where nothing stands against it after all
   */
  void observed(@Nullable Result result) {
    wouldBe = result;
  }

  /** Where nothing else came of it, it was a bad request that was answered so; 0 as in a cut. */
  void requestBroken(int status) {
    broken = true;
    brokenStatus = status;
  }

  /** Tells how it ended; only the first call counts. */
  void end(Result result, int status) {
    if (ended) {
      return;
    }
    ended = true;
    if (broken && result == Result.CLIENT_GONE) {
      tell(Result.BAD_REQUEST, brokenStatus == 0 ? status : brokenStatus);
    } else {
      tell(result, status);
    }
  }

  private void tell(Result result, int status) {
    long whole = exchanges.scheduler.nanoTime() - began;
    exchanges.listener.closed(
        head,
        new ExchangeListener.Summary(
            route, result, status, attempt, derived, whole, upstreamNanos, storeNanos, wouldBe));
  }
}
