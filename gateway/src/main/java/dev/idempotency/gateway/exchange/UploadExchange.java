package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.Fingerprinter;
import dev.idempotency.gateway.idempotency.Fingerprints;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.UnknownPolicy;
import dev.idempotency.gateway.idempotency.Verdict;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A request with a key whose body is too large to be held: the operation is reserved on the head,
 * the body goes upstream as it comes and is hashed on the way, and the record learns the
 * fingerprint before the upstream gets the request's end. So a record whose fingerprint is open is
 * of a request that no upstream has seen whole.
 *
 * <p>A duplicate's body is hashed and thrown away, but only where the record has a fingerprint to
 * compare it with. Where the route forwards again after an unknown outcome, a request that follows
 * one with a fingerprint is ended only if it turns out to be the same.
 */
final class UploadExchange extends KeyedExchange {

  /** After an early response so much more of the request is read, to know what it was. */
  private static final long MOST_REST = 64L << 20;

  private final long contentLength;
  private final Fingerprinter.Running running;
  private long received;
  private long receivedWhenCut;
  private boolean begun;
  private boolean ended;
  private boolean whole;

  /** A record with a fingerprint was met: this request is compared with it. */
  private boolean compares;

  private @Nullable UpstreamConnection connection;

  /** What a duplicate met that is only observed. */
  private @Nullable StoredOperation observed;

  /** A duplicate's own. */
  private @Nullable Fingerprints compared;

  /** The chunk that completes an announced length; without it the request is not whole. */
  private @Nullable Chunk last;

  /**
   * @param contentLength the body's bytes, -1 where they are not announced; not 0
   */
  UploadExchange(
      Exchanges exchanges,
      Claimant claimant,
      Course course,
      long contentLength,
      Peer peer,
      ClientStream client) {
    super(exchanges, claimant, course, peer, client);
    this.contentLength = contentLength;
    this.running = route.fingerprinter().begin(course.head());
  }

  @Override
  void begin() {
    claim(Fingerprints.OPEN);
  }

  // ---- from the client

  @Override
  public void body(Chunk chunk) {
    Exchange other = bypassed();
    if (other != null) {
      if (observed != null) {
        running.add(chunk);
      }
      other.body(chunk);
      return;
    }
    boolean wanted = isReading() || phase() == Phase.ATTEMPTING;
    if (!wanted || whole) {
      chunk.release();
      return;
    }
    received += chunk.length();
    if (received > route.requestLimit() && route.observe()) {
      course.observed(Result.TOO_LARGE);
    } else if (received > route.requestLimit()) {
      chunk.release();
      tooLarge();
      return;
    }
    running.add(chunk);
    pass(chunk);
    Attempt current = attempt();
    if (current != null && connection == null && received - receivedWhenCut > MOST_REST) {
      current.restIsTooLong();
    }
  }

  private void tooLarge() {
    Attempt current = attempt();
    if (current != null) {
      current.tooLarge(Problems.bodyTooLarge(route.requestLimit()));
    } else {
      answer(Result.TOO_LARGE, Problems.bodyTooLarge(route.requestLimit()));
    }
  }

  private void pass(Chunk chunk) {
    UpstreamConnection live = connection;
    if (live == null) {
      chunk.release();
    } else if (received == contentLength) {
      last = chunk;
    } else {
      live.write(chunk);
      if (!live.isWritable()) {
        client().pauseBody();
      }
    }
  }

  @Override
  public void bodyEnd() {
    Exchange other = bypassed();
    if (other != null) {
      if (observed != null) {
        course.observed(wouldBe(observed, running.end()));
      }
      other.bodyEnd();
      return;
    }
    ended = true;
    endIfWanted();
  }

  /** The end of a body without bytes comes unasked, even before the body is wanted. */
  private void endIfWanted() {
    boolean wanted = isReading() || (begun && phase() == Phase.ATTEMPTING);
    if (!ended || !wanted || whole) {
      return;
    }
    whole = true;
    Fingerprints made = running.end();
    Attempt current = attempt();
    if (current != null) {
      current.requestIsWhole(made);
    } else {
      compare(made);
    }
  }

  @Override
  public void flush() {
    Exchange other = bypassed();
    if (other != null) {
      other.flush();
    } else if (connection != null) {
      connection.flush();
    }
  }

  // ---- a duplicate

