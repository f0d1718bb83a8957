package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.ProblemDetails;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Fingerprints;
import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.Note;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.PiecedResponse;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.ResponsePieces;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.Verdict;
import dev.idempotency.gateway.idempotency.WriteReply;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request with a key: reserves the operation, and either begins an {@link Attempt} or answers
 * from what the record says. What happens to its body is up to the subclass.
 */
abstract class KeyedExchange implements Exchange, Outgoing {

  /** What is awaited. */
  enum Phase {
    /** The client, for the body. */
    READING,
    ASKING,
    WAITING,
    /** The upstream, for what became of an earlier attempt. */
    PROBING,
    ATTEMPTING,
    ANSWERED
  }

  /** Races that one request may lose before it is told to come again. */
  private static final int MOST_ROUNDS = 5;

  final Exchanges exchanges;
  final Route route;
  final Course course;
  final Peer peer;
  private Claimant claimant;
  private final OperationPlace place;

  /** Known as soon as the operation is claimed. */
  private @Nullable OperationId id;

  private final Delivery delivery;
  private ClientStream client;
  private Phase phase = Phase.READING;
  private Fingerprints fingerprints = Fingerprints.OPEN;
  private @Nullable Attempt attempt;
  private @Nullable Exchange bypassed;
  private int rounds;
  private long claimedAt;
  private @Nullable Patience patience;
  private boolean abandoned;

  /** Until when somebody else may ask the upstream, by the scheduler's clock. */
  private long probedUntil;

  /** A record was seen: the operation may have run, or runs. */
  private boolean met;

  KeyedExchange(
      Exchanges exchanges, Claimant claimant, Course course, Peer peer, ClientStream client) {
    this.exchanges = exchanges;
    this.route = claimant.route();
    this.course = course;
    this.claimant = claimant;
    this.place = OperationPlace.of(claimant);
    this.peer = peer;
    this.client = client;
    this.delivery = new Delivery(client);
  }

  /** Starts: the head is there. */
  abstract void begin();

  /**
   * How the request goes on without protection; it takes what is held of the body with it.
   *
   * @param said whether the response says so
   */
  abstract PassThroughExchange openBypass(boolean said);

  /** Frees what is held of the body. May be called again. */
  abstract void drop();

  /** The record can't be told from another request's before this request's body is read. */
  abstract void unread(StoredOperation operation);

  final Phase phase() {
    return phase;
  }

  final boolean isReading() {
    return phase == Phase.READING;
  }

  /** Asks for the body, unless nobody is there any more to send it or to be answered. */
  final void read() {
    if (abandoned) {
      answer(Result.SHUTTING_DOWN, Problems.shuttingDown());
    } else if (client == ClientStream.GONE) {
      finish(Result.CLIENT_GONE, 0);
    } else {
      phase = Phase.READING;
      client.wantBody();
    }
  }

  final @Nullable Attempt attempt() {
    return attempt;
  }

  final Fingerprints fingerprints() {
    return fingerprints;
  }

  final @Nullable Exchange bypassed() {
    return bypassed;
  }

  /** Whether the request has a key that is known. */
  final boolean isNamed() {
    return !claimant.isDerived();
  }

  /** The request's key was found. */
  final void name(IdempotencyKey key) {
    claimant = claimant.with(key);
  }

  /** Whether the request itself may name the operation. */
  final boolean mayDerive() {
    return claimant.mayDerive();
  }

  /** What the request asks for is known, or is not and will be later. */
  final void claim(Fingerprints made) {
    fingerprints = made;
    id = claimant.id(made.current());
    if (claimant.isDerived()) {
      course.derived();
    }
    claimedAt = exchanges.scheduler.nanoTime();
    reserve();
  }

  @Override
  public void clientGone() {
    client = ClientStream.GONE;
    delivery.drop();
    if (bypassed != null) {
      bypassed.clientGone();
    } else if (attempt != null) {
      attempt.clientGone();
    } else if (phase == Phase.READING || phase == Phase.WAITING) {
      finish(Result.CLIENT_GONE, 0);
    }
    // While the store is asked, its answer decides: what it grants must be used or given back.
  }

  @Override
  public void requestBroken(int status) {
    course.requestBroken(status);
    clientGone();
  }

  @Override
  public boolean isOver() {
    if (bypassed != null) {
      return bypassed.isOver();
    }
    return attempt == null ? phase == Phase.ANSWERED : attempt.isOver();
  }

  @Override
  public void clientWritable() {
    delivery.pump();
    if (bypassed != null) {
      bypassed.clientWritable();
    } else if (attempt != null) {
      attempt.clientWritable();
    }
  }

