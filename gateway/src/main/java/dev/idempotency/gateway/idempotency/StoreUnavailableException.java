package dev.idempotency.gateway.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * The store did not do what it was asked, or it is not known whether it did. Never means "no
 * record".
 */
public final class StoreUnavailableException extends RuntimeException {

  private final boolean surelyNotExecuted;

  /**
   * A command that may have been executed all the same.
   *
   * @param message what happened, for the log; without record contents
   */
  public StoreUnavailableException(String message) {
    this(message, null, false);
  }

  /** A command that may have been executed all the same. */
  public StoreUnavailableException(String message, Throwable cause) {
    this(message, cause, false);
  }

  private StoreUnavailableException(
      String message, @Nullable Throwable cause, boolean notExecuted) {
    super(message, cause, false, false);
    this.surelyNotExecuted = notExecuted;
  }

  /** A command that surely was not executed: it was never sent, or the store refused it. */
  public static StoreUnavailableException notExecuted(String message) {
    return new StoreUnavailableException(message, null, true);
  }

  /** Whether the store surely has not executed the command. */
  public boolean isSurelyNotExecuted() {
    return surelyNotExecuted;
  }
}
