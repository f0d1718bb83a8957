package dev.idempotency.gateway.store.envelope;

import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.Note;
import dev.idempotency.gateway.idempotency.OpenOperation;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.StoredResponse;
import dev.idempotency.gateway.idempotency.WriteReply;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Puts responses away compressed and encrypted, in front of the store that keeps them, and takes
 * them out again. A response that was stored without an envelope is read as it is.
 *
 * <p>What can't be taken out (its key is gone, it was changed, or copied from another record) is
 * done but not kept: never "no record", since that would let the operation run a second time.
 *
 * <p>Threading: belongs to one event loop, as the store behind it does. Work on more than {@link
 * #LONG} bytes is done by the workers, and its result comes back on the loop. Commands are sent in
 * the order in which they are called, except that others pass a long response on its way to the
 * store: the owner of an attempt calls nothing for it meanwhile.
 */
public final class EnvelopeStore implements OperationStore {

  /** Bytes from which on an event loop does not do the work itself. */
  static final int LONG = 64 << 10;

  private final OperationStore inner;
  private final Envelopes envelopes;
  private final SealedNotes notes;
  private final Executor loop;
  private final Executor workers;
  private final Consumer<String> unreadable;

  /**
   * A store in front of another.
   *
   * @param most bytes of the longest body that a route keeps; a longer one is not taken out
   * @param loop runs on the event loop that the store belongs to
   * @param workers do long work; where they refuse it, responses are put away uncompressed
   * @param unreadable hears of responses that can't be taken out: text for the log, without what is
   *     in them; must not throw
   */
  public EnvelopeStore(
      OperationStore inner,
      EnvelopeOptions options,
      int most,
      Executor loop,
      Executor workers,
      Consumer<String> unreadable) {
    this.inner = inner;
    this.envelopes = new Envelopes(options, most);
    this.notes = new SealedNotes(envelopes);
    this.loop = loop;
    this.workers = workers;
    this.unreadable = unreadable;
  }

  @Override
  public CompletionStage<ReserveReply> reserve(Reservation reservation) {
    return opened(reservation, inner.reserve(noted(reservation)));
  }

  @Override
  public CompletionStage<ReserveReply> takeOver(Reservation reservation) {
    return opened(reservation, inner.takeOver(noted(reservation)));
  }

  private Reservation noted(Reservation reservation) {
    Note note = reservation.note();
    Note sealed = notes.seal(reservation.id(), reservation.attempt(), note);
    return sealed.equals(note) ? reservation : reservation.with(sealed);
  }

  private CompletionStage<ReserveReply> opened(
      Reservation reservation, CompletionStage<ReserveReply> stage) {
    return stage.thenCompose(
        reply ->
            reply instanceof ReserveReply.Existing existing && isSealed(existing.operation())
                ? open(reservation.id(), existing.operation()).thenApply(ReserveReply.Existing::new)
                : CompletableFuture.completedFuture(reply));
  }

  @Override
  public CompletionStage<WriteReply> renew(Reservation reservation) {
    return fenced(reservation, inner.renew(noted(reservation)));
  }

  @Override
  public CompletionStage<WriteReply> settle(Reservation reservation, Settlement settlement) {
    if (!(settlement instanceof Settlement.Completed completed)
        || !envelopes.take(completed.response())) {
      return fenced(reservation, inner.settle(noted(reservation), settlement));
    }
    StoredResponse response = completed.response();
    if (response.body().length <= LONG) {
      return fenced(reservation, inner.settle(reservation, seal(reservation, response, false)));
    }
    return fenced(
        reservation,
        elsewhere(() -> seal(reservation, response, false), () -> seal(reservation, response, true))
            .thenCompose(put -> inner.settle(reservation, put)));
  }

  private Settlement seal(Reservation reservation, StoredResponse response, boolean hurried) {
    try {
      Binding binding = Binding.of(reservation, response.status());
      return new Settlement.Completed(envelopes.seal(binding, response, hurried));
    } catch (RuntimeException | OutOfMemoryError e) {
      // The operation ran, and to say so needs no envelope; in clear it is never put away.
      unreadable.accept(named(reservation.id()) + " can't be put away: " + e);
      return new Settlement.NotKept(response.status());
    }
  }

  @Override
  public long sinceLoss(OperationId id) {
    return inner.sinceLoss(id);
  }

  @Override
  public CompletionStage<WriteReply> release(Reservation reservation) {
    return fenced(reservation, inner.release(reservation));
  }

  private CompletionStage<WriteReply> fenced(
      Reservation reservation, CompletionStage<WriteReply> stage) {
    return stage.thenCompose(
        reply ->
            reply instanceof WriteReply.Fenced fenced && isSealed(fenced.current())
                ? open(reservation.id(), fenced.current()).thenApply(WriteReply.Fenced::new)
                : CompletableFuture.completedFuture(reply));
  }

  @Override
  public CompletionStage<Optional<StoredOperation>> find(OperationId id) {
    return inner
        .find(id)
        .thenCompose(
            found ->
                found.isPresent() && isSealed(found.get())
                    ? open(id, found.get()).thenApply(Optional::of)
                    : CompletableFuture.completedFuture(
                        found.map(operation -> readable(id, operation))));
  }

  @Override
  public CompletionStage<Page> list(Query query) {
    return inner
        .list(query)
        .thenApply(
            page -> new Page(page.operations().stream().map(this::readable).toList(), page.next()));
  }

  private OpenOperation readable(OpenOperation open) {
    return new OpenOperation(open.id(), readable(open.id(), open.operation()), open.overdue());
  }

  private StoredOperation readable(OperationId id, StoredOperation operation) {
    Note note = notes.open(id, operation.attempt(), operation.note());
    return note.equals(operation.note())
        ? operation
        : new StoredOperation(
            operation.attempt(),
            operation.fingerprint(),
            operation.state(),
            note,
            operation.holder());
  }

  @Override
  public CompletionStage<List<Long>> count(List<Duration> ages) {
    return inner.count(ages);
  }

  @Override
  public CompletionStage<ProbeClaim> claimProbe(
      OperationId id,
      long attempt,
      @Nullable AttemptToken holder,
      Duration first,
      Duration longest) {
    return inner.claimProbe(id, attempt, holder, first, longest);
  }

  /** An envelope is bound to the fingerprint, which the record knows. */
  @Override
  public CompletionStage<ResolveReply> resolve(Resolution resolution) {
    return put(resolution)
        .thenCompose(
            reply ->
                reply instanceof ResolveReply.Refused refused && isSealed(refused.current())
                    ? open(resolution.id(), refused.current()).thenApply(ResolveReply.Refused::new)
                    : CompletableFuture.completedFuture(reply));
  }

  private CompletionStage<ResolveReply> put(Resolution resolution) {
    if (!(resolution.action() instanceof Resolution.Complete complete)
        || !envelopes.take(complete.response())) {
      return inner.resolve(resolution);
    }
    return inner
        .find(resolution.id())
        .thenCompose(
            found ->
                found.isPresent()
                    ? inner.resolve(sealed(resolution, complete.response(), found.get()))
                    : CompletableFuture.completedFuture(ResolveReply.GONE));
  }

  private Resolution sealed(
      Resolution resolution, StoredResponse response, StoredOperation current) {
    Binding binding =
        new Binding(
            resolution.id(), resolution.attempt(), current.fingerprint(), response.status());
    return new Resolution(
        resolution.id(),
        resolution.attempt(),
        resolution.holder(),
        resolution.token(),
        new Resolution.Complete(envelopes.seal(binding, response, false)),
        resolution.retention(),
        resolution.audit());
  }

  @Override
  public CompletionStage<List<Entry>> history(OperationId id) {
    return inner.history(id);
  }

  @Override
  public Registration watch(OperationId id, Runnable changed) {
    return inner.watch(id, changed);
  }

  @Override
  public CompletionStage<Void> put(Reservation reservation, int index, byte[] bytes) {
    if (!envelopes.encrypt()) {
      return inner.put(reservation, index, bytes);
    }
    PieceBinding binding = new PieceBinding(reservation.id(), reservation.token(), index);
    Supplier<byte[]> task = () -> envelopes.seal(binding, bytes);
    CompletionStage<byte[]> sealed =
        bytes.length <= LONG
            ? CompletableFuture.completedFuture(task.get())
            : elsewhere(task, task);
    return sealed.thenCompose(put -> inner.put(reservation, index, put));
  }

  @Override
  public CompletionStage<byte[]> get(OperationId id, AttemptToken token, int index) {
    if (!envelopes.encrypt()) {
      return inner.get(id, token, index);
    }
    PieceBinding binding = new PieceBinding(id, token, index);
    return inner
        .get(id, token, index)
        .thenCompose(
            piece -> {
              Supplier<CompletionStage<byte[]>> task = () -> opened(binding, piece);
              return piece.length <= LONG
                  ? task.get()
                  : elsewhere(task, task).thenCompose(done -> done);
            });
  }

  private CompletionStage<byte[]> opened(PieceBinding binding, byte[] sealed) {
    try {
      return CompletableFuture.completedFuture(envelopes.open(binding, sealed));
    } catch (UnreadableException | RuntimeException e) {
      return CompletableFuture.failedFuture(
          StoreUnavailableException.unreadable(
              "a piece of " + named(binding.id()) + " can't be read: " + e.getMessage()));
    }
  }

  @Override
  public CompletionStage<Void> drop(Reservation reservation, int count) {
    return inner.drop(reservation, count);
  }

  private static boolean isSealed(StoredOperation operation) {
    return operation.state() instanceof StoredOperation.Completed completed
        && completed.response().isSealed();
  }

  private CompletionStage<StoredOperation> open(OperationId id, StoredOperation operation) {
    StoredResponse sealed = ((StoredOperation.Completed) operation.state()).response();
    Supplier<StoredOperation> task =
        () ->
            new StoredOperation(
                operation.attempt(), operation.fingerprint(), open(id, operation, sealed));
    return Envelopes.work(sealed) <= LONG
        ? CompletableFuture.completedFuture(task.get())
        : elsewhere(task, task);
  }

  private StoredOperation.State open(
      OperationId id, StoredOperation operation, StoredResponse sealed) {
    try {
      Binding binding = Binding.of(id, operation, sealed.status());
      return new StoredOperation.Completed(envelopes.open(binding, sealed));
    } catch (UnreadableException e) {
      unreadable.accept(named(id) + " can't be read: " + e.getMessage());
    } catch (RuntimeException | OutOfMemoryError e) {
      unreadable.accept(named(id) + " can't be read: " + e);
    }
    return new StoredOperation.NotKept(sealed.status());
  }

  private static String named(OperationId id) {
    return "the response of operation " + id;
  }

  /**
   * Has the workers do it.
   *
   * @param hurried what the loop does itself where they are busy
   */
  private <T> CompletionStage<T> elsewhere(Supplier<T> task, Supplier<T> hurried) {
    CompletableFuture<T> result = new CompletableFuture<>();
    try {
      workers.execute(() -> bringBack(task.get(), result));
      return result;
    } catch (RejectedExecutionException e) {
      return CompletableFuture.completedFuture(hurried.get());
    }
  }

  private <T> void bringBack(T done, CompletableFuture<T> result) {
    try {
      loop.execute(() -> result.complete(done));
    } catch (RejectedExecutionException e) {
      // The loop has ended, and nobody waits there any more.
      result.completeExceptionally(
          StoreUnavailableException.notExecuted("the gateway has stopped"));
    }
  }
}
