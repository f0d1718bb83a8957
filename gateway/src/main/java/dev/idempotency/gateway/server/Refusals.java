package dev.idempotency.gateway.server;

import dev.idempotency.gateway.exchange.Problems;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ProblemDetails;
import dev.idempotency.gateway.http.Response;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The requests that no exchange is opened for, because they are not HTTP as it is spoken here. */
final class Refusals {

  private Refusals() {}

  /** What is answered to a request that goes no further than this edge. */
  static @Nullable Response of(HttpRequest request, Headers headers, ServerOptions options) {
    HttpVersion version = request.protocolVersion();
    if (request.decoderResult().isFailure()) {
      return problemOf(request.decoderResult().cause());
    }
    if (!version.equals(HttpVersion.HTTP_1_1) && !version.equals(HttpVersion.HTTP_1_0)) {
      return versionNotSupported();
    }
    if (headers.size() > options.headerCount()) {
      return tooManyFields();
    }
    if (request.method().equals(HttpMethod.CONNECT)) {
      return notImplemented("CONNECT is not supported.");
    }
    List<String> codings = headers.all("Transfer-Encoding");
    if (codings.size() > 1 || (codings.size() == 1 && !isChunked(codings.get(0)))) {
      return notImplemented("The only transfer coding that is supported is one chunked.");
    }
    String expect = headers.get("Expect");
    return expect == null || expect.equalsIgnoreCase("100-continue") ? null : expectationFailed();
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
      return targetTooLong();
    }
    if (cause instanceof TooLongHttpHeaderException || cause instanceof TooLongFrameException) {
      return tooManyFields();
    }
    return Problems.badRequest("The request line or a header field is not valid HTTP/1.1.");
  }

  static Response targetTooLong() {
    return problem(414, "uri-too-long", "The request line is too long", "Shorten the URI.");
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

  private static Response problem(int status, String type, String title, String detail) {
    return new ProblemDetails(type, status, title, detail).toResponse();
  }
}
