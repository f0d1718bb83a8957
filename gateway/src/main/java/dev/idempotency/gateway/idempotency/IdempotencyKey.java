package dev.idempotency.gateway.idempotency;

import java.util.List;

/**
 * What a client sends to say "these attempts are one operation".
 *
 * <p>A quoted structured-field string (RFC 9651 §3.3.3) and the bare form are the same key.
 *
 * @param value 1 to {@value #MAX_LENGTH} characters of visible ASCII; blanks only if it was quoted
 */
public record IdempotencyKey(String value) {

  /** Most characters a key may have. */
  public static final int MAX_LENGTH = 255;

  /** What came of reading the field lines. */
  public sealed interface Reading {
    /** There is one well-formed key. */
    record Present(IdempotencyKey key) implements Reading {}

    /** There is no such field. */
    record Absent() implements Reading {}

    /**
     * There is something that is no key.
     *
     * @param reason what is wrong, without the bytes that came
     */
    record Malformed(String reason) implements Reading {}
  }

  private static final Reading ABSENT = new Reading.Absent();

  /** That there is no key. */
  public static Reading absent() {
    return ABSENT;
  }

  /** Reads the values of all field lines of the key's header, in order. */
  public static Reading read(List<String> lines) {
    return read(lines, KeySyntax.LENIENT);
  }

  /** Reads the values of all field lines of the key's header, in order, as that syntax has it. */
  public static Reading read(List<String> lines, KeySyntax syntax) {
    if (lines.isEmpty()) {
      return ABSENT;
    }
    if (lines.size() > 1) {
      return malformed("it is sent " + lines.size() + " times");
    }
    return syntax.read(lines.get(0));
  }

  /**
   * Reads a text whose ends are known, such as a JSON string or a parameter of a query: it is the
   * key as it stands. Nothing is trimmed or unquoted, and blanks are allowed as they are in quotes.
   */
  public static Reading readText(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) < 0x20 || text.charAt(i) > 0x7e) {
        return malformed("it has a character outside printable ASCII at position " + i);
      }
    }
    if (text.isBlank()) {
      return malformed(text.isEmpty() ? "it is empty" : "it has nothing but blanks");
    }
    return ofLength(text);
  }

  /** Reads one field value, bare or quoted. */
  public static Reading read(String line) {
    String text = trim(line);
    if (text.isEmpty()) {
      return malformed("it is empty");
    }
    return text.charAt(0) == '"' ? readQuoted(text) : readBare(text);
  }

  private static Reading readBare(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == ' ' || c == '\t') {
        return malformed("it has a blank at position " + i + ", which is allowed in quotes only");
      }
      if (c == '"' || c == ',') {
        return malformed("it has a " + (c == '"' ? "quote" : "comma") + " at position " + i);
      }
      if (c < 0x21 || c > 0x7e) {
        return malformed("it has a character outside visible ASCII at position " + i);
      }
    }
    return ofLength(text);
  }

  private static Reading readQuoted(String text) {
    StringBuilder key = new StringBuilder(text.length());
    int i = 1;
    while (i < text.length() && text.charAt(i) != '"') {
      char c = text.charAt(i);
      if (c == '\\') {
        i++;
        if (i == text.length() || (text.charAt(i) != '"' && text.charAt(i) != '\\')) {
          return malformed(
              "it has an escape at position " + (i - 1) + " that is neither \\\" nor \\\\");
        }
        c = text.charAt(i);
      } else if (c < 0x20 || c > 0x7e) {
        return malformed("it has a character outside printable ASCII at position " + i);
      }
      key.append(c);
      i++;
    }
    if (i >= text.length()) {
      return malformed("its closing quote is missing");
    }
    if (i != text.length() - 1) {
      return malformed("something follows its closing quote");
    }
    return readText(key.toString());
  }

  private static Reading ofLength(String text) {
    return text.length() > MAX_LENGTH
        ? malformed(
            "it has " + text.length() + " characters, at most " + MAX_LENGTH + " are allowed")
        : new Reading.Present(new IdempotencyKey(text));
  }

  private static String trim(String line) {
    int from = 0;
    int to = line.length();
    while (from < to && (line.charAt(from) == ' ' || line.charAt(from) == '\t')) {
      from++;
    }
    while (to > from && (line.charAt(to - 1) == ' ' || line.charAt(to - 1) == '\t')) {
      to--;
    }
    return line.substring(from, to);
  }

  private static Reading malformed(String reason) {
    return new Reading.Malformed(reason);
  }

  /** Never the key itself: it may be personal data. */
  @Override
  public String toString() {
    return "IdempotencyKey[" + value.length() + " characters]";
  }
}