  @Override
  void unread(StoredOperation operation) {
    if (route.observe()) {
      // The body streams on and is hashed on the way; until its end it is taken for the same.
      observed = operation;
      observe(wouldBe(operation, Fingerprints.only(operation.fingerprint())));
      return;
    }
    compares = true;
    boolean retried =
        operation.state() instanceof StoredOperation.OutcomeUnknown
            && route.unknown() == UnknownPolicy.RETRY;
    if (retried) {
      again(() -> takeOver(operation.fingerprint(), operation.attempt(), operation.holder()));
    } else {
      read();
      endIfWanted();
    }
  }

  /** What would become of a duplicate; null where it would be forwarded. */
  private @Nullable Result wouldBe(StoredOperation operation, Fingerprints made) {
    Verdict verdict = Verdict.on(operation, made, route.unknown());
    if (verdict instanceof Verdict.KeyReused) {
      return Result.KEY_REUSED;
    } else if (verdict instanceof Verdict.TakeOver) {
      return null;
    } else if (verdict instanceof Verdict.InFlight) {
      return Result.IN_FLIGHT;
    } else if (verdict instanceof Verdict.Replay) {
      return Result.REPLAYED;
    }
    return verdict instanceof Verdict.Hold || verdict instanceof Verdict.Probe
        ? Result.HELD
        : Result.GONE;
  }

  /** Looks at the record as it is now: nothing of it was held while the body was read. */
  private void compare(Fingerprints made) {
    compared = made;
    look(operation -> judge(operation, made), this::comesTooLate);
  }

  private void judge(StoredOperation operation, Fingerprints made) {
    Verdict verdict = Verdict.on(operation, made, route.unknown());
    if (verdict instanceof Verdict.Probe probe && !route.observe()) {
      probe(probe);
    } else if (verdict instanceof Verdict.InFlight inFlight) {
      waitOrRefuse(inFlight.leaseLeft());
    } else if (verdict instanceof Verdict.TakeOver) {
      answer(Result.IN_FLIGHT, Problems.inFlight(Duration.ZERO));
    } else {
      answer(verdict);
    }
  }

  @Override
  Fingerprints judgedBy() {
    return compared == null ? fingerprints() : compared;
  }

  @Override
  void waitedFor(StoredOperation operation) {
    if (compared == null) {
      super.waitedFor(operation);
    } else {
      judge(operation, compared);
    }
  }

  @Override
  void waitedInVain() {
    if (compared == null) {
      super.waitedInVain();
    } else {
      comesTooLate();
    }
  }

  /** The operation was released meanwhile, and the body is gone. */
  private void comesTooLate() {
    answer(Result.IN_FLIGHT, Problems.inFlight(Duration.ZERO));
  }

  // ---- on its way out

  @Override
  public boolean send(UpstreamConnection live, RequestHead head, ResponseReceiver receiver) {
    if (!live.begin(head, contentLength, receiver)) {
      return false;
    }
    if (!compares) {
      running.beginsAnew();
    }
    connection = live;
    begun = true;
    client().wantBody();
    endIfWanted();
    // The upstream may want to see the head before the client sends anything.
    if (connection != null) {
      connection.flush();
    }
    return true;
  }

  @Override
  public void writable() {
    client().resumeBody();
  }

  @Override
  public boolean isWhole() {
    return whole;
  }

  /** It is gone when it is whole. */
  @Override
  byte @Nullable [] wholeBody() {
    return null;
  }

  @Override
  public void finish() {
    UpstreamConnection live = connection;
    connection = null;
    if (live == null) {
      return;
    }
    Chunk held = last;
    // The connection owns it from here on, even if it fails at once and this is told to cut.
    last = null;
    if (held != null) {
      live.write(held);
    }
    live.end();
  }

  @Override
  public void cut() {
    connection = null;
    receivedWhenCut = received;
    if (last != null) {
      last.release();
      last = null;
    }
    client().resumeBody();
  }

  @Override
  public boolean isNearlyWhole() {
    return contentLength - received <= MOST_REST;
  }

  @Override
  PassThroughExchange openBypass(boolean said) {
    PassThroughExchange opened =
        PassThroughExchange.bypass(route, course, contentLength, said, peer, client());
    if (ended) {
      opened.bodyEnd();
    }
    return opened;
  }

  @Override
  void drop() {
    connection = null;
    if (last != null) {
      last.release();
      last = null;
    }
  }
}
