package dev.idempotency.gateway;

/** The gateway can't start; the message is one line that names the thing and the fix. */
final class StartupException extends Exception {
  StartupException(String message) {
    super(message);
  }
}
