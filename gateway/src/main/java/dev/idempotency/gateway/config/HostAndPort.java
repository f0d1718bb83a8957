package dev.idempotency.gateway.config;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where to listen or to connect.
 *
 * @param host a name or an address; IPv6 without its brackets
 * @param port 0 to 65535; 0 lets the system choose and is for listening only
 */
public record HostAndPort(String host, int port) {

  private static final Pattern IPV6 = Pattern.compile("\\[([0-9A-Fa-f:.]{2,45})](?::(\\d{1,5}))?");
  // Underscores, because container networks use them in names.
  private static final Pattern NAME = Pattern.compile("([A-Za-z0-9._-]{1,253})(?::(\\d{1,5}))?");

  /** Reads {@code HOST:PORT} or {@code [IPv6]:PORT}. */
  static Optional<HostAndPort> parse(String text) {
    return match(text, -1);
  }

  /** Reads the same where the port may be left out. */
  static Optional<HostAndPort> parse(String text, int defaultPort) {
    return match(text, defaultPort);
  }

  private static Optional<HostAndPort> match(String text, int defaultPort) {
    Matcher matcher = (text.startsWith("[") ? IPV6 : NAME).matcher(text);
    if (!matcher.matches() || (text.startsWith("[") && !matcher.group(1).contains(":"))) {
      return Optional.empty();
    }
    int port = matcher.group(2) == null ? defaultPort : Integer.parseInt(matcher.group(2));
    return port < 0 || port > 65535
        ? Optional.empty()
        : Optional.of(new HostAndPort(matcher.group(1), port));
  }

  /** The form that was read, IPv6 in brackets. */
  @Override
  public String toString() {
    return (host.indexOf(':') < 0 ? host : '[' + host + ']') + ':' + port;
  }
}
