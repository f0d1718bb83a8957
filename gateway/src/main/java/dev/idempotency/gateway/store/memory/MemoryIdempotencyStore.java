package dev.idempotency.gateway.store.memory;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.OperationRecord;
import dev.idempotency.gateway.idempotency.OperationRecord.Step;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoreHealth;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.WriteReply;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps records in this process, bounded by their weight. No record is ever dropped before its
 * retention ends, since that would let its operation run a second time: a full store refuses new
 * reservations instead.
 *
 * <p>Threading: may be called from any thread; every stage is complete when it is returned. The
 * store has no thread of its own; what has expired is removed along with later commands.
 */
public final class MemoryIdempotencyStore implements OperationStore, StoreHealth {

  /** Default of the weight that new reservations stop at: 64 MiB. */
  public static final long DEFAULT_CAPACITY = 64L << 20;

  private final Cache<OperationId, OperationRecord> records;
  private final Cache<OperationId, Companion> companions;
  private final AtomicLong weight = new AtomicLong();
  private final Watches watches = new Watches();
  private final Pieces pieces;
  private final LongSupplier nanoClock;
  private final long capacity;

  private MemoryIdempotencyStore(long capacity, LongSupplier nanoClock) {
    if (capacity < 1) {
      throw new IllegalArgumentException("capacity " + capacity + ", expected: 1 byte or more");
    }
    this.capacity = capacity;
    long origin = nanoClock.getAsLong();
    this.nanoClock = () -> nanoClock.getAsLong() - origin;
    this.pieces = new Pieces(this.nanoClock, weight);
    this.records =
        Caffeine.newBuilder()
            .ticker(this.nanoClock::getAsLong)
            .executor(Runnable::run)
            .expireAfter(
                Expiry.writing((OperationId id, OperationRecord record) -> lifetime(record)))
            .evictionListener((id, record, cause) -> weight.addAndGet(-Weight.of(record)))
            .build();
    this.companions =
        Caffeine.newBuilder()
            .ticker(this.nanoClock::getAsLong)
            .executor(Runnable::run)
            .expireAfter(
                Expiry.writing((OperationId id, Companion beside) -> until(beside.expiresAt())))
            .build();
  }

  /** With the default capacity and the system's monotonic clock. */
  public static MemoryIdempotencyStore create() {
    return create(DEFAULT_CAPACITY);
  }

  /**
   * With the system's monotonic clock.
   *
   * @param capacity in bytes of heap, estimated; 1 or more. Responses of operations that were
   *     admitted may exceed it by a quarter; what exceeds even that is recorded as done without its
   *     response
   */
  public static MemoryIdempotencyStore create(long capacity) {
    return create(capacity, System::nanoTime);
  }

  /**
   * With a clock of one's own.
   *
   * @param nanoClock never goes back; in nanoseconds, of any origin
   */
  public static MemoryIdempotencyStore create(long capacity, LongSupplier nanoClock) {
    return new MemoryIdempotencyStore(capacity, nanoClock);
  }

  /** How many records there are; may still count some that have expired. */
  public long size() {
    return records.estimatedSize();
  }

  /** What the records weigh, in bytes of heap, estimated. */
  public long weight() {
    return weight.get();
  }

  @Override
  public boolean reachable() {
    return true;
  }

  @Override
  public String detail() {
    return "in this process: " + size() + " records, " + weight() + " of " + capacity + " bytes";
  }

  @Override
  public CompletionStage<ReserveReply> reserve(Reservation reservation) {
    if (isFull()) {
      records.cleanUp();
    }
    return execute(
        reservation.id(),
        !isFull(),
        (current, now) -> OperationRecord.reserve(current, reservation, now));
  }

  @Override
  public CompletionStage<ReserveReply> takeOver(Reservation reservation) {
    return execute(
        reservation.id(),
        true,
        (current, now) -> OperationRecord.takeOver(current, reservation, now));
  }

  @Override
  public CompletionStage<WriteReply> renew(Reservation reservation) {
    return execute(
        reservation.id(), true, (current, now) -> OperationRecord.renew(current, reservation, now));
  }

