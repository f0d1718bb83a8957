package dev.idempotency.gateway.config;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One place of an upstream.
 *
 * @param tls whether the scheme is https
 * @param address port 1 to 65535
 */
record UpstreamUrl(boolean tls, HostAndPort address) {

  private static final String CLEAR = "http://";
  private static final String SECURE = "https://";

  static UpstreamUrl clear(HostAndPort address) {
    return new UpstreamUrl(false, address);
  }

  /** Reads a URL without user, path, query and fragment; the scheme in any case (RFC 3986 §3.1). */
  static Optional<UpstreamUrl> parse(String text) {
    return text.regionMatches(true, 0, SECURE, 0, SECURE.length())
        ? parse(text.substring(SECURE.length()), true, 443)
        : text.regionMatches(true, 0, CLEAR, 0, CLEAR.length())
            ? parse(text.substring(CLEAR.length()), false, 80)
            : Optional.empty();
  }

  private static Optional<UpstreamUrl> parse(String authority, boolean tls, int defaultPort) {
    String address =
        authority.endsWith("/") ? authority.substring(0, authority.length() - 1) : authority;
    return HostAndPort.parse(address, defaultPort)
        .filter(parsed -> parsed.port() > 0)
        .map(parsed -> new UpstreamUrl(tls, parsed));
  }

  /** Whether some are https and some are not. */
  static boolean isMixed(List<UpstreamUrl> urls) {
    return urls.stream().map(UpstreamUrl::tls).distinct().count() > 1;
  }

  /** The first that is there twice. */
  static Optional<UpstreamUrl> repeated(List<UpstreamUrl> urls) {
    Set<UpstreamUrl> seen = new HashSet<>();
    return urls.stream().filter(url -> !seen.add(url)).findFirst();
  }

  @Override
  public String toString() {
    return (tls ? SECURE : CLEAR) + address;
  }
}
