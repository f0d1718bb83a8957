package dev.idempotency.gateway.store.memory;

import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.WriteReply;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** A store that belongs to no event loop, as one of them sees it: only notices need to know. */
record LoopView(OperationStore store, Watches watches, Executor loop) implements OperationStore {

  @Override
  public Registration watch(OperationId id, Runnable changed) {
    return watches.watch(id, loop, changed);
  }

  @Override
  public CompletionStage<ReserveReply> reserve(Reservation reservation) {
    return store.reserve(reservation);
  }

  @Override
  public CompletionStage<ReserveReply> takeOver(Reservation reservation) {
    return store.takeOver(reservation);
  }

  @Override
  public CompletionStage<WriteReply> renew(Reservation reservation) {
    return store.renew(reservation);
  }

  @Override
  public CompletionStage<WriteReply> settle(Reservation reservation, Settlement settlement) {
    return store.settle(reservation, settlement);
  }

  @Override
  public CompletionStage<WriteReply> release(Reservation reservation) {
    return store.release(reservation);
  }

  @Override
  public CompletionStage<Optional<StoredOperation>> find(OperationId id) {
    return store.find(id);
  }

  @Override
  public CompletionStage<Page> list(Query query) {
    return store.list(query);
  }

  @Override
  public CompletionStage<List<Long>> count(List<Duration> ages) {
    return store.count(ages);
  }

  @Override
  public CompletionStage<ProbeClaim> claimProbe(
      OperationId id,
      long attempt,
      @Nullable AttemptToken holder,
      Duration first,
      Duration longest) {
    return store.claimProbe(id, attempt, holder, first, longest);
  }

  @Override
  public CompletionStage<ResolveReply> resolve(Resolution resolution) {
    return store.resolve(resolution);
  }

  @Override
  public CompletionStage<List<Entry>> history(OperationId id) {
    return store.history(id);
  }

  @Override
  public CompletionStage<Void> put(Reservation reservation, int index, byte[] bytes) {
    return store.put(reservation, index, bytes);
  }

  @Override
  public CompletionStage<byte[]> get(OperationId id, AttemptToken token, int index) {
    return store.get(id, token, index);
  }

  @Override
  public CompletionStage<Void> drop(Reservation reservation, int count) {
    return store.drop(reservation, count);
  }
}
