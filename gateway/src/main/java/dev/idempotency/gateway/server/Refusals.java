package dev.idempotency.gateway.server;

import dev.idempotency.gateway.exchange.Problems;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ProblemDetails;
import dev.idempotency.gateway.http.Response;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The requests that no exchange is opened for, because they are not HTTP as it is spoken here. */
final class Refusals {

  private static final String METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

  private Refusals() {}

  /** What is answered to a request that goes no further than this edge. */
  static @Nullable Response of(HttpRequest request, Headers headers) {
    HttpVersion version = request.protocolVersion();
    if (request.decoderResult().isFailure()) {
      return problemOf(request.decoderResult().cause());
    }
    if (!version.equals(HttpVersion.HTTP_1_1) && !version.equals(HttpVersion.HTTP_1_0)) {
      return versionNotSupported();
    }
    List<String> codings = headers.all("Transfer-Encoding");
    if (codings.size() > 1 || (codings.size() == 1 && !isChunked(codings.get(0)))) {
      return notImplemented("The only transfer coding that is supported is one chunked.");
    }
    return null;
  }

  /** Every other spelling is read differently by somebody (RFC 9112 §6.1). */
  private static boolean isChunked(String coding) {
    return coding.equalsIgnoreCase("chunked");
  }

  /** 408: the head, or the next bytes of the body, did not come in time. */
  static Response timeout() {
    return problem(
        408, "request-timeout", "The request took too long", "Send the whole request at once.");
  }

  private static Response problemOf(@Nullable Throwable cause) {
    if (cause instanceof TooLongHttpLineException) {
      return problem(414, "uri-too-long", "The request line is too long", "Shorten the URI.");
    }
    if (cause instanceof TooLongHttpHeaderException || cause instanceof TooLongFrameException) {
      return tooManyFields();
    }
    return Problems.badRequest("The request line or a header field is not valid HTTP/1.1.");
  }

  static Response tooManyFields() {
    return problem(
        431, "headers-too-large", "The header fields are too large", "Send fewer or shorter ones.");
  }

  private static Response versionNotSupported() {
    return problem(
        505, "version-not-supported", "The HTTP version is not supported", "Use HTTP/1.1.");
  }

  static Response notImplemented(String detail) {
    return problem(501, "not-implemented", "The request is not supported", detail);
  }

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
