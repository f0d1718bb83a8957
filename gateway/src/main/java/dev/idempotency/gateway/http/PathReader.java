package dev.idempotency.gateway.http;

import org.jspecify.annotations.Nullable;

/** Reads one path that is not plain, by {@link PathRule}. */
final class PathReader {

  private static final int END = -1;

  private final PathRule rule;
  private final String path;
  private final StringBuilder normal;

  PathReader(PathRule rule, String path) {
    this.rule = rule;
    this.path = path;
    this.normal = new StringBuilder(path.length());
  }

  PathRule.Reading read() {
    if (!path.startsWith("/")) {
      return refused("does not begin with a slash");
    }
    int at = 0;
    while (at < path.length()) {
      char c = path.charAt(at);
      String reason = c == '%' ? escape(at) : character(c, at);
      if (reason != null) {
        return refused(reason);
      }
      at += c == '%' ? 3 : 1;
    }
    String text = normal.toString();
    String reason = segments(text);
    return reason == null ? new PathRule.Reading.Path(text) : refused(reason);
  }

  private static PathRule.Reading refused(String reason) {
    return new PathRule.Reading.Refused("The path " + reason + ".");
  }

  private @Nullable String character(char c, int at) {
    if (c == ';' && !rule.semicolon()) {
      return "has a parameter behind a semicolon (rule semicolon)";
    }
    if (c != ';' && !PathRule.isPlain(c)) {
      return "has a character at position " + at + " that must be encoded";
    }
    normal.append(c);
    return null;
  }

  private @Nullable String escape(int at) {
    int octet = octetAt(at);
    if (octet == END) {
      return "has a percent sign without two hexadecimal digits (rule percent)";
    }
    if (octet < 0x20 || octet == 0x7f) {
      return "has an encoded control character (rule encoded-control)";
    }
    if (isOverlong(octet, octetAt(at + 3))) {
      return "has an overlong form of a character in UTF-8 (rule overlong)";
    }
    if ((octet == '/' || octet == '\\') && !rule.encodedSlash()) {
      return "has an encoded slash or backslash (rule encoded-slash)";
    }
    if (isUnreserved(octet)) {
      normal.append((char) octet);
    } else {
      normal.append('%').append(digit(octet >> 4)).append(digit(octet & 15));
    }
    return null;
  }

  /** The octet that the escape at this position stands for, or END where there is none. */
  private int octetAt(int at) {
    if (at + 2 >= path.length() || path.charAt(at) != '%') {
      return END;
    }
    int high = value(path.charAt(at + 1));
    int low = value(path.charAt(at + 2));
    return high < 0 || low < 0 ? END : high << 4 | low;
  }

  /** Not {@link Character#digit}, which knows the digits of all scripts. */
  private static int value(char c) {
    if (c >= '0' && c <= '9') {
      return c - '0';
    }
    int letter = c | 0x20;
    return c < 0x80 && letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
  }

  private static char digit(int value) {
    return "0123456789ABCDEF".charAt(value);
  }

  /** Some decoders take these for the short form: %C0%AE for a dot (RFC 3629 §3, §10). */
  private static boolean isOverlong(int octet, int next) {
    return switch (octet) {
      case 0xc0, 0xc1 -> next >= 0x80 && next <= 0xbf;
      case 0xe0 -> next >= 0x80 && next <= 0x9f;
      case 0xf0 -> next >= 0x80 && next <= 0x8f;
      default -> false;
    };
  }

  private static boolean isUnreserved(int c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || c == '-'
        || c == '.'
        || c == '_'
        || c == '~';
  }

  private @Nullable String segments(String text) {
    int start = 1;
    while (start <= text.length()) {
      int slash = text.indexOf('/', start);
      int end = slash < 0 ? text.length() : slash;
      String segment = text.substring(start, end);
      if (hasDotSegment(segment)) {
        return "has a dot segment (rule dot-segment)";
      }
      // One slash at the end is no empty segment; a parameter without a name before it is one.
      boolean empty = segment.isEmpty() ? slash >= 0 : segment.charAt(0) == ';';
      if (empty && !rule.emptySegment()) {
        return "has an empty segment (rule empty-segment)";
      }
      start = end + 1;
    }
    return null;
  }

  /** What stands behind an encoded slash may well be read as a segment of its own. */
  private static boolean hasDotSegment(String segment) {
    if (segment.indexOf('.') < 0) {
      return false;
    }
    for (String part : segment.split("%2F|%5C", -1)) {
      int end = endOfName(part);
      if (end <= 2 && (part.startsWith("..") ? end == 2 : part.startsWith(".") && end == 1)) {
        return true;
      }
    }
    return false;
  }

  /** Servers that know parameters drop them, encoded or not, before they look for dots. */
  private static int endOfName(String part) {
    int raw = part.indexOf(';');
    int encoded = part.indexOf("%3B");
    int first = raw < 0 ? encoded : encoded < 0 ? raw : Math.min(raw, encoded);
    return first < 0 ? part.length() : first;
  }
}
