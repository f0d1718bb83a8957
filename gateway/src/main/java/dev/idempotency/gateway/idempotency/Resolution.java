package dev.idempotency.gateway.idempotency;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What somebody who is not its owner makes of an operation whose outcome is unknown: a probe's
 * finding, an operator's decision, the sweeper's note that a lease ran out.
 *
 * @param id the operation
 * @param attempt the attempt that is meant; another current one fences it
 * @param holder the token of the record that was seen; null where only its attempt is known. The
 *     same key released and begun anew has the same attempt again, and another holder
 * @param token a token of its own, which fences the former owner
 * @param action what becomes of the record
 * @param retention how long the record lives from then on
 * @param audit who and why, kept beside the record
 */
public record Resolution(
    OperationId id,
    long attempt,
    @Nullable AttemptToken holder,
    AttemptToken token,
    Action action,
    Duration retention,
    Audit audit) {

  /** What becomes of the record. */
  public sealed interface Action {

    /** What histories and logs call it. */
    String word();
  }

  /** It was done, and this is its response. */
  public record Complete(StoredResponse response) implements Action {
    @Override
    public String word() {
      return "complete";
    }
  }

  /** It never happened: the key is new again. */
  public record Release() implements Action {
    @Override
    public String word() {
      return "release";
    }
  }

  /**
   * Nobody knows still: a lease that ran out is now written down as such. The former owner stays
   * the holder, so that its late response counts.
   */
  public record MarkUnknown() implements Action {
    @Override
    public String word() {
      return "mark-unknown";
    }
  }

  /** Nobody knows still, and the record lives for the retention from now on. */
  public record Extend() implements Action {
    @Override
    public String word() {
      return "extend";
    }
  }

  /** With a token of its own. */
  public static Resolution of(
      OperationId id, long attempt, Action action, Duration retention, Audit audit) {
    return of(id, attempt, null, action, retention, audit);
  }

  /** With a token of its own, for the record of that holder. */
  public static Resolution of(
      OperationId id,
      long attempt,
      @Nullable AttemptToken holder,
      Action action,
      Duration retention,
      Audit audit) {
    return new Resolution(id, attempt, holder, AttemptToken.next(), action, retention, audit);
  }

  /** Whether a record of that attempt and token is the one that is meant. */
  public boolean isFor(long currentAttempt, AttemptToken currentToken) {
    return currentAttempt == attempt && (holder == null || holder.equals(currentToken));
  }
}
