package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.idempotency.AttemptToken;
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
import dev.idempotency.gateway.idempotency.WriteReply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Operations as a test wrote them down; cursors are positions. Pages have two at most. */
final class OpenOperationsBook implements OperationStore {

  static final int PAGE = 2;

  final List<OpenOperation> open = new ArrayList<>();
  final Map<OperationId, StoredOperation> finished = new LinkedHashMap<>();
  final List<Resolution> resolutions = new ArrayList<>();
  final List<Entry> entries = new ArrayList<>();
  ResolveReply reply = ResolveReply.DONE;
  boolean away;

  private <T> CompletionStage<T> now(T value) {
    return away
        ? CompletableFuture.failedFuture(StoreUnavailableException.notExecuted("away"))
        : CompletableFuture.completedFuture(value);
  }

  @Override
  public CompletionStage<Page> list(Query query) {
    List<OpenOperation> all =
        open.stream().filter(one -> one.overdue().compareTo(query.least()) >= 0).toList();
    if (!query.least().isNegative()) {
      all =
          all.stream()
              .filter(one -> one.operation().state() instanceof StoredOperation.OutcomeUnknown)
              .toList();
    }
    int from = query.cursor().isEmpty() ? 0 : Integer.parseInt(query.cursor());
    int to = Math.min(all.size(), from + Math.min(PAGE, query.most()));
    return now(new Page(all.subList(from, to), to == all.size() ? "" : Integer.toString(to)));
  }

  @Override
  public CompletionStage<List<Entry>> history(OperationId id) {
    return now(entries);
  }

  @Override
  public CompletionStage<ResolveReply> resolve(Resolution resolution) {
    resolutions.add(resolution);
    return now(reply);
  }

  @Override
  public CompletionStage<Optional<StoredOperation>> find(OperationId id) {
    Optional<StoredOperation> found =
        open.stream().filter(one -> one.id().equals(id)).map(OpenOperation::operation).findFirst();
    return now(found.or(() -> Optional.ofNullable(finished.get(id))));
  }

  @Override
  public CompletionStage<List<Long>> count(List<Duration> ages) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletionStage<ProbeClaim> claimProbe(
      OperationId id, long attempt, AttemptToken holder, Duration first, Duration longest) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Registration watch(OperationId id, Runnable changed) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletionStage<Void> put(Reservation reservation, int index, byte[] bytes) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletionStage<byte[]> get(OperationId id, AttemptToken token, int index) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletionStage<ReserveReply> reserve(Reservation reservation) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletionStage<ReserveReply> takeOver(Reservation reservation) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletionStage<WriteReply> renew(Reservation reservation) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletionStage<WriteReply> settle(Reservation reservation, Settlement settlement) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletionStage<WriteReply> release(Reservation reservation) {
    throw new UnsupportedOperationException();
  }
}
