package dev.idempotency.gateway.fingerprint;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A media type as it counts in a fingerprint (RFC 9110 §8.3.1): type, subtype and names of
 * parameters in lower case, no white space around them, values of parameters as they came.
 *
 * @param text the type with all parameters; a value that does not parse, as it came
 * @param dataText the same without what says nothing about content that is read as data: {@code
 *     charset=utf-8} of JSON and forms, the boundary of multipart
 * @param kind as what the content can be read
 * @param boundary of multipart; else null
 */
record MediaType(String text, String dataText, Kind kind, @Nullable String boundary) {

  /** Kinds of content. */
  enum Kind {
    /** {@code application/json} and {@code +json} (RFC 6839 §3.1) without a charset but UTF-8. */
    JSON,
    /** {@code application/x-www-form-urlencoded} without a charset but UTF-8. */
    FORM,
    /** {@code multipart/form-data} with one sound boundary and nothing else but a charset. */
    MULTIPART,
    OTHER
  }

  private static final String FORM = "application/x-www-form-urlencoded";
  private static final MediaType JSON =
      new MediaType("application/json", "application/json", Kind.JSON, null);

  /** The media type of a Content-Type field's value. */
  static MediaType of(String value) {
    return value.equals(JSON.text) ? JSON : new Reader(value).read();
  }

  private static MediaType unreadable(String value) {
    return new MediaType(value, value, Kind.OTHER, null);
  }

  boolean isJson() {
    return kind == Kind.JSON;
  }

  private static final class Reader {
    private final String value;
    private final StringBuilder text = new StringBuilder();
    private final StringBuilder dataText = new StringBuilder();
    private @Nullable String boundary;
    private int charsets;
    private int otherCharsets;
    private int boundaries;
    private int parameters;
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
      dataText.append(full);
      skipBlanks();
      while (pos < value.length()) {
        if (!skip(';') || !readParameter()) {
          return unreadable(value);
        }
        skipBlanks();
      }
      Kind kind = kind(full);
      return new MediaType(
          text.toString(), dataText.toString(), kind, kind == Kind.MULTIPART ? boundary : null);
    }

    private Kind kind(String full) {
      if (full.equals("multipart/form-data")) {
        // Readers that search the field for "boundary" must not find another one.
        boolean sole = boundaries == 1 && charsets <= 1 && parameters == boundaries + charsets;
        return sole && boundary != null ? Kind.MULTIPART : Kind.OTHER;
      }
      if (otherCharsets > 0) {
        return Kind.OTHER;
      }
      boolean json = full.equals("application/json") || full.endsWith("+json");
      return json ? Kind.JSON : full.equals(FORM) ? Kind.FORM : Kind.OTHER;
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
      parameters++;
      if (name.equals("boundary")) {
        boundaries++;
        boundary = soundBoundary(content);
      } else if (name.equals("charset") && isUtf8(content)) {
        charsets++;
      } else {
        boolean charset = name.equals("charset");
        charsets += charset ? 1 : 0;
        otherCharsets += charset ? 1 : 0;
        dataText.append(';').append(name).append('=').append(content);
      }
      return true;
    }

    /** RFC 2046 §5.1.1: 1 to 70 of certain characters, the last one no blank; else null. */
    private static @Nullable String soundBoundary(String content) {
      boolean quoted = content.charAt(0) == '"';
      String bare = quoted ? content.substring(1, content.length() - 1) : content;
      return bare.matches("[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]") ? bare : null;
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
