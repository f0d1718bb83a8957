package dev.idempotency.gateway.transport;

import java.io.IOException;

/** A file that TLS needs is of no use; the message names it and says what was expected. */
public final class TlsFileException extends IOException {

  private static final long serialVersionUID = 1L;

  TlsFileException(String message) {
    super(message);
  }

  TlsFileException(String message, Throwable cause) {
    super(message, cause);
  }
}
