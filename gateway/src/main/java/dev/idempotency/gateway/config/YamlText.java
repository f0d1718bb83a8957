package dev.idempotency.gateway.config;

import java.time.Duration;
import java.util.Collection;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** YAML while it is written, line by line. */
final class YamlText {

  private final StringBuilder yaml = new StringBuilder(2048);

  void line(int indent, String key, Object value) {
    line(indent, key + ": " + value);
  }

  void line(int indent, String text) {
    yaml.append(" ".repeat(indent)).append(text).append('\n');
  }

  void given(int indent, String key, @Nullable Object value, String byDefault) {
    if (value == null) {
      line(indent, "# " + key, byDefault);
    } else {
      line(indent, key, quote(value));
    }
  }

  /** Where a secret is. */
  void outside(int indent, String key, @Nullable OutsideSecret secret, String byDefault) {
    if (secret == null) {
      line(indent, "# " + key, byDefault);
    } else if (secret.file() == null) {
      line(indent, key, "{ env: " + quote(String.valueOf(secret.variable())) + " }");
    } else {
      line(indent, key, "{ file: " + quote(secret.file()) + " }");
    }
  }

  void listOr(int indent, String key, Collection<?> values, String byDefault) {
    if (values.isEmpty()) {
      line(indent, "# " + key, byDefault);
    }
    list(indent, key, values);
  }

  void list(int indent, String key, Collection<?> values) {
    if (!values.isEmpty()) {
      line(indent, key, list(values));
    }
  }

  static String list(Collection<?> values) {
    return values.stream().map(YamlText::quote).collect(Collectors.joining(", ", "[", "]"));
  }

  static String print(Duration duration) {
    return Durations.print(duration);
  }

  /** In double quotes, so that no word of YAML is met by chance (YAML 1.2 §5.7). */
  static String quote(Object value) {
    StringBuilder quoted = new StringBuilder("\"");
    value.toString().codePoints().forEach(c -> append(quoted, c));
    return quoted.append('"').toString();
  }

  /** A line break would be read as a blank, other controls not at all. */
  private static void append(StringBuilder quoted, int c) {
    if (c == '"' || c == '\\') {
      quoted.append('\\').append((char) c);
    } else if (isPrintable(c)) {
      quoted.appendCodePoint(c);
    } else {
      quoted.append(String.format("\\U%08x", c));
    }
  }

  private static boolean isPrintable(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE,
          Character.UNASSIGNED ->
          false;
      default -> true;
    };
  }

  @Override
  public String toString() {
    return yaml.toString();
  }
}