  @Override
  public CompletionStage<WriteReply> settle(Reservation reservation, Settlement settlement) {
    Settlement kept = fitting(settlement);
    CompletionStage<WriteReply> reply =
        execute(
            reservation.id(),
            true,
            (current, now) -> OperationRecord.settle(current, reservation, kept, now));
    watches.changed(reservation.id());
    return reply;
  }

  @Override
  public CompletionStage<WriteReply> release(Reservation reservation) {
    CompletionStage<WriteReply> reply =
        execute(
            reservation.id(),
            true,
            (current, now) -> OperationRecord.release(current, reservation, now));
    watches.changed(reservation.id());
    return reply;
  }

  @Override
  public CompletionStage<Void> put(Reservation reservation, int index, byte[] bytes) {
    return pieces.put(reservation, index, bytes, capacity + capacity / 4)
        ? CompletableFuture.completedFuture(null)
        : CompletableFuture.failedFuture(full());
  }

  @Override
  public CompletionStage<byte[]> get(OperationId id, AttemptToken token, int index) {
    byte[] piece = pieces.get(id, token, index);
    return piece != null
        ? CompletableFuture.completedFuture(piece)
        : CompletableFuture.failedFuture(
            StoreUnavailableException.unreadable("a piece of the response is not there"));
  }

  @Override
  public CompletionStage<Void> drop(Reservation reservation, int count) {
    pieces.drop(reservation, count);
    return CompletableFuture.completedFuture(null);
  }

  /** Calls back on whatever thread changes the record; see {@link #on}. */
  @Override
  public Registration watch(OperationId id, Runnable changed) {
    return watches.watch(id, Runnable::run, changed);
  }

  /**
   * The same store for one event loop: it tells of changes there.
   *
   * @param loop runs on that loop, later, what it is given
   */
  public OperationStore on(Executor loop) {
    return new LoopView(this, watches, loop);
  }

  @Override
  public CompletionStage<Optional<StoredOperation>> find(OperationId id) {
    OperationRecord record = records.getIfPresent(id);
    long now = now();
    return CompletableFuture.completedFuture(
        record == null || record.expiresAt() <= now
            ? Optional.empty()
            : Optional.of(record.seenAt(now)));
  }

  @Override
  public CompletionStage<Page> list(Query query) {
    return CompletableFuture.completedFuture(new OpenPages(records.asMap()).page(query, now()));
  }

  @Override
  public CompletionStage<List<Long>> count(List<Duration> ages) {
    OpenPages open = new OpenPages(records.asMap());
    long now = now();
    return CompletableFuture.completedFuture(
        ages.stream().map(least -> open.count(least, now)).toList());
  }

  @Override
  public CompletionStage<ProbeClaim> claimProbe(
      OperationId id,
      long attempt,
      @Nullable AttemptToken holder,
      Duration first,
      Duration longest) {
    AtomicReference<ProbeClaim> reply = new AtomicReference<>(new ProbeClaim.Busy(Duration.ZERO));
    companions
        .asMap()
        .compute(
            id,
            (key, current) -> {
              OperationRecord record = records.getIfPresent(id);
              Companion beside = current == null ? Companion.NONE : current;
              if (record == null
                  || record.attempt() != attempt
                  || (holder != null && !holder.equals(record.token()))
                  || record.openSince() < 0) {
                return current;
              }
              long left = beside.triesOf(record.token()) > 0 ? beside.until() - now() : 0;
              if (left > 0) {
                reply.setPlain(new ProbeClaim.Busy(Duration.ofMillis(left)));
                return current;
              }
              int tries = beside.triesOf(record.token());
              Duration overdue = Duration.ofMillis(Math.max(0, now() - record.openSince()));
              reply.setPlain(new ProbeClaim.Claimed(record.token(), tries, overdue));
              return beside.claimed(
                  record.token(), now() + hold(first, longest, tries), record.expiresAt());
            });
    return CompletableFuture.completedFuture(Objects.requireNonNull(reply.getPlain()));
  }

