package dev.idempotency.gateway.idempotency;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Everything that a store does. */
public interface OperationStore
    extends IdempotencyStore, OpenOperations, SettlementNotices, ResponsePieces {

  @Override
  default CompletionStage<Page> list(Query query) {
    return notBuilt();
  }

  @Override
  default CompletionStage<List<Long>> count(List<Duration> ages) {
    return notBuilt();
  }

  @Override
  default CompletionStage<ProbeClaim> claimProbe(OperationId id, long attempt, Duration hold) {
    return notBuilt();
  }

  @Override
  default CompletionStage<ResolveReply> resolve(Resolution resolution) {
    return notBuilt();
  }

  @Override
  default CompletionStage<List<Entry>> history(OperationId id) {
    return notBuilt();
  }

  private static <T> CompletionStage<T> notBuilt() {
    return CompletableFuture.failedFuture(
        StoreUnavailableException.notExecuted("this store does not do that"));
  }
}
