package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ProblemDetails;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;

/** The course of one exchange in time, told to the listener once when it ends. */
final class Course {

  private final Exchanges exchanges;
  private final RequestHead head;
  private final long began;
  private String route = "";
  private AnswerRule answers = AnswerRule.DEFAULT;
  private boolean derived;
  private long attempt;
  private long sentAt;
  private boolean sent;
  private long upstreamNanos;
  private long askedAt;
  private long storeNanos;
  private boolean ended;
  private boolean broken;
  private int brokenStatus;

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
    return exchanges.forwarded.of(head, peer, 0);
  }

  void route(Route taken) {
    route = taken.name();
    answers = taken.answers();
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

  /** An error of the gateway as the route says it. */
  Response render(ProblemDetails problem) {
    Response response = answers.render(problem, head.headers());
    mark(response.head().headers());
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
            route, result, status, attempt, derived, whole, upstreamNanos, storeNanos));
  }
}
