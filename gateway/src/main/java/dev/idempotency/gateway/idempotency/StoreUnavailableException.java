package dev.idempotency.gateway.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * The store did not do what it was asked, or it is not known whether it did. Never means "no
 * record".
 */
public final class StoreUnavailableException extends RuntimeException {

  private enum Kind {
    PERHAPS_EXECUTED,
    NOT_EXECUTED,
    UNREADABLE
  }

  private final Kind kind;

  /**
   * A command that may have been executed all the same.
   *
   * @param message what happened, for the log; without record contents
   */
  public StoreUnavailableException(String message) {
    this(message, null, Kind.PERHAPS_EXECUTED);
  }

  /** A command that may have been executed all the same. */
  public StoreUnavailableException(String message, Throwable cause) {
    this(message, cause, Kind.PERHAPS_EXECUTED);
  }

  private StoreUnavailableException(String message, @Nullable Throwable cause, Kind kind) {
    super(message, cause, false, false);
    this.kind = kind;
  }

  /** A command that surely was not executed: it was never sent, or the store refused it. */
  public static StoreUnavailableException notExecuted(String message) {
    return new StoreUnavailableException(message, null, Kind.NOT_EXECUTED);
  }

  /** There is a record, and this gateway can't read it: the command was not executed. */
  public static StoreUnavailableException unreadable(String message) {
    return new StoreUnavailableException(message, null, Kind.UNREADABLE);
  }

  /** Whether there is a record that can't be read: to try again is of no use. */
  public boolean isUnreadable() {
    return kind == Kind.UNREADABLE;
  }

  /** Whether the store surely has not executed the command. */
  public boolean isSurelyNotExecuted() {
    return kind != Kind.PERHAPS_EXECUTED;
  }
}
