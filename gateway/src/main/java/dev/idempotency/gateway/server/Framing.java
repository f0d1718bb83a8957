package dev.idempotency.gateway.server;

import dev.idempotency.gateway.http.Headers;

/** How long a request's body is, where there is only one answer (RFC 9112 §6). */
final class Framing {

  private static final int MOST_DIGITS = 18;

  private Framing() {}

  /** The bytes of the body, 0 without one, -1 where it is chunked. */
  static long lengthOf(Headers headers, boolean http10) throws MalformedException {
    int lengths = headers.count("Content-Length");
    int codings = headers.count("Transfer-Encoding");
    if (codings > 0) {
      return chunked(headers, http10, codings, lengths);
    }
    String length = headers.get("Content-Length");
    if (length == null) {
      return 0;
    }
    if (lengths > 1) {
      // Even if they are equal: who drops one of them, and who joins them, reads differently.
      throw MalformedException.of("The header Content-Length is sent " + lengths + " times.");
    }
    return number(length);
  }

  private static long chunked(Headers headers, boolean http10, int codings, int lengths)
      throws MalformedException {
    if (lengths > 0) {
      throw MalformedException.of(
          "The request has both Content-Length and Transfer-Encoding; send one of them.");
    }
    if (http10) {
      throw MalformedException.of("An HTTP/1.0 request has no Transfer-Encoding.");
    }
    String coding = headers.get("Transfer-Encoding");
    if (codings > 1 || coding == null || !coding.equalsIgnoreCase("chunked")) {
      throw new MalformedException(
          Refusals.notImplemented("The only transfer coding that is supported is one chunked."));
    }
    return -1;
  }

  private static long number(String text) throws MalformedException {
    boolean digits = !text.isEmpty() && text.length() <= MOST_DIGITS;
    for (int i = 0; digits && i < text.length(); i++) {
      digits = Octets.isDigit(text.charAt(i));
    }
    if (!digits) {
      throw MalformedException.of("The header Content-Length is not a number of bytes.");
    }
    return Long.parseLong(text);
  }
}
