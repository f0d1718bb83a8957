package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ProblemDetails;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Fingerprints;
import dev.idempotency.gateway.idempotency.Outcome;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.StoredOperation;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The attempt that holds a reservation: forwards once, takes the response in and lets it be
 * settled. The lease is renewed for as long as the response is awaited.
 *
 * <p>A client that goes after its request was whole changes nothing: the exchange with the upstream
 * goes on at full speed. But a response that has begun gets {@link #LONGEST_UNHEARD} at most, since
 * a stream of events may never end; then the upstream is cut off and the record says that the
 * operation is done and its response not kept.
 */
final class Attempt implements Upstream.Acquirer, ResponseReceiver, Leases.Held {

  private enum Phase {
    /** Waits for a connection: surely nothing was sent. */
    CONNECTING,
    /** Has a connection and makes sure of the lease: surely nothing was sent. */
    SECURING,
    /** Bytes may have left; the response is awaited. */
    FORWARDED,
    /** The caller was told that the outcome is unknown; a late response is still welcome. */
    OVERDUE,
    /** The response is there before the request was whole; what the request was is awaited. */
    ANSWERED_EARLY,
    /** The response is there; the record is being written. */
    SETTLING,
    ENDED
  }

  private static final int MOST_TRIES = 3;

  /** For how long a response that began goes on without its client. */
  private static final Duration LONGEST_UNHEARD = Duration.ofMinutes(5);

  /** For how long the rest of a request is awaited that was answered early. */
  private static final Duration LONGEST_REST = Duration.ofSeconds(5);

  private final Exchanges exchanges;
  private final Route route;
  private final Course course;
  private final Renewals renewals;
  private final Incoming incoming;
  private final KeyedExchange keyed;
  private final Settling settling;
  private Phase phase = Phase.CONNECTING;
  private @Nullable UpstreamConnection connection;
  private int tries;
  private Headers trailers = new Headers();
  private boolean sealing;
  private boolean unheard;
  private long unheardSince;

  Attempt(
      Exchanges exchanges,
      Route route,
      Course course,
      Reservation reservation,
      Lease lease,
      KeyedExchange keyed) {
    this.exchanges = exchanges;
    this.route = route;
    this.course = course;
    this.renewals = new Renewals(exchanges, lease);
    this.incoming = new Incoming(exchanges, route, keyed, this::reservation, this::clientWritable);
    this.keyed = keyed;
    this.settling =
        new Settling(
            exchanges,
            route,
            course,
            reservation,
            renewals,
            incoming,
            keyed,
            this::leaveUnlessOverdue);
  }

  private Reservation reservation() {
    return settling.reservation();
  }

  void start() {
    exchanges.leases.add(this);
    connect();
  }

  private void connect() {
    phase = Phase.CONNECTING;
    route.upstream().acquire(this);
  }

  @Override
  public void acquired(UpstreamConnection acquired) {
    if (phase != Phase.CONNECTING) {
      acquired.giveBack();
      return;
    }
    connection = acquired;
    phase = Phase.SECURING;
    secure();
  }

  @Override
  public void refused(Upstream.Refusal refusal) {
    if (phase == Phase.CONNECTING) {
      boolean closing = refusal == Upstream.Refusal.CLOSED;
      withdraw(closing ? Result.SHUTTING_DOWN : Result.NOT_SENT, Problems.unreachable(refusal));
    }
  }

  /** Sends only on a lease that is surely alive; a process that was stopped may have lost it. */
  private void secure() {
    if (renewals.isSure()) {
      forward();
    } else if (++tries > MOST_TRIES) {
      giveConnectionBack();
      withdraw(Result.STORE_UNAVAILABLE, Problems.storeUnavailable());
    } else {
      renew();
    }
  }

  private void forward() {
    UpstreamConnection live = connection;
    if (live == null) {
      return;
    }
    phase = Phase.FORWARDED;
    exchanges.listener.step(Step.SENDING);
    Reservation reservation = settling.reservation();
    course.sent(reservation.attempt());
    RequestHead head = course.forwarded(keyed.peer, reservation.attempt());
    if (!keyed.send(live, head, this)) {
      // It died while it waited, and surely nothing was sent.
      connection = null;
      if (++tries > MOST_TRIES) {
        phase = Phase.CONNECTING;
        refused(Upstream.Refusal.UNREACHABLE);
      } else {
        connect();
      }
      return;
    }
    exchanges.listener.step(Step.SENT);
  }

  @Override
  public void renewIfDue(long now) {
    // Not while settling: a renewal behind a release would write the reservation anew.
    boolean held =
        phase == Phase.CONNECTING || phase == Phase.FORWARDED || phase == Phase.ANSWERED_EARLY;
    if (held && renewals.isDue(now)) {
      renew();
    }
    endIfUnheard(now);
  }

  private void endIfUnheard(long now) {
    Capture begun = incoming.capture();
    if (phase == Phase.FORWARDED
        && begun != null
        && unheard
        && now - unheardSince > LONGEST_UNHEARD.toNanos()) {
      cancel();
      begun.giveUp();
      settle(begun);
    }
  }

  private void renew() {
    renewals.renew(settling.reservation(), this::renewed, this::lost, this::notRenewed);
  }

  private void renewed() {
    exchanges.listener.step(Step.RENEWED);
    if (phase == Phase.SECURING) {
      secure();
    }
  }

  private void lost(StoredOperation current) {
    if (isUnsent()) {
      giveConnectionBack();
      settling.fenced(current);
    }
    // A request that was sent runs to its end; what its record says then is found when settling.
  }

  private void notRenewed() {
    if (phase == Phase.SECURING) {
      giveConnectionBack();
      withdraw(Result.STORE_UNAVAILABLE, Problems.storeUnavailable());
    }
  }

  private boolean isUnsent() {
    return phase == Phase.CONNECTING || phase == Phase.SECURING;
  }

  // ---- a request that streams

  @Override
  public void writable() {
    keyed.writable();
  }

  /** The request has been seen to its end. */
  void requestIsWhole(Fingerprints made) {
    Fingerprint claimed = settling.reservation().fingerprint();
    if (!claimed.isOpen() && !made.include(claimed)) {
      another(made, claimed);
      return;
    }
    settling.know(made);
    if (phase == Phase.ANSWERED_EARLY) {
      answerEarly();
    } else if (phase == Phase.FORWARDED) {
      seal();
    }
  }

  /** It follows an attempt of another request: the upstream never gets its end. */
  private void another(Fingerprints made, Fingerprint claimed) {
    if (phase == Phase.FORWARDED || phase == Phase.ANSWERED_EARLY) {
      settling.isAnother(made);
      cancel();
      withdraw(Result.KEY_REUSED, Problems.keyReused(made.differing(claimed)));
    }
  }

  /**
   * Writes the fingerprint before the upstream gets the request's end: from then on the request may
   * have been executed, and a retry must be told from a reuse whatever dies. An upload that lost
   * its lease on the way to another attempt is found out here. Where the store does not answer, the
   * request runs to its end as every request does that was sent.
   */
  private void seal() {
    sealing = true;
    renewals.renew(
        settling.reservation(), this::finishRequest, this::lostAtItsEnd, this::finishRequest);
  }

  private void lostAtItsEnd(StoredOperation current) {
    if (route.observe()) {
      finishRequest();
    } else if (phase == Phase.FORWARDED) {
      cancel();
      phase = Phase.SETTLING;
      settling.fenced(current);
    }
  }

  private void finishRequest() {
    sealing = false;
    if (phase == Phase.FORWARDED) {
      keyed.finish();
    }
  }

  /** The request turns out longer than it may be. */
  void tooLarge(ProblemDetails problem) {
    if (phase == Phase.FORWARDED) {
      cancel();
      phase = Phase.SETTLING;
      settling.unknown(Result.TOO_LARGE, problem);
    } else {
      restIsTooLong();
    }
  }

  /** The rest of a request that was answered early is awaited no longer. */
  void restIsTooLong() {
    if (phase == Phase.ANSWERED_EARLY) {
      answerEarly();
    }
  }

  private void answerEarly() {
    Capture whole = incoming.capture();
    if (whole != null) {
      settle(whole);
    }
  }

  // ---- the response

  @Override
  public void informational(ResponseHead head) {
    if (isWanted() && head.status() != 100 && !incoming.isAnswering()) {
      keyed.client().informational(ResponseFields.endToEnd(head));
    }
  }

  /** Whether the client still waits for this response. */
  private boolean isWanted() {
    return phase == Phase.FORWARDED;
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    course.received();
    incoming.head(head, contentLength, isWanted());
  }

  @Override
  public void chunk(Chunk chunk) {
    if (!incoming.chunk(chunk, isWanted()) && connection != null) {
      connection.pauseResponse();
    }
  }

  @Override
  public void flush() {
    incoming.flush(isWanted());
  }

  void clientWritable() {
    if (connection != null && !keyed.delivery().isBehind() && incoming.isWritable()) {
      connection.resumeResponse();
    }
  }

  void clientGone() {
    unheard = true;
    unheardSince = exchanges.scheduler.nanoTime();
    if (keyed.isWhole()) {
      clientWritable();
    } else {
      cutOff();
    }
  }

  /** The client went inside its request, which so never gets an end. */
  private void cutOff() {
    if (isUnsent()) {
      giveConnectionBack();
      withdraw(Result.CLIENT_GONE, Problems.requestCutOff());
    } else if (phase == Phase.FORWARDED) {
      cancel();
      unknown(Problems.requestCutOff(), Phase.SETTLING);
    } else {
      restIsTooLong();
    }
  }

  boolean isOver() {
    return phase == Phase.ENDED;
  }

  @Override
  public void end(Headers received) {
    connection = null;
    keyed.cut();
    Capture whole = incoming.capture();
    if (whole == null) {
      return;
    }
    trailers = incoming.trailers(received);
    if (phase == Phase.OVERDUE) {
      phase = Phase.SETTLING;
      settling.late(whole, trailers, this::leave);
    } else if (!keyed.isWhole() && whole.outcome() == Outcome.COMPLETED && keyed.isNearlyWhole()) {
      phase = Phase.ANSWERED_EARLY;
      exchanges.scheduler.schedule(this::restIsTooLong, LONGEST_REST);
    } else {
      settle(whole);
    }
  }

  private void settle(Capture whole) {
    phase = Phase.SETTLING;
    settling.end(whole, trailers);
  }

  // ---- other ends

  @Override
  public void overdue() {
    if (phase == Phase.FORWARDED) {
      course.received();
      if (keyed.isWhole() && !sealing) {
        unknown(Problems.sentAndLost(Failure.TIMEOUT), Phase.OVERDUE);
      } else {
        // The upstream does not get its end any more, and nothing will come of it.
        cancel();
        unknown(Problems.sentAndLost(Failure.TIMEOUT), Phase.SETTLING);
      }
    }
  }

  @Override
  public void failed(Failure failure) {
    connection = null;
    keyed.cut();
    course.received();
    boolean unprocessed = failure == Failure.NOT_PROCESSED;
    if (phase == Phase.FORWARDED && unprocessed) {
      withdraw(Result.NOT_SENT, Problems.notProcessed());
    } else if (phase == Phase.FORWARDED) {
      unknown(Problems.sentAndLost(failure), Phase.SETTLING);
    } else if (phase == Phase.OVERDUE && unprocessed) {
      withdrawLate();
    } else if (phase == Phase.OVERDUE) {
      leave();
    }
  }

  /** The caller was told that the outcome is unknown; a retry finds that nothing happened. */
  private void withdrawLate() {
    phase = Phase.SETTLING;
    settling.withdrawLate(this::leave);
  }

  private void unknown(ProblemDetails problem, Phase next) {
    phase = next;
    settling.unknown(problem);
  }

  private void withdraw(Result result, ProblemDetails problem) {
    phase = Phase.SETTLING;
    keyed.neverBegan();
    settling.withdraw(result, problem);
  }

  private void leaveUnlessOverdue() {
    if (phase != Phase.OVERDUE) {
      leave();
    }
  }

  private void leave() {
    phase = Phase.ENDED;
    exchanges.leases.remove(this);
    keyed.ended();
    keyed.drop();
    Capture captured = incoming.capture();
    if (captured != null) {
      captured.releaseUnlessKept();
    }
  }

  private void giveConnectionBack() {
    if (connection != null) {
      connection.giveBack();
      connection = null;
    }
  }

  /** The gateway stops. */
  void abandon() {
    if (isUnsent()) {
      giveConnectionBack();
      withdraw(Result.SHUTTING_DOWN, Problems.shuttingDown());
    } else if (phase == Phase.FORWARDED) {
      cancel();
      unknown(Problems.stoppedWhileSent(), Phase.SETTLING);
    } else if (phase == Phase.OVERDUE) {
      cancel();
      leave();
    } else {
      restIsTooLong();
    }
  }

  private void cancel() {
    keyed.cut();
    if (connection != null) {
      connection.cancel();
      connection = null;
    }
  }
}
