package dev.idempotency.gateway.idempotency;

/**
 * The store did not do what it was asked, or it is not known whether it did. Never means "no
 * record".
 */
public final class StoreUnavailableException extends RuntimeException {

  /**
   * @param message what happened, for the log; without record contents
   */
  public StoreUnavailableException(String message) {
    super(message, null, false, false);
  }

  public StoreUnavailableException(String message, Throwable cause) {
    super(message, cause, false, false);
  }
}
