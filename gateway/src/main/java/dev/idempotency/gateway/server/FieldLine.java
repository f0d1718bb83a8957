package dev.idempotency.gateway.server;

import dev.idempotency.gateway.http.Headers;
import java.nio.charset.StandardCharsets;

/** One field line of a head or of trailers, of which there is one spelling (RFC 9112 §5). */
final class FieldLine {

  private FieldLine() {}

  /**
   * Reads the first {@code length} bytes, which are the line without its end and not empty.
   *
   * @param into where name and value go
   */
  static void read(byte[] line, int length, Headers into) throws MalformedException {
    int colon = endOfName(line, length);
    int start = colon + 1;
    while (start < length && Octets.isBlank(line[start])) {
      start++;
    }
    int end = length;
    while (end > start && Octets.isBlank(line[end - 1])) {
      end--;
    }
    for (int i = start; i < end; i++) {
      if (!Octets.isValue(line[i])) {
        throw MalformedException.of("The value of a header field has a control character.");
      }
    }
    into.add(
        new String(line, 0, colon, StandardCharsets.ISO_8859_1),
        new String(line, start, end - start, StandardCharsets.ISO_8859_1));
  }

  private static int endOfName(byte[] line, int length) throws MalformedException {
    if (Octets.isBlank(line[0])) {
      // As a folded line it would belong to the one before, for some (RFC 9112 §5.2).
      throw MalformedException.of("A header line begins with a blank.");
    }
    boolean underscore = false;
    int end = 0;
    while (end < length && Octets.isToken(line[end] & 0xff)) {
      underscore |= line[end] == '_';
      end++;
    }
    if (end == 0 || end == length || line[end] != ':') {
      throw MalformedException.of("A header line has no name that is a token before its colon.");
    }
    if (underscore && isFraming(new String(line, 0, end, StandardCharsets.ISO_8859_1))) {
      throw MalformedException.of("A header name of framing is spelled with an underscore.");
    }
    return end;
  }

  /** Gateways of applications (CGI, WSGI) take an underscore for a hyphen. */
  private static boolean isFraming(String name) {
    return name.equalsIgnoreCase("Content_Length") || name.equalsIgnoreCase("Transfer_Encoding");
  }
}
