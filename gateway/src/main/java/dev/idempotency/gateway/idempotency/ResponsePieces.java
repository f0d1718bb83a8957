package dev.idempotency.gateway.idempotency;

import java.util.concurrent.CompletionStage;

/**
 * The pieces of responses that are too large for one value. They are written before the record that
 * names them, so that a record is completed only when all of its response is there.
 *
 * <p>Threading and failure as in {@link IdempotencyStore}.
 */
public interface ResponsePieces {

  /**
   * Writes a piece for the attempt, which lives as long as its record will and somewhat longer.
   * Again is as good as once.
   *
   * @param index from 0 on
   * @param bytes not to be modified any more
   */
  CompletionStage<Void> put(Reservation reservation, int index, byte[] bytes);

  /**
   * Reads a piece.
   *
   * @param token whose attempt wrote it
   * @return fails as {@link StoreUnavailableException#unreadable} where it is not there
   */
  CompletionStage<byte[]> get(OperationId id, AttemptToken token, int index);
}
