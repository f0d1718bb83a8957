package dev.idempotency.gateway.http;

/** Writes JSON strings (RFC 8259 §7). */
public final class JsonString {

  private JsonString() {}

  /** Appends the text with its quotes. */
  public static StringBuilder quote(StringBuilder json, String text) {
    json.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (c < 0x20) {
        json.append(String.format("\\u%04x", (int) c));
      } else {
        json.append(c);
      }
    }
    return json.append('"');
  }
}
