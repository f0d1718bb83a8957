package dev.idempotency.gateway.fingerprint;

import java.util.Locale;

/**
 * A media type as it counts in a fingerprint (RFC 9110 §8.3.1): type, subtype and names of
 * parameters in lower case, no white space around them, values of parameters as they came.
 *
 * @param text the type with all parameters; a value that does not parse, as it came
 * @param jsonText the same without {@code charset=utf-8}, which says nothing about JSON
 * @param isJson whether the content is JSON in UTF-8: {@code application/json} and {@code +json}
 *     (RFC 6839 §3.1) without another charset
 */
record MediaType(String text, String jsonText, boolean isJson) {

  private static final MediaType JSON = new MediaType("application/json", "application/json", true);

  /** The media type of a Content-Type field's value. */
  static MediaType of(String value) {
    return value.equals(JSON.text) ? JSON : new Reader(value).read();
  }

  private static MediaType unreadable(String value) {
    return new MediaType(value, value, false);
  }

  private static final class Reader {
    private final String value;
    private final StringBuilder text = new StringBuilder();
    private final StringBuilder jsonText = new StringBuilder();
    private boolean otherCharset;
    private int pos;

    Reader(String value) {
      this.value = value;
    }

    MediaType read() {
      skipBlanks();
      String type = token();
      if (type.isEmpty() || !skip('/')) {
        return unreadable(value);
      }
      String subtype = token();
      if (subtype.isEmpty()) {
        return unreadable(value);
      }
      String full = (type + '/' + subtype).toLowerCase(Locale.ROOT);
      text.append(full);
      jsonText.append(full);
      skipBlanks();
      while (pos < value.length()) {
        if (!skip(';') || !readParameter()) {
          return unreadable(value);
        }
        skipBlanks();
      }
      boolean json = full.equals("application/json") || full.endsWith("+json");
      return new MediaType(text.toString(), jsonText.toString(), json && !otherCharset);
    }

    /** Reads what may follow a semicolon, which may be nothing. */
    private boolean readParameter() {
      skipBlanks();
      if (pos == value.length() || value.charAt(pos) == ';') {
        return true;
      }
      String name = token().toLowerCase(Locale.ROOT);
      if (name.isEmpty() || !skip('=')) {
        return false;
      }
      String content = pos < value.length() && value.charAt(pos) == '"' ? quoted() : token();
      if (content.isEmpty()) {
        return false;
      }
      text.append(';').append(name).append('=').append(content);
      boolean charset = name.equals("charset");
      boolean utf8 = charset && isUtf8(content);
      otherCharset |= charset && !utf8;
      if (!utf8) {
        jsonText.append(';').append(name).append('=').append(content);
      }
      return true;
    }

    private static boolean isUtf8(String content) {
      return content.equalsIgnoreCase("utf-8") || content.equalsIgnoreCase("\"utf-8\"");
    }

    private String token() {
      int from = pos;
      while (pos < value.length() && isTokenCharacter(value.charAt(pos))) {
        pos++;
      }
      return value.substring(from, pos);
    }

    /** A quoted string with its quotes; empty where it does not end. */
    private String quoted() {
      int from = pos++;
      while (pos < value.length()) {
        char c = value.charAt(pos++);
        if (c == '"') {
          return value.substring(from, pos);
        }
        if (c == '\\') {
          pos++;
        }
      }
      pos = value.length();
      return "";
    }

    private boolean skip(char c) {
      boolean there = pos < value.length() && value.charAt(pos) == c;
      pos += there ? 1 : 0;
      return there;
    }

    private void skipBlanks() {
      while (pos < value.length() && (value.charAt(pos) == ' ' || value.charAt(pos) == '\t')) {
        pos++;
      }
    }

    private static boolean isTokenCharacter(char c) {
      return (c >= 'a' && c <= 'z')
          || (c >= 'A' && c <= 'Z')
          || (c >= '0' && c <= '9')
          || "!#$%&'*+-.^_`|~".indexOf(c) >= 0;
    }
  }
}
