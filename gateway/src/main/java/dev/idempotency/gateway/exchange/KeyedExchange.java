package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.Verdict;
import dev.idempotency.gateway.idempotency.WriteReply;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A request with a key: gathers its body, reserves the operation, and either begins an {@link
 * Attempt} or answers from what the record says.
 */
final class KeyedExchange implements Exchange {

  private enum Phase {
    GATHERING,
    ASKING,
    WAITING,
    ATTEMPTING,
    ANSWERED
  }

  /** Races that one request may lose before it is told to come again. */
  private static final int MOST_ROUNDS = 5;

  private static final Duration SHORTEST_WAIT = Duration.ofMillis(10);
  private static final Duration LONGEST_WAIT = Duration.ofMillis(250);

  private final Exchanges exchanges;
  private final Route route;
  private final Course course;
  private final OperationId id;
  private final Peer peer;
  private final BodyBuffer body;
  private ClientStream client;
  private Phase phase = Phase.GATHERING;
  private @Nullable Fingerprint fingerprint;
  private @Nullable Attempt attempt;
  private @Nullable Exchange bypassed;
  private int rounds;
  private long waitsUntil;
  private Duration wait = SHORTEST_WAIT;
  private boolean abandoned;

  /**
   * @param contentLength the body's bytes, -1 where they are not announced
   */
  KeyedExchange(
      Exchanges exchanges,
      Route route,
      Course course,
      OperationId id,
      long contentLength,
      Peer peer,
      ClientStream client) {
    this.exchanges = exchanges;
    this.route = route;
    this.course = course;
    this.id = id;
    this.peer = peer;
    this.client = client;
    this.body = BodyBuffer.of(route.requestLimit(), contentLength, exchanges.budget);
  }

  @Override
  public void body(Chunk chunk) {
    if (phase == Phase.GATHERING) {
      switch (body.add(chunk)) {
        case ADDED -> {}
        case OVER_LIMIT -> answer(Result.TOO_LARGE, Problems.bodyTooLarge(route.requestLimit()));
        case OVER_BUDGET ->
            answer(
                Result.OVERLOADED,
                Problems.overloaded("No memory is left for the request's body."));
      }
    }
    chunk.release();
  }

  @Override
  public void bodyEnd() {
    if (phase != Phase.GATHERING) {
      return;
    }
    Fingerprint made = route.fingerprinter().fingerprint(course.head(), body.toByteArray());
    fingerprint = made;
    waitsUntil = exchanges.scheduler.nanoTime() + route.patience().toNanos();
    reserve(made);
  }

  @Override
  public void clientGone() {
    client = ClientStream.GONE;
    if (attempt != null) {
      attempt.clientGone();
    } else if (bypassed != null) {
      bypassed.clientGone();
    } else if (phase == Phase.GATHERING || phase == Phase.WAITING) {
      finish(Result.CLIENT_GONE, 0);
    }
    // While the store is asked, its answer decides: what it grants must be used or given back.
  }

  @Override
  public boolean isOver() {
    if (attempt != null) {
      return attempt.isOver();
    }
    return bypassed == null ? phase == Phase.ANSWERED : bypassed.isOver();
  }

  @Override
  public void clientWritable() {
    if (attempt != null) {
      attempt.clientWritable();
    } else if (bypassed != null) {
      bypassed.clientWritable();
    }
  }

  private void reserve(Fingerprint made) {
    Reservation reservation = Reservation.first(id, made, route.lease(), route.retention());
    ask(reservation, exchanges.store.reserve(reservation));
  }

  private void takeOver(Fingerprint made, long number) {
    Reservation reservation =
        Reservation.first(id, made, route.lease(), route.retention()).following(number);
    ask(reservation, exchanges.store.takeOver(reservation));
  }

  private void ask(Reservation reservation, CompletionStage<ReserveReply> stage) {
    phase = Phase.ASKING;
    long askedAt = exchanges.scheduler.nanoTime();
    course.asked();
    Stages.when(
        stage,
        reply -> {
          course.replied();
          decide(reservation, askedAt, reply);
        },
        unavailable -> {
          course.replied();
          storeFailed(reservation, unavailable);
        },
        exchanges.listener);
  }

  private void decide(Reservation reservation, long askedAt, ReserveReply reply) {
    if (reply instanceof ReserveReply.Acquired) {
      acquired(reservation, askedAt);
    } else if (reply instanceof ReserveReply.Existing existing) {
      meet(existing.operation(), reservation.fingerprint());
    } else {
      again(() -> reserve(reservation.fingerprint()));
    }
  }

  private void acquired(Reservation reservation, long askedAt) {
    // A client that hung up after its request was whole changes nothing: the operation is run.
    if (abandoned) {
      giveUp(reservation);
      answer(Result.SHUTTING_DOWN, Problems.shuttingDown());
      return;
    }
    phase = Phase.ATTEMPTING;
    exchanges.decided(this);
    Lease lease = new Lease(route.lease(), askedAt);
    attempt = new Attempt(exchanges, route, course, reservation, lease, body, peer, this);
    attempt.start();
  }

