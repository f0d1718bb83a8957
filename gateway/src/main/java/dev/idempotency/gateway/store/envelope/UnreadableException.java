package dev.idempotency.gateway.store.envelope;

/** An envelope that can't be opened; the message says why, without what is in it. */
final class UnreadableException extends Exception {

  private static final long serialVersionUID = 1L;

  UnreadableException(String message) {
    super(message, null, false, false);
  }
}
