package dev.idempotency.gateway.demo;

import org.jspecify.annotations.Nullable;

/** Writes JSON text. */
final class Json {

  private Json() {}

  /** The text as a JSON string, or {@code null}. */
  static String quote(@Nullable String text) {
    if (text == null) {
      return "null";
    }
    StringBuilder json = new StringBuilder(text.length() + 2).append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (c < 0x20 || c > 0x7e) {
        json.append(String.format("\\u%04x", (int) c));
      } else {
        json.append(c);
      }
    }
    return json.append('"').toString();
  }
}
