package dev.idempotency.gateway.operations;

/** Writes JSON strings (RFC 8259 §7), also safe to print on a terminal. */
final class JsonText {

  private static final char[] HEX = "0123456789abcdef".toCharArray();

  private JsonText() {}

  /** Appends the text with its quotes. */
  static StringBuilder quote(StringBuilder json, CharSequence text) {
    json.append('"');
    escape(json, text);
    return json.append('"');
  }

  /** Appends the text without quotes around it; what is appended has no line break. */
  static void escape(StringBuilder json, CharSequence text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"', '\\' -> json.append('\\').append(c);
        case '\n' -> json.append("\\n");
        case '\r' -> json.append("\\r");
        case '\t' -> json.append("\\t");
        default -> {
          if (isUnsafe(text, i)) {
            hex(json, c);
          } else {
            json.append(c);
          }
        }
      }
    }
  }

  /** Controls, line separators, and halves of surrogate pairs, which have no UTF-8 form. */
  private static boolean isUnsafe(CharSequence text, int index) {
    char c = text.charAt(index);
    if (c < 0x7f) {
      return c < 0x20;
    }
    if (Character.isHighSurrogate(c)) {
      return index + 1 == text.length() || !Character.isLowSurrogate(text.charAt(index + 1));
    }
    if (Character.isLowSurrogate(c)) {
      return index == 0 || !Character.isHighSurrogate(text.charAt(index - 1));
    }
    return c <= 0x9f || c == '\u2028' || c == '\u2029';
  }

  private static void hex(StringBuilder json, char c) {
    json.append("\\u")
        .append(HEX[c >> 12])
        .append(HEX[c >> 8 & 15])
        .append(HEX[c >> 4 & 15])
        .append(HEX[c & 15]);
  }
}
