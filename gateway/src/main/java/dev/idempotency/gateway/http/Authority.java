package dev.idempotency.gateway.http;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Host and port of a request (RFC 9110 §7.2, RFC 3986 §3.2). Narrower than RFC 3986: a name has
 * letters, digits, {@code - . _ ~} only, because other characters are read differently by those who
 * choose a site by it; user information and zones of IPv6 addresses are refused.
 *
 * @param host in small letters; an IPv6 address stands in brackets
 * @param port -1 where none is named
 */
public record Authority(String host, int port) {

  private static final int MOST_LENGTH = 255 + 6;
  private static final int NONE = -1;

  /** Reads host[:port]; null where it is not exactly that. */
  public static @Nullable Authority read(String text) {
    if (text.isEmpty() || text.length() > MOST_LENGTH) {
      return null;
    }
    int end = text.charAt(0) == '[' ? endOfAddress(text) : endOfName(text);
    if (end <= 0) {
      return null;
    }
    int port = end == text.length() ? NONE : portFrom(text, end);
    if (end < text.length() && port < NONE) {
      return null;
    }
    return new Authority(text.substring(0, end).toLowerCase(Locale.ROOT), port);
  }

  /** Whether both name the same host and port. */
  public boolean isSameAs(Authority other, int defaultPort) {
    return host.equals(other.host)
        && (port == NONE ? defaultPort : port) == (other.port == NONE ? defaultPort : other.port);
  }

  private static int endOfAddress(String text) {
    int close = text.indexOf(']');
    return close > 0 && isIpv6(text.substring(1, close)) ? close + 1 : 0;
  }

  /** 0 where a character is none of a name, or a label but the last is empty. */
  private static int endOfName(String text) {
    char before = '.';
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == ':') {
        return i;
      }
      if (!isNameCharacter(c) || (c == '.' && before == '.')) {
        return 0;
      }
      before = c;
    }
    return text.length();
  }

  private static boolean isNameCharacter(char c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || c == '-'
        || c == '.'
        || c == '_'
        || c == '~';
  }

  /** The port behind the colon; NONE where nothing stands there, less where it is no port. */
  private static int portFrom(String text, int colon) {
    int length = text.length() - colon - 1;
    if (text.charAt(colon) != ':' || length > 5) {
      return NONE - 1;
    }
    if (length == 0) {
      return NONE;
    }
    int port = decimal(text, colon + 1, text.length());
    return port < 0 || port > 65_535 ? NONE - 1 : port;
  }

  /** -1 where there is something else than digits. */
  private static int decimal(String text, int from, int to) {
    int value = 0;
    for (int i = from; i < to; i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      value = value * 10 + digit;
    }
    return value;
  }

  /** An address by the grammar of RFC 3986 §3.2.2, which has no zones. */
  static boolean isIpv6(String text) {
    int gap = text.indexOf("::");
    if (gap < 0) {
      return groups(text, true) == 8;
    }
    if (text.indexOf("::", gap + 1) >= 0) {
      return false;
    }
    int left = groups(text.substring(0, gap), false);
    int right = groups(text.substring(gap + 2), true);
    return left >= 0 && right >= 0 && left + right <= 7;
  }

  /** How many groups of 16 bits these are; -1 where they are none. */
  private static int groups(String text, boolean last) {
    if (text.isEmpty()) {
      return 0;
    }
    String[] groups = text.split(":", -1);
    int count = 0;
    for (int i = 0; i < groups.length; i++) {
      boolean ipv4 = last && i == groups.length - 1 && isIpv4(groups[i]);
      if (!ipv4 && !isGroup(groups[i])) {
        return -1;
      }
      count += ipv4 ? 2 : 1;
    }
    return count;
  }

  private static boolean isGroup(String text) {
    if (text.isEmpty() || text.length() > 4) {
      return false;
    }
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      if (!hex) {
        return false;
      }
    }
    return true;
  }

  private static boolean isIpv4(String text) {
    String[] octets = text.split("\\.", -1);
    if (octets.length != 4) {
      return false;
    }
    for (String octet : octets) {
      boolean padded = octet.length() > 1 && octet.charAt(0) == '0';
      if (octet.isEmpty() || octet.length() > 3 || padded) {
        return false;
      }
      int value = decimal(octet, 0, octet.length());
      if (value < 0 || value > 255) {
        return false;
      }
    }
    return true;
  }
}