  private void reserve() {
    KeyTime.Refusal refusal = refusal();
    if (refusal != null) {
      answer(refusal.result(), refusal.problem());
      return;
    }
    long rest = guardLeft();
    if (rest > 0) {
      // What is there is judged as always.
      look(this::meet, () -> recovering(rest));
      return;
    }
    Quota.Answer.Spent spent = place.take();
    if (spent != null) {
      // Only for something new: a retry of what is there is judged as always.
      look(this::meet, () -> answer(Result.QUOTA_EXCEEDED, Problems.quotaExceeded(spent)));
      return;
    }
    exchanges.listener.step(Step.RESERVING);
    Reservation reservation = first(fingerprints.current());
    ask(reservation, exchanges.store.reserve(reservation));
  }

  /** For how many milliseconds nothing may be begun yet, because records may be lost; 0: none. */
  private long guardLeft() {
    long guard = route.safety().guard().toMillis();
    if (guard == 0) {
      return 0;
    }
    long since = exchanges.store.sinceLoss(id());
    IdempotencyKey key = claimant.key();
    if (since >= guard) {
      return 0;
    }
    long lostAt = exchanges.scheduler.currentTimeMillis() - since;
    boolean younger =
        key != null && KeyTime.isYounger(route.keys(), key, course.head().headers(), lostAt);
    return younger ? 0 : guard - since;
  }

  private void recovering(long rest) {
    answer(Result.STORE_RECOVERING, Problems.storeRecovering(rest));
  }

  /** A key may have grown too old, and lost its record, while its request's body came. */
  private KeyTime.@Nullable Refusal refusal() {
    IdempotencyKey key = claimant.key();
    return key == null
        ? null
        : KeyTime.refusal(route.keys(), key, course.head().headers(), exchanges.scheduler);
  }

  private Reservation first(Fingerprint claimed) {
    return Reservation.first(
        id(), claimed, route.lease(), claimant.retention(), route.safety().durability(), note());
  }

  /** Where the operation comes from, for those who may have to find out what became of it. */
  private Note note() {
    String trace = TraceParent.traceId(course.head().headers());
    IdempotencyKey key = claimant.key();
    ProbeRule probe = route.safety().probe();
    String traced = trace == null ? "" : trace;
    return probe == null || probe.url() == null || key == null
        ? new Note(route.name(), traced, "", "")
        : new Note(route.name(), traced, key.value(), course.head().path());
  }

  private OperationId id() {
    OperationId known = id;
    if (known == null) {
      throw new IllegalStateException("the operation was not claimed");
    }
    return known;
  }

