package dev.idempotency.gateway.server;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ProblemDetails;
import dev.idempotency.gateway.http.Response;

/** What is answered to requests that no exchange is opened for. */
final class Refusals {

  private static final String METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

  private Refusals() {}

  /** 408: the head, or the next bytes of the body, did not come in time. */
  static Response timeout() {
    return problem(
        408, "request-timeout", "The request took too long", "Send the whole request at once.");
  }

  /** 414. */
  static Response uriTooLong() {
    return problem(414, "uri-too-long", "The request line is too long", "Shorten the URI.");
  }

  /** 431. */
  static Response tooManyFields() {
    return problem(
        431, "headers-too-large", "The header fields are too large", "Send fewer or shorter ones.");
  }

  /** 505. */
  static Response versionNotSupported() {
    return problem(
        505, "version-not-supported", "The HTTP version is not supported", "Use HTTP/1.1.");
  }

  /** 501. */
  static Response notImplemented(String detail) {
    return problem(501, "not-implemented", "The request is not supported", detail);
  }

  /** 417. */
  static Response expectationFailed() {
    return problem(
        417,
        "expectation-failed",
        "The expectation can't be met",
        "The only expectation that is supported is 100-continue.");
  }

  /** 421: the host that the request names is served elsewhere (RFC 9110 §15.5.20). */
  static Response misdirected() {
    return problem(
        421,
        "misdirected-request",
        "The host is not served here",
        "No site of the name in Host is behind this gateway. Send the request where it is.");
  }

  /** 405: an answer to TRACE would show scripts the credentials that they can't read. */
  static Response traceNotAllowed() {
    Response response =
        problem(405, "method-not-allowed", "The method is not allowed", "TRACE is not answered.");
    response.head().headers().add("Allow", METHODS);
    return response;
  }

  /** 204: what the gateway itself can be asked for. */
  static Response allowed() {
    return Response.of(204, Headers.of("Allow", METHODS), Response.NO_BODY);
  }

  private static Response problem(int status, String type, String title, String detail) {
    return new ProblemDetails(type, status, title, detail).toResponse();
  }
}
