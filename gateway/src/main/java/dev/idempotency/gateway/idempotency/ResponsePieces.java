package dev.idempotency.gateway.idempotency;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The pieces of responses that are too large for one value. They are written before the record that
 * names them, so that a record is completed only when all of its response is there.
 *
 * <p>Threading and failure as in {@link IdempotencyStore}.
 */
public interface ResponsePieces {

  /** Most bytes of a piece: 1 MiB. */
  int SIZE = 1 << 20;

  /** How much longer than the record pieces live: for as long as a response may take to come. */
  Duration MARGIN = Duration.ofHours(1);

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

  /**
   * Removes the pieces of an attempt that no record names. What is not removed ends with its life.
   *
   * @param count how many there may be, 1 or more
   */
  default CompletionStage<Void> drop(Reservation reservation, int count) {
    return CompletableFuture.completedFuture(null);
  }
}