  /**
   * Follows an attempt whose outcome is unknown.
   *
   * @param claimed the fingerprint of that attempt, which this request still has to prove where its
   *     own is not known
   * @param holder the token of the record that was seen; null where it is not known
   */
  final void takeOver(Fingerprint claimed, long number, @Nullable AttemptToken holder) {
    long rest = guardLeft();
    if (rest > 0) {
      // A later attempt may be under way and its record forgotten.
      recovering(rest);
      return;
    }
    exchanges.listener.step(Step.RESERVING);
    Reservation reservation = first(claimed).following(number, holder);
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
      place.giveBack();
      // By its own fingerprint: the one that a take-over claims is not proven.
      meet(existing.operation());
    } else {
      place.giveBack();
      again(this::reserve);
    }
  }

  private void acquired(Reservation reservation, long askedAt) {
    // A client that hung up after its request was whole changes nothing: the operation is run.
    if (abandoned || (client == ClientStream.GONE && !isWhole())) {
      giveUp(reservation);
      answer(abandoned ? Result.SHUTTING_DOWN : Result.CLIENT_GONE, Problems.shuttingDown());
      return;
    }
    long rest = guardLeft();
    if (rest > 0) {
      // The store was replaced while it was asked.
      giveUp(reservation);
      recovering(rest);
      return;
    }
    phase = Phase.ATTEMPTING;
    exchanges.listener.step(Step.RESERVED);
    exchanges.decided(this);
    Lease lease = new Lease(route.lease(), askedAt);
    Attempt made = new Attempt(exchanges, route, course, reservation, lease, this);
    attempt = made;
    made.start();
  }

  /** What to do with a request that is not the first. */
  private void meet(StoredOperation operation) {
    met = true;
    Verdict verdict = Verdict.on(operation, fingerprints, route.unknown());
    if (verdict instanceof Verdict.Unread) {
      unread(operation);
    } else if (verdict instanceof Verdict.TakeOver takeOver) {
      again(() -> takeOver(claimed(takeOver), takeOver.attempt(), takeOver.holder()));
    } else if (verdict instanceof Verdict.Probe probe && !route.observe()) {
      probe(probe);
    } else if (verdict instanceof Verdict.InFlight inFlight) {
      waitOrRefuse(inFlight.leaseLeft());
    } else {
      answer(verdict);
    }
  }

  /** Has the upstream asked what became of an earlier attempt. */
  final void probe(Verdict.Probe verdict) {
    ProbeRule rule = route.safety().probe();
    ProbeQuestion question = rule == null ? null : question(rule, verdict.attempt());
    if (rule == null || question == null || verdict.recorded().isOpen()) {
      // Of a request that nobody has seen whole no response can be told.
      answer(verdict);
      return;
    }
    phase = Phase.PROBING;
    Prober.Subject subject =
        new Prober.Subject(
            route, rule, id(), verdict.attempt(), verdict.holder(), claimant.retention());
    exchanges.prober.probe(subject, question, result -> probed(verdict, subject, result));
  }

  private @Nullable ProbeQuestion question(ProbeRule rule, long attempt) {
    RequestHead forwarded = course.forwarded(peer, attempt);
    if (rule.url() == null) {
      byte[] whole = wholeBody();
      return whole == null ? null : ProbeQuestion.same(forwarded, whole, rule);
    }
    return exchanges.prober.question(route, rule, note(), attempt, forwarded.headers());
  }

  /** The request's body where it is held, to be sent again; null where it is not. */
  abstract byte @Nullable [] wholeBody();

  private void probed(Verdict.Probe verdict, Prober.Subject subject, Prober.Result result) {
    if (phase == Phase.ANSWERED) {
      return;
    }
    if (result instanceof Prober.Result.Changed) {
      again(() -> look(this::waitedFor, this::waitedInVain));
    } else if (result instanceof Prober.Result.Never never
        && ProbeQuestion.reruns(route, subject.rule())) {
      again(() -> takeOver(verdict.recorded(), verdict.attempt(), never.holder()));
    } else if (result instanceof Prober.Result.Never never) {
      exchanges.prober.release(subject, never, released -> probed(verdict, subject, released));
    } else if (result instanceof Prober.Result.Busy busy) {
      waitForProbe(busy.left());
    } else if (result instanceof Prober.Result.Unknown unknown) {
      answer(Result.HELD, Problems.outcomeUnknown(unknown.left()));
    } else {
      outage(((Prober.Result.Unavailable) result).cause());
    }
  }

  /** A record keeps its fingerprint, by whatever rule it was made. */
  private Fingerprint claimed(Verdict.TakeOver takeOver) {
    return takeOver.recorded().isOpen() ? fingerprints.current() : takeOver.recorded();
  }

  /** One more round, unless there were too many. */
  final void again(Runnable step) {
    if (abandoned) {
      answer(Result.SHUTTING_DOWN, Problems.shuttingDown());
    } else if (++rounds > MOST_ROUNDS) {
      answer(Result.IN_FLIGHT, Problems.inFlight(route.lease()));
    } else {
      step.run();
    }
  }

  final void waitOrRefuse(Duration leaseLeft) {
    // Who only observes makes nobody wait.
    boolean may = !route.observe() && !abandoned && client != ClientStream.GONE;
    if (may && waits(leaseLeft, false)) {
      phase = Phase.WAITING;
    } else {
      answer(Result.IN_FLIGHT, Problems.inFlight(leaseLeft));
    }
  }

  /** Somebody else asks the upstream: waits as for a reservation, and then asks itself. */
  private void waitForProbe(Duration left) {
    probedUntil = exchanges.scheduler.nanoTime() + left.toNanos();
    boolean may = !abandoned && client != ClientStream.GONE;
    if (may && waits(left, true)) {
      phase = Phase.WAITING;
    } else {
      answer(Result.HELD, Problems.outcomeUnknown(left));
    }
  }

  private boolean waits(Duration leaseLeft, boolean probed) {
    Patience own = patience;
    if (own == null) {
      own = new Patience(exchanges, route.waiting(), course, claimedAt);
      patience = own;
    }
    return own.waits(id(), new Waiting(probed), exchanges.scheduler.nanoTime(), leaseLeft);
  }

  /** What is known of this request where it waits. */
  Fingerprints judgedBy() {
    return fingerprints;
  }

  /** A duplicate that waited hears what has become of the operation. */
  void waitedFor(StoredOperation operation) {
    meet(operation);
  }

  /** A duplicate that waited hears that the operation is there no more. */
  void waitedInVain() {
    reserve();
  }

  /** This request in the waiting room. */
  private final class Waiting implements WaitingRoom.Waiter {
    private boolean isProbed;

    /**
     * @param probed whether the outcome is unknown and somebody asks the upstream
     */
    Waiting(boolean probed) {
      isProbed = probed;
    }

    @Override
    public boolean stays(StoredOperation operation) {
      Verdict verdict = Verdict.on(operation, judgedBy(), route.unknown());
      isProbed = verdict instanceof Verdict.Probe;
      return verdict instanceof Verdict.InFlight || (isProbed && probeLeft() > 0);
    }

    @Override
    public void called(StoredOperation operation) {
      phase = Phase.ASKING;
      waitedFor(operation);
    }

    @Override
    public void gone() {
      phase = Phase.ASKING;
      waitedInVain();
    }

    @Override
    public void failed(StoreUnavailableException unavailable) {
      outage(unavailable);
    }

    @Override
    public void sentAway(Duration leaseLeft) {
      if (isProbed) {
        answer(Result.HELD, Problems.outcomeUnknown(Duration.ofNanos(Math.max(0, probeLeft()))));
      } else {
        answer(Result.IN_FLIGHT, Problems.inFlight(leaseLeft));
      }
    }
  }

  /** For how many nanoseconds somebody else has the right to ask the upstream. */
  private long probeLeft() {
    return probedUntil - exchanges.scheduler.nanoTime();
  }

  /** Looks at the record without a claim to it, and judges by it. */
  final void look(Consumer<StoredOperation> found, Runnable nothing) {
    phase = Phase.ASKING;
    course.asked();
    Stages.when(
        exchanges.store.find(id()),
        reply -> {
          course.replied();
          reply.ifPresentOrElse(found, nothing);
        },
        unavailable -> {
          course.replied();
          outage(unavailable);
        },
        exchanges.listener);
  }

  /** Answers from the record; a take-over has no place here any more. */
  void answer(Verdict verdict) {
    PiecedResponse pieced =
        verdict instanceof Verdict.Replay replay ? PiecedResponse.of(replay.response()) : null;
    if (pieced != null) {
      replay(pieced);
    } else if (verdict instanceof Verdict.Replay replay && replay.response().isSealed()) {
      // A gateway with other settings put it away; this one has nothing to open it with.
      exchanges.listener.responseUnreadable(
          "the store's encryption or compression is switched off");
      answer(Result.GONE, Problems.responseNotKept(replay.response().status()));
    } else if (verdict instanceof Verdict.Replay replay) {
      replay(ResponseFields.replay(replay.response(), course.head().headers(), route.answers()));
    } else if (verdict instanceof Verdict.NotKept notKept) {
      answer(Result.GONE, Problems.responseNotKept(notKept.status()));
    } else if (verdict instanceof Verdict.KeyReused reused) {
      answer(Result.KEY_REUSED, Problems.keyReused(reused.parts()));
    } else if (verdict instanceof Verdict.InFlight inFlight) {
      answer(Result.IN_FLIGHT, Problems.inFlight(inFlight.leaseLeft()));
    } else if (verdict instanceof Verdict.Unread) {
      // Cut off, so it never will be read; the next request under this key is judged.
      answer(Result.IN_FLIGHT, Problems.inFlight(Duration.ZERO));
    } else {
      answer(Result.HELD, Problems.outcomeUnknown());
    }
  }

  private void replay(Response response) {
    if (isOnlyObserved(Result.REPLAYED)) {
      observe(Result.REPLAYED);
      return;
    }
    course.mark(response.head().headers());
    course.markApplied(response.head().headers());
    int length = response.body().length;
    Charge charge = length > Delivery.PIECE ? exchanges.replays.of(response.body()) : null;
    if (length > Delivery.PIECE && charge == null) {
      answer(Result.OVERLOADED, Problems.overloaded("No memory is left for the response."));
    } else {
      answer(Result.REPLAYED, response, charge);
    }
  }

  private void replay(PiecedResponse pieced) {
    if (isOnlyObserved(Result.REPLAYED)) {
      observe(Result.REPLAYED);
      return;
    }
    Charge charge = Charge.of(exchanges.budget, ResponsePieces.SIZE);
    if (charge == null) {
      answer(Result.OVERLOADED, Problems.overloaded("No memory is left for the response."));
      return;
    }
    phase = Phase.ASKING;
    Response head = ResponseFields.replay(pieced.head(), course.head().headers(), route.answers());
    course.mark(head.head().headers());
    course.markApplied(head.head().headers());
    PieceReplay replay =
        new PieceReplay(
            exchanges,
            id(),
            pieced,
            delivery,
            () -> {
              course.end(Result.GONE, 0);
              abort();
            });
    replay.first(
        first -> begin(replay, head, pieced, first, charge),
        unavailable -> {
          charge.release();
          if (unavailable.isUnreadable()) {
            answer(Result.GONE, Problems.responseNotKept(head.status()));
          } else {
            answer(Result.STORE_UNAVAILABLE, Problems.storeUnavailable());
          }
        });
  }

  private void begin(
      PieceReplay replay, Response head, PiecedResponse pieced, byte[] first, Charge charge) {
    leave();
    Runnable told = () -> course.end(Result.REPLAYED, head.status());
    if (delivery.isGone()) {
      charge.release();
      told.run();
      return;
    }
    boolean framed = head.trailers().isEmpty() || peer.protocol().equals("1.0");
    long length = framed ? pieced.length() : -1;
    delivery.beginFed(head.head(), length, charge, replay::goOn, told);
    replay.begin(first);
  }

  private void storeFailed(Reservation reservation, StoreUnavailableException unavailable) {
    if (!unavailable.isSurelyNotExecuted()) {
      giveUp(reservation);
    }
    outage(unavailable);
  }

  /** The store did not say what there is: goes on without protection, or not at all. */
  private void outage(StoreUnavailableException unavailable) {
    // A record that was met, or can't be read, is a record: the operation may have run.
    if (route.bypass()
        && !met
        && !unavailable.isUnreadable()
        && !abandoned
        && client != ClientStream.GONE) {
      bypass();
    } else {
      answer(Result.STORE_UNAVAILABLE, Problems.storeUnavailable());
    }
  }

  private void bypass() {
    if (isOnlyObserved(Result.BYPASSED)) {
      observe(Result.BYPASSED);
    } else {
      passOn(openBypass(true));
    }
  }

  private boolean isOnlyObserved(Result result) {
    return route.observe() && result.isIntervention() && bypassed == null;
  }

  /**
   * Notes what would have become of the request, which goes on as it would without a gateway.
   *
   * @param result null where it would have gone on
   */
  final void observe(@Nullable Result result) {
    course.observed(result);
    if (client == ClientStream.GONE) {
      finish(Result.CLIENT_GONE, 0);
    } else {
      passOn(openBypass(false));
    }
  }

  /** Nothing of it is decided here any more. */
  final void passOn(PassThroughExchange opened) {
    phase = Phase.ANSWERED;
    place.giveBack();
    exchanges.decided(this);
    bypassed = opened;
    opened.start();
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

  final ClientStream client() {
    return client;
  }

  final Delivery delivery() {
    return delivery;
  }

  /** Cuts a response that was begun. */
  final void abort() {
    client.abort();
    delivery.drop();
  }

  /** Refuses and ends; a route that only observes lets the request go on. */
  final void answer(Result result, ProblemDetails problem) {
    if (isOnlyObserved(result)) {
      observe(result);
    } else {
      answer(result, course.render(problem), null);
    }
  }

  /** Answers with a whole response and ends. */
  final void answer(Result result, Response response) {
    answer(result, response, null);
  }

  /**
   * Answers with a whole response and ends.
   *
   * @param charge for the body, taken over
   */
  final void answer(Result result, Response response, @Nullable Charge charge) {
    byte[] body = response.body();
    if (body.length > Delivery.PIECE && !delivery.isGone()) {
      leave();
      boolean framed = response.trailers().isEmpty() || peer.protocol().equals("1.0");
      delivery.begin(response.head(), framed ? body.length : -1, body, charge);
      delivery.end(response.trailers(), () -> course.end(result, response.status()));
      return;
    }
    client.respond(response);
    if (charge != null) {
      charge.release();
    }
    finish(result, response.status());
  }

  private void finish(Result result, int status) {
    leave();
    course.end(result, status);
  }

  /** Nothing came of the attempt, so that a retry is not one operation more. */
  final void neverBegan() {
    place.giveBack();
  }

  /** The attempt has ended. */
  final void ended() {
    place.end();
  }

  private void leave() {
    phase = Phase.ANSWERED;
    if (attempt == null) {
      place.giveBack();
    }
    if (patience != null) {
      patience.leave();
    }
    drop();
    exchanges.decided(this);
  }

  /** The gateway stops: what nothing was sent for is refused. */
  void abandon() {
    abandoned = true;
    // What a probe finds is written down although nobody waits for it any more.
    if (phase == Phase.READING || phase == Phase.WAITING || phase == Phase.PROBING) {
      answer(Result.SHUTTING_DOWN, Problems.shuttingDown());
    }
  }
}
