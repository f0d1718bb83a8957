package dev.idempotency.gateway.server;

import java.nio.charset.StandardCharsets;

/**
 * The request line, of which there is one spelling: {@code method SP target SP version}, each blank
 * single (RFC 9112 §3). What the target means is judged with the head.
 */
record RequestLine(String method, String target, boolean isHttp10) {

  private static final int MOST_METHOD_LENGTH = 32;
  private static final int VERSION_LENGTH = 8;
  private static final byte[] HTTP_1 = {'H', 'T', 'T', 'P', '/', '1', '.'};

  /** Reads the first {@code length} bytes, which are the line without its end. */
  static RequestLine read(byte[] line, int length) throws MalformedException {
    String method = method(line, length);
    int start = method.length() + 1;
    int end = endOfTarget(line, start, length);
    boolean http10 = isHttp10(line, end + 1, length);
    if (end == start) {
      throw MalformedException.of("The request line has no target.");
    }
    return new RequestLine(method, text(line, start, end), http10);
  }

  private static String method(byte[] line, int length) throws MalformedException {
    int end = 0;
    while (end < length && end <= MOST_METHOD_LENGTH && Octets.isToken(line[end] & 0xff)) {
      end++;
    }
    if (end == 0 || end > MOST_METHOD_LENGTH || end == length || line[end] != ' ') {
      throw MalformedException.of(
          "The request line does not begin with a method, a token of at most 32 characters, and one"
              + " blank.");
    }
    return switch (end) {
      case 3 -> is("GET", line) ? "GET" : is("PUT", line) ? "PUT" : text(line, 0, end);
      case 4 -> is("POST", line) ? "POST" : is("HEAD", line) ? "HEAD" : text(line, 0, end);
      default -> text(line, 0, end);
    };
  }

  private static boolean is(String word, byte[] line) {
    for (int i = 0; i < word.length(); i++) {
      if (line[i] != word.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  private static int endOfTarget(byte[] line, int start, int length) throws MalformedException {
    int end = start;
    while (end < length && line[end] != ' ') {
      if (!Octets.isVisible(line[end] & 0xff)) {
        throw MalformedException.of(
            "The request target has a character at position "
                + (end - start)
                + " that must be encoded.");
      }
      end++;
    }
    if (end == length) {
      throw MalformedException.of("The request line has no HTTP version.");
    }
    return end;
  }

  private static boolean isHttp10(byte[] line, int start, int length) throws MalformedException {
    boolean known = length - start == VERSION_LENGTH;
    for (int i = 0; known && i < HTTP_1.length; i++) {
      known = line[start + i] == HTTP_1[i];
    }
    if (known && (line[length - 1] == '0' || line[length - 1] == '1')) {
      return line[length - 1] == '0';
    }
    if (text(line, start, length).matches("HTTP/[0-9]\\.[0-9]")) {
      throw new MalformedException(Refusals.versionNotSupported());
    }
    throw MalformedException.of(
        "The request line does not end with one blank and HTTP/1.1 or HTTP/1.0.");
  }

  private static String text(byte[] line, int from, int to) {
    return new String(line, from, to - from, StandardCharsets.ISO_8859_1);
  }
}
