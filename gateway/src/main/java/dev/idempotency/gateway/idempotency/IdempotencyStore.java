package dev.idempotency.gateway.idempotency;

import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * Keeps the records of operations. Each command is atomic; lease and retention are judged by the
 * store's clock; a record is written only by the holder of its current attempt.
 *
 * <h2>Threading</h2>
 *
 * <p>Each method returns at once and never blocks. A store instance that belongs to an event loop
 * is called on that loop and completes its stages there; otherwise it may be called from any thread
 * and completes before it returns.
 *
 * <h2>Failure</h2>
 *
 * <p>No method throws. A stage completes exceptionally with {@link StoreUnavailableException} and
 * with nothing else, within the store's deadline; whether the command was executed is then unknown.
 * Every command may be sent again: the attempt's token makes it recognise what it did before.
 */
public interface IdempotencyStore {

  /**
   * Takes the operation if it has no record, or says what is there. An owner that finds its own
   * token in a reservation has acquired it.
   */
  CompletionStage<ReserveReply> reserve(Reservation reservation);

  /**
   * Takes over an operation whose outcome is unknown (by its owner's word or because its lease ran
   * out), whose attempt is exactly the one before {@code reservation.attempt()}, whose holder is
   * {@code reservation.follows()} where that is known, and whose fingerprint is the same, or open;
   * otherwise says what is there.
   */
  CompletionStage<ReserveReply> takeOver(Reservation reservation);

  /**
   * Lets the lease run anew from now. A record that is no longer there (the store lost it) is
   * written again: better a reservation too many than a second execution. A lease that ran out is
   * renewed as long as no other attempt took over; a settled record is not reserved again. The
   * fingerprint is written with it, but an open one leaves what is there.
   */
  CompletionStage<WriteReply> renew(Reservation reservation);

  /**
   * Writes what became of the attempt; the record then lives for the retention. Completes also an
   * attempt whose lease ran out or whose outcome was unknown as long as it holds the record, and
   * writes a record that is no longer there. A completed record never changes: the same attempt's
   * second completion is {@link WriteReply.Done} without a write.
   */
  CompletionStage<WriteReply> settle(Reservation reservation, Settlement settlement);

  /**
   * Removes the record of an attempt that had no effect. Nothing there is as good as done. A
   * completed record is not removed.
   */
  CompletionStage<WriteReply> release(Reservation reservation);

  /**
   * For how many milliseconds the store has surely kept all it was told about the operation, by its
   * own clock: since it was started, took another's place or was found empty. Answered from memory,
   * at once. {@link Long#MAX_VALUE} for a store that forgets nothing, or that is not watched.
   */
  default long sinceLoss(OperationId id) {
    return Long.MAX_VALUE;
  }

  /** Reads the record without changing anything. */
  CompletionStage<Optional<StoredOperation>> find(OperationId id);
}