  private static long hold(Duration first, Duration longest, int tries) {
    return Math.min(first.toMillis() << Math.min(tries, 20), longest.toMillis());
  }

  /** The two maps are written one inside the other, so that no resolution is without its entry. */
  @Override
  public CompletionStage<ResolveReply> resolve(Resolution resolution) {
    AtomicReference<CompletionStage<ResolveReply>> replied =
        new AtomicReference<>(CompletableFuture.completedFuture(ResolveReply.DONE));
    companions
        .asMap()
        .compute(
            resolution.id(),
            (id, current) -> {
              Companion beside = current == null ? Companion.NONE : current;
              if (resolution.token().equals(beside.latest())) {
                return current;
              }
              CompletionStage<ResolveReply> reply =
                  execute(
                      id, true, (record, now) -> OperationRecord.resolve(record, resolution, now));
              replied.setPlain(reply);
              boolean done = ResolveReply.DONE.equals(reply.toCompletableFuture().getNow(null));
              return done
                  ? beside.with(
                      entry(resolution),
                      resolution.token(),
                      life(id, now() + resolution.retention().toMillis()))
                  : current;
            });
    watches.changed(resolution.id());
    return Objects.requireNonNull(replied.getPlain());
  }

  private long life(OperationId id, long least) {
    OperationRecord record = records.getIfPresent(id);
    return record == null ? least : Math.max(least, record.expiresAt());
  }

  private static Entry entry(Resolution resolution) {
    return new Entry(
        System.currentTimeMillis(),
        resolution.action().word(),
        resolution.attempt(),
        resolution.audit());
  }

  @Override
  public CompletionStage<List<Entry>> history(OperationId id) {
    Companion beside = companions.getIfPresent(id);
    return CompletableFuture.completedFuture(beside == null ? List.of() : beside.history());
  }

  /**
   * Runs a rule inside the map's compute, so that nothing comes between reading and writing.
   *
   * @param admits whether a record may come to be where there was none
   */
  private <R> CompletionStage<R> execute(OperationId operation, boolean admits, Rule<R> rule) {
    AtomicReference<@Nullable R> reply = new AtomicReference<>();
    records
        .asMap()
        .compute(
            operation,
            (id, current) -> {
              Step<R> step = rule.on(current, now());
              if (current == null && step.next() != null && !admits) {
                return null;
              }
              reply.setPlain(step.reply());
              return weighed(current, step.next());
            });
    R replied = reply.getPlain();
    return replied != null
        ? CompletableFuture.completedFuture(replied)
        : CompletableFuture.failedFuture(full());
  }

  private @Nullable OperationRecord weighed(
      @Nullable OperationRecord current, @Nullable OperationRecord next) {
    if (next != current) {
      weight.addAndGet(Weight.of(next) - Weight.of(current));
    }
    return next;
  }

  private Settlement fitting(Settlement settlement) {
    if (settlement instanceof Settlement.Completed completed
        && weight.get() + Weight.of(completed.response()) > capacity + capacity / 4) {
      // The operation ran, and to say so takes no room; to forget it could make it run again.
      return new Settlement.NotKept(completed.response().status());
    }
    return settlement;
  }

  private boolean isFull() {
    return weight.get() >= capacity;
  }

  private StoreUnavailableException full() {
    return StoreUnavailableException.notExecuted("memory store is full: " + detail());
  }

  private long now() {
    return TimeUnit.NANOSECONDS.toMillis(nanoClock.getAsLong());
  }

  private Duration lifetime(OperationRecord record) {
    return until(record.expiresAt());
  }

  private Duration until(long millis) {
    long nanos = TimeUnit.MILLISECONDS.toNanos(millis) - nanoClock.getAsLong();
    return Duration.ofNanos(Math.max(nanos, 0));
  }

  /** One of the rules of {@link OperationRecord}, with its command. */
  @FunctionalInterface
  private interface Rule<R> {
    Step<R> on(@Nullable OperationRecord current, long now);
  }
}
