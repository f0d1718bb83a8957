package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.HttpDate;
import dev.idempotency.gateway.http.ProblemDetails;
import dev.idempotency.gateway.idempotency.Fingerprints;
import dev.idempotency.gateway.idempotency.Outcome;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.StoredResponse;
import dev.idempotency.gateway.idempotency.Verdict;
import dev.idempotency.gateway.idempotency.WriteReply;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * How an attempt ends: writes what became of it, and only then tells the client. What the store
 * does not take is written later; what another attempt holds is not written at all.
 */
final class Settling {

  private final Exchanges exchanges;
  private final Route route;
  private final Course course;
  private final Renewals renewals;
  private final Incoming incoming;
  private final KeyedExchange keyed;
  private final Runnable told;
  private Reservation reservation;

  /** What the request surely asks for; open until it has been seen whole. */
  private Fingerprints seen;

  private boolean lateResponse;

  /**
   * @param told runs when the client has been told, once
   */
  Settling(
      Exchanges exchanges,
      Route route,
      Course course,
      Reservation reservation,
      Renewals renewals,
      Incoming incoming,
      KeyedExchange keyed,
      Runnable told) {
    this.exchanges = exchanges;
    this.route = route;
    this.course = course;
    this.reservation = reservation;
    this.renewals = renewals;
    this.incoming = incoming;
    this.keyed = keyed;
    this.told = told;
    this.seen = keyed.isWhole() ? keyed.fingerprints() : Fingerprints.OPEN;
  }

  Reservation reservation() {
    return reservation;
  }

  /** The request is whole, and this is what it asks for. */
  void know(Fingerprints made) {
    // What follows an earlier attempt keeps the fingerprint of its record.
    if (reservation.fingerprint().isOpen()) {
      reservation = reservation.with(made.current());
    }
    seen = made;
  }

  /** The request is whole and not the one that its reservation claims. */
  void isAnother(Fingerprints made) {
    seen = made;
  }

  /**
   * The response is whole and in time. Of a request that was not seen whole it is not kept: nobody
   * could tell whose retry may have it.
   */
  void end(Capture whole, Headers trailers) {
    exchanges.listener.step(Step.RESPONDED);
    whole.end(() -> settle(whole, trailers));
  }

  private void settle(Capture whole, Headers trailers) {
    StoredResponse stored = seen.isOpen() ? null : stored(whole, trailers);
    course.asked();
    Stages.when(
        settled(whole, stored),
        reply -> {
          course.replied();
          if (reply instanceof WriteReply.Fenced fenced) {
            fencedAtTheEnd(fenced.current(), whole, trailers);
          } else {
            exchanges.listener.step(Step.SETTLED);
            deliver(whole, trailers, stored);
          }
        },
        unavailable -> {
          course.replied();
          // The client gets its answer; the record follows as soon as the store is back.
          deliver(whole, trailers, defer(whole, stored));
        },
        exchanges.listener);
  }

  /** The copy, which says of itself what only this first exchange knows; null: none is kept. */
  private @Nullable StoredResponse stored(Capture whole, Headers trailers) {
    StoredResponse stored = marked(whole, trailers);
    return stored == null ? null : whole.packed(stored);
  }

  private @Nullable StoredResponse marked(Capture whole, Headers trailers) {
    StoredResponse stored = whole.stored(trailers, route.copy());
    if (stored == null || whole.outcome() != Outcome.COMPLETED) {
      return stored;
    }
    String trace = TraceParent.traceId(course.head().headers());
    if (trace != null) {
      stored.headers().add(ResponseFields.ORIGINAL_TRACE, trace);
    }
    if (route.copy().expires()) {
      // A write that has to be tried again makes the record live longer than it says: never less.
      long end = exchanges.scheduler.currentTimeMillis() + reservation.retention().toMillis();
      stored.headers().add(ResponseFields.EXPIRES, HttpDate.of(end));
    }
    return stored;
  }

  private void fencedAtTheEnd(StoredOperation current, Capture whole, Headers trailers) {
    if (route.observe()) {
      // Who only observes gives every client the answer to its own request.
      exchanges.listener.fenced();
      deliver(whole, trailers, null);
    } else {
      fenced(current);
    }
  }

  /**
   * Gives the client its response.
   *
   * @param kept what a replay of it will be; null where there will be none
   */
  private void deliver(Capture whole, Headers trailers, @Nullable StoredResponse kept) {
    Result result = result(whole.outcome(), kept != null);
    String expires = kept == null ? null : kept.headers().get(ResponseFields.EXPIRES);
    if (expires != null) {
      whole.head().headers().add(ResponseFields.EXPIRES, expires);
    }
    if (whole.isBegun()) {
      int status = whole.head().status();
      keyed.delivery().end(trailers, () -> course.end(result, status));
    } else {
      keyed.answer(result, whole.response(trailers), whole.share());
    }
    exchanges.listener.step(Step.ANSWERED);
    told.run();
  }

  private static Result result(Outcome outcome, boolean kept) {
    return switch (outcome) {
      case COMPLETED -> kept ? Result.COMPLETED : Result.NOT_KEPT;
      case RELEASED -> Result.RELEASED;
      case UNKNOWN -> Result.UNKNOWN;
    };
  }

