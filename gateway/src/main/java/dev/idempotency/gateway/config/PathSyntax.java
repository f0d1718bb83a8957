package dev.idempotency.gateway.config;

import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** The syntax of a route's path; matching is not done here. */
final class PathSyntax {

  static final String EXPECTED =
      "a path such as /orders, /orders/{id}, /orders/*/items or /orders/**, with ** at its end only";

  private static final Pattern PARAMETER = Pattern.compile("\\{[A-Za-z][A-Za-z0-9_-]*}");
  // The characters of a path segment (RFC 3986 §3.3), without the wildcard.
  private static final Pattern LITERAL =
      Pattern.compile("(?:[A-Za-z0-9._~!$&'()+,;=:@-]|%[0-9A-Fa-f]{2})+");

  private PathSyntax() {}

  /** The pattern itself where it is well-formed. */
  static Optional<String> parse(String text) {
    if (text.equals("/")) {
      return Optional.of(text);
    }
    if (!text.startsWith("/") || text.length() > 1024) {
      return Optional.empty();
    }
    String[] segments = text.substring(1).split("/", -1);
    Set<String> names = new HashSet<>();
    for (int i = 0; i < segments.length; i++) {
      if (!isSegment(segments[i], i == segments.length - 1, names)) {
        return Optional.empty();
      }
    }
    return Optional.of(text);
  }

  private static boolean isSegment(String segment, boolean last, Set<String> names) {
    if (segment.isEmpty() || segment.equals("**")) {
      return last;
    }
    if (segment.startsWith("{")) {
      return PARAMETER.matcher(segment).matches() && names.add(segment);
    }
    // A dot segment never arrives: it is resolved before routes are tried.
    boolean dots = segment.equals(".") || segment.equals("..");
    return segment.equals("*") || (!dots && LITERAL.matcher(segment).matches());
  }
}
