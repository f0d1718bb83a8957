package dev.idempotency.gateway.idempotency;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Everything that a store does. */
public interface OperationStore
    extends IdempotencyStore, OpenOperations, SettlementNotices, ResponsePieces {

  @Override
  default Registration watch(OperationId id, Runnable changed) {
    return () -> {};
  }

  @Override
  default CompletionStage<Void> put(Reservation reservation, int index, byte[] bytes) {
    return notBuilt();
  }

  @Override
  default CompletionStage<byte[]> get(OperationId id, AttemptToken token, int index) {
    return notBuilt();
  }

  private static <T> CompletionStage<T> notBuilt() {
    return CompletableFuture.failedFuture(
        StoreUnavailableException.notExecuted("this store does not do that"));
  }
}
