package dev.idempotency.gateway.cli;

/** Makes texts that others wrote safe to print on a terminal. */
final class Terminal {

  private Terminal() {}

  /** On one line: all controls become question marks. */
  static String plain(String text) {
    return clean(text, false);
  }

  /** On its own lines: all controls but line feeds and tabs become question marks. */
  static String lines(String text) {
    return clean(text, true);
  }

  private static String clean(String text, boolean lines) {
    StringBuilder clean = new StringBuilder(text.length());
    text.codePoints()
        .forEach(c -> clean.appendCodePoint(isSafe(c) || (lines && isLayout(c)) ? c : '?'));
    return clean.toString();
  }

  private static boolean isLayout(int c) {
    return c == '\n' || c == '\t';
  }

  /** Marks of direction would let a line read as another. */
  private static boolean isSafe(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }
}
