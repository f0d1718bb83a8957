package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.ArrayChunk;
import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.Fingerprinter;
import dev.idempotency.gateway.idempotency.Fingerprints;
import dev.idempotency.gateway.idempotency.IdempotencyKey.Reading;
import dev.idempotency.gateway.idempotency.StoredOperation;
import java.time.Duration;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A request with a key whose body is gathered in memory before the store is asked.
 *
 * <p>Where no key was in front of the body it is looked for in it, or derived from it, as the
 * route's rule says; without one the request is refused or goes on unprotected.
 *
 * <p>Where the memory of all bodies is used up, the client is read no further for some seconds, and
 * only then refused.
 */
final class GatheredExchange extends KeyedExchange {

  private static final Duration MEMORY_BEAT = Duration.ofMillis(50);
  private static final Duration MEMORY_PATIENCE = Duration.ofSeconds(5);

  private final BodyBuffer body;
  private final long contentLength;

  /** What found no memory, and what came behind it before the client's edge stopped. */
  private @Nullable ArrayDeque<Chunk> waiting;

  private long memoryUntil;
  private boolean whole;

  /** The body is another's. */
  private boolean given;

  /**
   * @param contentLength the body's bytes, -1 where they are not announced
   */
  GatheredExchange(
      Exchanges exchanges,
      Claimant claimant,
      Course course,
      long contentLength,
      Peer peer,
      ClientStream client) {
    super(exchanges, claimant, course, peer, client);
    this.contentLength = contentLength;
    this.body = BodyBuffer.of(route.requestLimit(), contentLength, exchanges.budget);
  }

  @Override
  void begin() {
    read();
  }

  @Override
  public void body(Chunk chunk) {
    Exchange other = bypassed();
    if (other != null) {
      other.body(chunk);
    } else if (!isReading()) {
      chunk.release();
    } else if (isWaiting()) {
      waiting(chunk);
    } else if (!add(chunk)) {
      waitForMemory(chunk);
    }
  }

  /** Releases the chunk unless there is no memory for it. */
  private boolean add(Chunk chunk) {
    BodyBuffer.Addition addition = body.add(chunk);
    if (addition != BodyBuffer.Addition.ADDED && route.observe()) {
      goOn(chunk, addition);
      return true;
    }
    if (addition == BodyBuffer.Addition.OVER_BUDGET && body.couldAdd(chunk)) {
      return false;
    }
    chunk.release();
    if (addition == BodyBuffer.Addition.OVER_LIMIT) {
      answer(Result.TOO_LARGE, Problems.bodyTooLarge(route.requestLimit()));
    } else if (addition == BodyBuffer.Addition.OVER_BUDGET) {
      outOfMemory();
    }
    return true;
  }

  /** The body is not gathered any further: what there is of it goes first, the rest streams. */
  private void goOn(Chunk chunk, BodyBuffer.Addition addition) {
    boolean tooLarge = addition == BodyBuffer.Addition.OVER_LIMIT;
    waiting(chunk);
    observe(tooLarge ? Result.TOO_LARGE : Result.OVERLOADED);
  }

  private void outOfMemory() {
    answer(Result.OVERLOADED, Problems.overloaded("No memory is left for the request's body."));
  }

  private boolean isWaiting() {
    return waiting != null && !waiting.isEmpty();
  }

  private void waiting(Chunk chunk) {
    if (waiting == null) {
      waiting = new ArrayDeque<>();
    }
    waiting.add(chunk);
  }

  private void waitForMemory(Chunk chunk) {
    waiting(chunk);
    client().pauseBody();
    memoryUntil = exchanges.scheduler.nanoTime() + MEMORY_PATIENCE.toNanos();
    exchanges.scheduler.schedule(this::addWaiting, MEMORY_BEAT);
  }

  private void addWaiting() {
    while (isReading() && waiting != null && !waiting.isEmpty()) {
      Chunk next = waiting.remove();
      if (!add(next)) {
        waiting.addFirst(next);
        if (exchanges.scheduler.nanoTime() - memoryUntil >= 0) {
          outOfMemory();
        } else {
          exchanges.scheduler.schedule(this::addWaiting, MEMORY_BEAT);
        }
        return;
      }
    }
    if (isReading()) {
      client().resumeBody();
      claimIfWhole();
    }
  }

  @Override
  public void bodyEnd() {
    whole = true;
    Exchange other = bypassed();
    if (other != null) {
      other.bodyEnd();
    } else {
      claimIfWhole();
    }
  }

  @Override
  public void flush() {
    Exchange other = bypassed();
    if (other != null) {
      other.flush();
    }
  }

  private void claimIfWhole() {
    if (whole && isReading() && !isWaiting()) {
      if (isNamed()) {
        claimMade();
      } else {
        search();
      }
    }
  }

  private void claimMade() {
    Fingerprints made = made();
    if (made.isTooLarge()) {
      answer(Result.TOO_LARGE, Problems.bodyTooLargeDecoded(route.requestLimit()));
    } else {
      claim(made);
    }
  }

  /** Nothing in front of the body has a key. */
  private void search() {
    Reading reading = KeyReader.inBody(route.keys(), course.head(), body.toByteArray());
    if (reading instanceof Reading.Malformed malformed) {
      answer(Result.KEY_INVALID, Problems.keyInvalid(route.keys(), malformed.reason()));
    } else if (reading instanceof Reading.Present present) {
      name(present.key());
      claimMade();
    } else if (mayDerive()) {
      claimMade();
    } else if (route.keying() == Route.Keying.OPTIONAL) {
      passOn(openBypass(false));
    } else {
      answer(Result.KEY_MISSING, Problems.keyMissing(route.keys()));
    }
  }

  private Fingerprints made() {
    Fingerprinter fingerprinter = route.fingerprinter();
    return route.streamsRequest()
        ? streamed(fingerprinter.begin(course.head()))
        : fingerprinter.fingerprint(course.head(), body.toByteArray());
  }

  /** As the route's requests count that stream. */
  private Fingerprints streamed(Fingerprinter.Running running) {
    if (body.length() > 0) {
      running.add(new ArrayChunk(body.toByteArray(), 0, body.length()));
    }
    return running.end();
  }

  @Override
  byte[] wholeBody() {
    return body.toByteArray();
  }

  @Override
  void unread(StoredOperation operation) {
    throw new IllegalStateException("a gathered request has its fingerprint");
  }

  @Override
  PassThroughExchange openBypass(boolean said) {
    given = true;
    if (whole && !isWaiting()) {
      return PassThroughExchange.bypass(route, course, body, said, peer, client());
    }
    PassThroughExchange opened =
        PassThroughExchange.goOn(route, course, contentLength, body, peer, client());
    while (waiting != null && !waiting.isEmpty()) {
      opened.body(waiting.remove());
    }
    if (whole) {
      opened.bodyEnd();
    }
    return opened;
  }

  @Override
  void drop() {
    if (!given) {
      body.release();
    }
    if (waiting != null) {
      waiting.forEach(Chunk::release);
      waiting.clear();
    }
  }

  // ---- on its way out

  @Override
  public boolean send(UpstreamConnection connection, RequestHead head, ResponseReceiver receiver) {
    return connection.send(head, body.toByteArray(), receiver);
  }

  @Override
  public void writable() {}

  @Override
  public boolean isWhole() {
    return whole;
  }

  @Override
  public void finish() {}

  @Override
  public void cut() {}

  @Override
  public boolean isNearlyWhole() {
    return true;
  }
}
