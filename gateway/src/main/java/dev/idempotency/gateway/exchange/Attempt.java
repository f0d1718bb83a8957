package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.idempotency.Outcome;
import dev.idempotency.gateway.idempotency.OutcomePolicy;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.WriteReply;
import org.jspecify.annotations.Nullable;

/**
 * The attempt that holds a reservation: forwards once, takes the response in and lets it be
 * settled. The lease is renewed for as long as the response is awaited.
 */
final class Attempt implements Upstream.Acquirer, ResponseReceiver {

  private enum Phase {
    /** Waits for a connection: surely nothing was sent. */
    CONNECTING,
    /** Has a connection and makes sure of the lease: surely nothing was sent. */
    SECURING,
    /** Bytes may have left; the response is awaited. */
    FORWARDED,
    /** The caller was told that the outcome is unknown; a late response is still welcome. */
    OVERDUE,
    /** The response is there; the record is being written. */
    SETTLING,
    ENDED
  }

  private static final int MOST_TRIES = 3;

  private final Exchanges exchanges;
  private final Route route;
  private final Course course;
  private final Reservation reservation;
  private final Lease lease;
  private final BodyBuffer body;
  private final Peer peer;
  private final KeyedExchange keyed;
  private final Settling settling;
  private Phase phase = Phase.CONNECTING;
  private @Nullable UpstreamConnection connection;
  private @Nullable Capture capture;
  private int tries;

  Attempt(
      Exchanges exchanges,
      Route route,
      Course course,
      Reservation reservation,
      Lease lease,
      BodyBuffer body,
      Peer peer,
      KeyedExchange keyed) {
    this.exchanges = exchanges;
    this.route = route;
    this.course = course;
    this.reservation = reservation;
    this.lease = lease;
    this.body = body;
    this.peer = peer;
    this.keyed = keyed;
    this.settling =
        new Settling(exchanges, route, course, reservation, keyed, this::leaveUnlessOverdue);
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
    if (lease.isSure(exchanges.scheduler.nanoTime())) {
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
    course.sent(reservation.attempt());
    if (!live.send(
        ForwardedFields.of(course.head(), peer, reservation.attempt()), body.toByteArray(), this)) {
      // It died while it waited, and surely nothing was sent.
      connection = null;
      if (++tries > MOST_TRIES) {
        phase = Phase.CONNECTING;
        refused(Upstream.Refusal.UNREACHABLE);
      } else {
        connect();
      }
    }
  }

  /** Called at every beat. */
  void renewIfDue(long now) {
    // Not while settling: a renewal behind a release would write the reservation anew.
    boolean held = phase == Phase.CONNECTING || phase == Phase.FORWARDED;
    if (held && lease.isDue(now)) {
      renew();
    }
  }

  private void renew() {
    lease.asked();
    long sentAt = exchanges.scheduler.nanoTime();
    Stages.when(
        exchanges.store.renew(reservation),
        reply -> renewed(sentAt, reply),
        this::renewalFailed,
        exchanges.listener);
  }

  private void renewed(long sentAt, WriteReply reply) {
    if (reply instanceof WriteReply.Fenced fenced) {
      lease.lost();
      if (isUnsent()) {
        giveConnectionBack();
        settling.fenced(fenced.current());
      }
      return;
    }
    lease.renewed(sentAt);
    if (phase == Phase.SECURING) {
      secure();
    }
    // A request that was sent runs to its end; what its record says then is found when settling.
  }

  private void renewalFailed(StoreUnavailableException unavailable) {
    exchanges.listener.renewalFailed();
    lease.failed(exchanges.scheduler.nanoTime());
    if (phase == Phase.SECURING) {
      giveConnectionBack();
      withdraw(Result.STORE_UNAVAILABLE, Problems.storeUnavailable());
    }
  }

  private boolean isUnsent() {
    return phase == Phase.CONNECTING || phase == Phase.SECURING;
  }

  // ---- the response

  @Override
  public void informational(ResponseHead head) {
    if (phase == Phase.FORWARDED && head.status() != 100 && !settling.isAnswering()) {
      keyed.client().informational(ResponseFields.endToEnd(head));
    }
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    course.received();
    Outcome outcome = route.outcomes().of(head);
    boolean saidSo = OutcomePolicy.said(head) != null;
    capture =
        new Capture(
            ResponseFields.endToEnd(head),
            contentLength,
            outcome,
            saidSo,
            BodyBuffer.of(route.responseLimit(), contentLength, exchanges.budget));
    settling.response(capture);
    if (phase == Phase.FORWARDED && contentLength > route.responseLimit()) {
      capture.begin(keyed.client());
    }
  }

  @Override
  public void chunk(Chunk chunk) {
    Capture current = capture;
    if (current == null) {
      chunk.release();
      return;
    }
    ClientStream client = phase == Phase.FORWARDED ? keyed.client() : ClientStream.GONE;
    current.take(chunk, client);
    if (current.isBegun() && !client.isWritable() && connection != null) {
      connection.pauseResponse();
    }
  }

  /**
   * Where the route streams, the client's response begins here and not with its head: what turns
   * out to be broken in the same burst is answered as an error of its own.
   */
  @Override
  public void flush() {
    if (phase == Phase.FORWARDED && capture != null && route.streaming()) {
      capture.begin(keyed.client());
    }
    if (settling.isAnswering()) {
      keyed.client().flush();
    }
  }

  @Override
  public void writable() {}

  void clientWritable() {
    if (connection != null) {
      connection.resumeResponse();
    }
  }

  /** The exchange with the upstream goes on without the client, at full speed. */
  void clientGone() {
    clientWritable();
  }

  @Override
  public void end(Headers received) {
    connection = null;
    Capture whole = capture;
    if (whole == null) {
      return;
    }
    Headers trailers = ResponseFields.trailers(received);
    boolean late = phase == Phase.OVERDUE;
    phase = Phase.SETTLING;
    if (late) {
      settling.late(whole, trailers, this::leave);
    } else {
      settling.end(whole, trailers);
    }
  }

  // ---- other ends

  @Override
  public void overdue() {
    if (phase == Phase.FORWARDED) {
      course.received();
      unknown(Problems.sentAndLost(Failure.TIMEOUT), Phase.OVERDUE);
    }
  }

  @Override
  public void failed(Failure failure) {
    connection = null;
    course.received();
    if (phase == Phase.FORWARDED) {
      unknown(Problems.sentAndLost(failure), Phase.SETTLING);
    } else if (phase == Phase.OVERDUE) {
      leave();
    }
  }

  private void unknown(Response problem, Phase next) {
    phase = next;
    settling.unknown(problem);
  }

  private void withdraw(Result result, Response problem) {
    phase = Phase.SETTLING;
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
    body.release();
    if (capture != null) {
      capture.releaseUnlessKept();
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
    }
  }

  private void cancel() {
    if (connection != null) {
      connection.cancel();
      connection = null;
    }
  }
}