  /**
   * Leaves the write to the background. Where there is no room to hold the response until then, the
   * record will say that the operation is done and its response not kept.
   *
   * @return what will be stored; null where only that it is done
   */
  private @Nullable StoredResponse defer(Capture whole, @Nullable StoredResponse stored) {
    int size = stored == null ? 0 : stored.body().length;
    boolean fits = size > 0 && exchanges.backlog.take(size);
    if (size > 0 && !fits) {
      exchanges.listener.deferredResponseDropped();
    }
    StoredResponse kept = size == 0 || fits ? stored : null;
    if (fits) {
      whole.keepMemory();
    }
    Leases.Held lease = this::renewIfDue;
    boolean holds = whole.outcome() == Outcome.COMPLETED;
    if (holds) {
      exchanges.leases.hold(lease);
    }
    exchanges.deferred.add(
        store -> settled(whole, kept),
        () -> {
          exchanges.leases.letGo(lease);
          if (fits) {
            exchanges.backlog.giveBack(size);
            whole.releaseMemory();
          }
        });
    return kept;
  }

  /**
   * Nobody may take the operation over while its completion waits to be written: a large record may
   * fail to be written again and again where a small renewal passes.
   */
  private void renewIfDue(long now) {
    if (renewals.isDue(now)) {
      renewals.renew(reservation, () -> {}, current -> {}, () -> {});
    }
  }

  /** A store that throws, for want of memory may be, is one that does not answer. */
  private CompletionStage<WriteReply> settled(Capture whole, @Nullable StoredResponse stored) {
    try {
      return written(whole, stored);
    } catch (RuntimeException | OutOfMemoryError e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private CompletionStage<WriteReply> written(Capture whole, @Nullable StoredResponse stored) {
    return switch (whole.outcome()) {
      case COMPLETED -> exchanges.store.settle(reservation, completed(whole, stored));
      case UNKNOWN -> exchanges.store.settle(reservation, new Settlement.Unknown());
      // What the upstream says of the operation counts for all attempts, a status for this one
      // only.
      case RELEASED ->
          whole.saidSo() ? exchanges.store.release(reservation) : keyed.withdraw(reservation);
    };
  }

  private static Settlement completed(Capture whole, @Nullable StoredResponse stored) {
    return stored == null
        ? new Settlement.NotKept(whole.head().status())
        : new Settlement.Completed(stored);
  }

  /**
   * The response is whole after the client was told that the outcome is unknown.
   *
   * @param then runs when the record is written, or waits to be
   */
  void late(Capture whole, Headers trailers, Runnable then) {
    whole.end(() -> settleLate(whole, trailers, then));
  }

  private void settleLate(Capture whole, Headers trailers, Runnable then) {
    StoredResponse stored = stored(whole, trailers);
    lateResponse = true;
    Stages.when(
        settled(whole, stored),
        reply -> then.run(),
        unavailable -> {
          StoredResponse unused = defer(whole, stored);
          then.run();
        },
        exchanges.listener);
  }

  /**
   * Surely nothing happened, which is known only after the client was told otherwise.
   *
   * @param then runs when the record is written, or waits to be
   */
  void withdrawLate(Runnable then) {
    lateResponse = true;
    Stages.when(
        keyed.withdraw(reservation),
        reply -> then.run(),
        unavailable -> {
          exchanges.deferred.add(store -> keyed.withdraw(reservation), () -> {});
          then.run();
        },
        exchanges.listener);
  }

  /** Bytes were sent and no whole response came: writes that the outcome is unknown, says so. */
  void unknown(ProblemDetails problem) {
    unknown(Result.UNKNOWN, problem);
  }

  /** The same where the reason lies with the client, which is told so. */
  void unknown(Result result, ProblemDetails problem) {
    Stages.when(
        exchanges.store.settle(reservation, new Settlement.Unknown()),
        reply -> {
          if (reply instanceof WriteReply.Fenced fenced && !route.observe()) {
            fenced(fenced.current());
          } else {
            respond(result, problem);
          }
        },
        unavailable -> {
          exchanges.deferred.add(store -> settledUnknown(), () -> {});
          respond(result, problem);
        },
        exchanges.listener);
  }

  /** Not any more where a late response has said what became of it. */
  private CompletionStage<WriteReply> settledUnknown() {
    return lateResponse
        ? CompletableFuture.completedFuture(WriteReply.DONE)
        : exchanges.store.settle(reservation, new Settlement.Unknown());
  }

  /**
   * Another attempt holds the record: its word counts, never this attempt's own result; and that
   * word is for the same request only, whatever this attempt claimed.
   */
  void fenced(StoredOperation current) {
    exchanges.listener.fenced();
    if (isTooLateToSay()) {
      cutOff();
      return;
    }
    keyed.answer(Verdict.on(current, seen, route.unknown()));
    told.run();
  }

  /** Surely nothing was sent: the reservation goes, then the client is told. */
  void withdraw(Result result, ProblemDetails problem) {
    Stages.when(
        keyed.withdraw(reservation),
        reply -> {
          if (reply instanceof WriteReply.Fenced fenced && !route.observe()) {
            // The process was stopped for longer than its lease and another attempt took over.
            fenced(fenced.current());
          } else {
            respond(result, problem);
          }
        },
        unavailable -> {
          keyed.giveUp(reservation);
          respond(result, problem);
        },
        exchanges.listener);
  }

  private void respond(Result result, ProblemDetails problem) {
    if (isTooLateToSay()) {
      cutOff();
      return;
    }
    keyed.answer(result, problem);
    told.run();
  }

  /** Where a response was begun and nothing of it is out, another can still be given. */
  private boolean isTooLateToSay() {
    return incoming.isAnswering() && !keyed.delivery().takeBack();
  }

  private void cutOff() {
    keyed.abort();
    course.end(Result.UNKNOWN, 0);
    told.run();
  }
}
