package dev.idempotency.gateway.cli;

/** Why the command does not do what it was told; the message is one line that names the fix. */
final class RefusedException extends Exception {

  /** Refused, not found or not reached. */
  static final int REFUSED = 1;

  /** Said wrongly. */
  static final int USAGE = 2;

  private final int code;

  private RefusedException(int code, String message) {
    super(message, null, false, false);
    this.code = code;
  }

  static RefusedException usage(String message) {
    return new RefusedException(USAGE, message);
  }

  static RefusedException refused(String message) {
    return new RefusedException(REFUSED, message);
  }

  /** The exit code. */
  int code() {
    return code;
  }

  String reason() {
    return String.valueOf(getMessage());
  }
}
