package dev.idempotency.gateway.exchange;

import java.util.Locale;

/**
 * Which paths a route takes. {@code *} and <code>{name}</code> stand for one segment that is not
 * empty, {@code **} at the end for any rest, also none. Everything else must be there literally, in
 * the percent-encoded form in which the path goes upstream.
 */
public final class PathPattern {

  private final String text;
  private final String[] segments;
  private final boolean openEnded;

  private PathPattern(String text, String[] segments, boolean openEnded) {
    this.text = text;
    this.segments = segments;
    this.openEnded = openEnded;
  }

  /**
   * Reads a pattern.
   *
   * @throws IllegalArgumentException if it is none; the message says what was expected
   */
  public static PathPattern of(String text) {
    if (!text.startsWith("/")) {
      throw new IllegalArgumentException(
          "expected: a pattern that begins with / such as /orders/**");
    }
    boolean openEnded = text.endsWith("/**");
    String closed = openEnded ? text.substring(0, text.length() - 3) : text;
    String[] segments = closed.isEmpty() ? new String[0] : closed.substring(1).split("/", -1);
    for (int i = 0; i < segments.length; i++) {
      segments[i] = segment(segments[i]);
    }
    return new PathPattern(text, segments, openEnded);
  }

  private static String segment(String segment) {
    if (segment.matches("\\{[A-Za-z0-9_-]+}")) {
      return "*";
    }
    if (!segment.equals("*") && segment.matches(".*[*{}?#].*")) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT, "\"%s\": expected: text, * or {name}, and ** at the end only", segment));
    }
    return segment;
  }

  /** Whether a path, still percent-encoded, is one of these. */
  public boolean matches(String path) {
    int at = 0;
    for (String segment : segments) {
      if (at >= path.length() || path.charAt(at) != '/') {
        return false;
      }
      int start = at + 1;
      int slash = path.indexOf('/', start);
      int end = slash < 0 ? path.length() : slash;
      boolean matches =
          segment.equals("*")
              ? end > start
              : segment.length() == end - start && path.startsWith(segment, start);
      if (!matches) {
        return false;
      }
      at = end;
    }
    return openEnded ? at == path.length() || path.charAt(at) == '/' : at == path.length();
  }

  @Override
  public String toString() {
    return text;
  }
}
