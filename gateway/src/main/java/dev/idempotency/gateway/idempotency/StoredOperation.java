package dev.idempotency.gateway.idempotency;

import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An operation's record as the store saw it when it executed the command, judged by the store's
 * clock.
 *
 * @param attempt the current attempt
 * @param fingerprint what the operation's request asked for
 * @param state what has become of it
 * @param note where it comes from; {@link Note#NONE} where it is finished or nobody knows
 * @param holder the token of the record: the same key released and begun anew has the same attempt
 *     again, and another holder. Null where it is finished, since nothing follows that
 */
public record StoredOperation(
    long attempt, Fingerprint fingerprint, State state, Note note, @Nullable AttemptToken holder) {

  /** Of which nobody knows where it comes from, nor whose it is. */
  public StoredOperation(long attempt, Fingerprint fingerprint, State state) {
    this(attempt, fingerprint, state, Note.NONE, null);
  }

  /** What has become of an operation. */
  public sealed interface State {

    /** Calls the function of this case. */
    <T> T match(
        Function<InFlight, T> inFlight,
        Function<OutcomeUnknown, T> outcomeUnknown,
        Function<Completed, T> completed,
        Function<NotKept, T> notKept);
  }

  /**
   * Reserved under a live lease.
   *
   * @param leaseLeft how much longer the lease lives; more than nothing
   */
  public record InFlight(Duration leaseLeft) implements State {
    @Override
    public <T> T match(
        Function<InFlight, T> inFlight,
        Function<OutcomeUnknown, T> outcomeUnknown,
        Function<Completed, T> completed,
        Function<NotKept, T> notKept) {
      return inFlight.apply(this);
    }
  }

  /**
   * Sent, or perhaps sent, and what came of it is not known.
   *
   * @param lapsed true where the lease ran out; false where the owner itself said so
   */
  public record OutcomeUnknown(boolean lapsed) implements State {
    @Override
    public <T> T match(
        Function<InFlight, T> inFlight,
        Function<OutcomeUnknown, T> outcomeUnknown,
        Function<Completed, T> completed,
        Function<NotKept, T> notKept) {
      return outcomeUnknown.apply(this);
    }
  }

  /** Done; the response is there to be replayed. */
  public record Completed(StoredResponse response) implements State {
    @Override
    public <T> T match(
        Function<InFlight, T> inFlight,
        Function<OutcomeUnknown, T> outcomeUnknown,
        Function<Completed, T> completed,
        Function<NotKept, T> notKept) {
      return completed.apply(this);
    }
  }

  /**
   * Done; the response was not kept.
   *
   * @param status the status that the first caller was told
   */
  public record NotKept(int status) implements State {
    @Override
    public <T> T match(
        Function<InFlight, T> inFlight,
        Function<OutcomeUnknown, T> outcomeUnknown,
        Function<Completed, T> completed,
        Function<NotKept, T> notKept) {
      return notKept.apply(this);
    }
  }
}
