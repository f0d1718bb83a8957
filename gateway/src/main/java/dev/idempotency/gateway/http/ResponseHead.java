package dev.idempotency.gateway.http;

/**
 * The head of a response.
 *
 * @param status the status code, 100 to 999 (RFC 9110 §15)
 * @param headers the header fields
 */
public record ResponseHead(int status, Headers headers) {

  /** Whether this is an interim response (RFC 9110 §15.2). */
  public boolean isInformational() {
    return status < 200;
  }

  /** Whether a response of that status has no content whatever its fields say (RFC 9112 §6.3). */
  public boolean neverHasContent() {
    return isInformational() || status == 204 || status == 304;
  }
}