  /** What to do with a request that is not the first. */
  private void meet(StoredOperation operation, Fingerprint made) {
    Verdict verdict = Verdict.on(operation, made, route.unknown());
    if (verdict instanceof Verdict.TakeOver takeOver) {
      again(() -> takeOver(made, takeOver.attempt()));
    } else if (verdict instanceof Verdict.InFlight inFlight) {
      waitOrRefuse(inFlight.leaseLeft());
    } else {
      answer(verdict);
    }
  }

  private void again(Runnable step) {
    if (abandoned) {
      answer(Result.SHUTTING_DOWN, Problems.shuttingDown());
    } else if (++rounds > MOST_ROUNDS) {
      answer(Result.IN_FLIGHT, Problems.inFlight(route.lease()));
    } else {
      step.run();
    }
  }

  private void waitOrRefuse(Duration leaseLeft) {
    long left = waitsUntil - exchanges.scheduler.nanoTime();
    if (left <= 0 || abandoned || client == ClientStream.GONE || !exchanges.takeWaiter()) {
      answer(Result.IN_FLIGHT, Problems.inFlight(leaseLeft));
      return;
    }
    phase = Phase.WAITING;
    Duration delay = wait.toNanos() < left ? wait : Duration.ofNanos(left);
    wait = wait.multipliedBy(2).compareTo(LONGEST_WAIT) < 0 ? wait.multipliedBy(2) : LONGEST_WAIT;
    exchanges.scheduler.schedule(this::lookAgain, delay);
  }

  private void lookAgain() {
    exchanges.giveWaiterBack();
    Fingerprint made = fingerprint;
    if (phase == Phase.WAITING && made != null) {
      reserve(made);
    }
  }

  /** Answers from the record; a take-over has no place here any more. */
  void answer(Verdict verdict) {
    if (verdict instanceof Verdict.Replay replay) {
      Response response = ResponseFields.replay(replay.response(), course.head().headers());
      answer(Result.REPLAYED, response);
    } else if (verdict instanceof Verdict.NotKept notKept) {
      answer(Result.GONE, Problems.responseNotKept(notKept.status()));
    } else if (verdict instanceof Verdict.KeyReused) {
      answer(Result.KEY_REUSED, Problems.keyReused());
    } else if (verdict instanceof Verdict.InFlight inFlight) {
      answer(Result.IN_FLIGHT, Problems.inFlight(inFlight.leaseLeft()));
    } else {
      answer(Result.HELD, Problems.outcomeUnknown());
    }
  }

  private void storeFailed(Reservation reservation, StoreUnavailableException unavailable) {
    if (!unavailable.isSurelyNotExecuted()) {
      giveUp(reservation);
    }
    // A record that can't be read is a record: the operation may have run.
    if (route.bypass()
        && !unavailable.isUnreadable()
        && !abandoned
        && client != ClientStream.GONE) {
      bypass();
    } else {
      answer(Result.STORE_UNAVAILABLE, Problems.storeUnavailable());
    }
  }

  private void bypass() {
    phase = Phase.ANSWERED;
    exchanges.decided(this);
    byte[] bytes = body.toByteArray();
    bypassed = PassThroughExchange.bypass(route, course, bytes, peer, client);
    body.release();
  }

  /**
   * Takes a reservation back that nothing was sent under. It may have been written although the
   * store did not say so, even later than this, hence a second look when the lease has run out.
   */
  void giveUp(Reservation reservation) {
    exchanges.deferred.addIfRoom(
        store -> withdraw(reservation),
        () ->
            exchanges.scheduler.schedule(
                () -> Stages.when(withdraw(reservation), r -> {}, e -> {}, exchanges.listener),
                reservation.lease()));
  }

  /** A first attempt leaves nothing behind; a later one leaves what it found: outcome unknown. */
  CompletionStage<WriteReply> withdraw(Reservation reservation) {
    return reservation.attempt() == 1
        ? exchanges.store.release(reservation)
        : exchanges.store.settle(reservation, new Settlement.Unknown());
  }

  ClientStream client() {
    return client;
  }

  /** Answers with a whole response and ends. */
  void answer(Result result, Response response) {
    client.respond(response);
    finish(result, response.status());
  }

  private void finish(Result result, int status) {
    phase = Phase.ANSWERED;
    body.release();
    exchanges.decided(this);
    course.end(result, status);
  }

  /** The gateway stops: what nothing was sent for is refused. */
  void abandon() {
    abandoned = true;
    if (phase == Phase.GATHERING || phase == Phase.WAITING) {
      answer(Result.SHUTTING_DOWN, Problems.shuttingDown());
    }
  }
}
