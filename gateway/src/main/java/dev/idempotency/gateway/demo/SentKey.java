package dev.idempotency.gateway.demo;

import org.jspecify.annotations.Nullable;

/** Reads the key as an upstream would that has no library for it. */
final class SentKey {

  private SentKey() {}

  /** The key without the quotes and escapes of a structured-field string (RFC 9651 §3.3.3). */
  static @Nullable String normalised(@Nullable String line) {
    if (line == null || line.isBlank()) {
      return null;
    }
    String text = line.strip();
    boolean quoted = text.length() >= 2 && text.startsWith("\"") && text.endsWith("\"");
    return quoted ? unescaped(text.substring(1, text.length() - 1)) : text;
  }

  private static String unescaped(String text) {
    return text.indexOf('\\') < 0 ? text : text.replaceAll("\\\\(.)", "$1");
  }

  /** The number in {@code Idempotency-Attempt}; 0 where there is none. */
  static int attempt(@Nullable String line) {
    return line != null && line.matches("\\d{1,9}") ? Integer.parseInt(line) : 0;
  }
}
