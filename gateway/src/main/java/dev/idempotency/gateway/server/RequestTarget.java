package dev.idempotency.gateway.server;

import dev.idempotency.gateway.http.Authority;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.PathRule;
import dev.idempotency.gateway.http.RequestHead;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Reads the request target and the Host (RFC 9112 §3.2, RFC 9113 §8.3.1) into one head, or says
 * what is wrong.
 *
 * <p>Threading: immutable, safe from any thread.
 */
final class RequestTarget {

  private final String scheme;
  private final PathRule paths;
  private final int defaultPort;

  RequestTarget(String scheme, PathRule paths) {
    this.scheme = scheme;
    this.paths = paths;
    this.defaultPort = scheme.equals("https") ? 443 : 80;
  }

  /** What came of reading. */
  sealed interface Reading {

    /** The host that is meant; null where none is named. */
    @Nullable Authority host();

    /** The head in origin-form. */
    record Good(RequestHead head, @Nullable Authority host) implements Reading {}

    /** The whole server is meant (RFC 9112 §3.2.4). */
    record Server(@Nullable Authority host) implements Reading {}

    /** Not a request that can be judged; the detail is for the client. */
    record Bad(String detail) implements Reading {
      @Override
      public @Nullable Authority host() {
        return null;
      }
    }
  }

  /** Reads a target; parameters as {@link RequestHeads#judge} has them. */
  Reading read(
      String method,
      @Nullable String authority,
      String target,
      Headers headers,
      boolean hostDemanded) {
    int lines = headers.count("Host");
    if (lines > 1) {
      return new Reading.Bad("The header Host is sent " + lines + " times.");
    }
    String named = headers.get("Host");
    Authority host = named == null ? null : Authority.read(named);
    if (named != null && host == null) {
      return new Reading.Bad("The header Host is not host[:port].");
    }
    if (authority != null) {
      return withAuthority(method, authority, target, headers, host);
    }
    if (hostDemanded && host == null) {
      return new Reading.Bad("The header Host is missing.");
    }
    return target.startsWith("/") || target.equals("*")
        ? local(method, target, headers, host)
        : absolute(method, target, headers, host);
  }

  /** The target is for the host that was named with it, and Host may not say otherwise. */
  private Reading withAuthority(
      String method, String authority, String target, Headers headers, @Nullable Authority host) {
    Authority meant = Authority.read(authority);
    if (meant == null) {
      return new Reading.Bad("The authority of the request is not host[:port].");
    }
    if (host != null && !host.isSameAs(meant, defaultPort)) {
      return new Reading.Bad("The authority of the request and the header Host differ.");
    }
    headers.set("Host", authority);
    return local(method, target, headers, meant);
  }

  private Reading local(String method, String target, Headers headers, @Nullable Authority host) {
    if (target.equals("*")) {
      return method.equals("OPTIONS")
          ? new Reading.Server(host)
          : new Reading.Bad("The request target * is for OPTIONS only.");
    }
    int mark = target.indexOf('?');
    String query = mark < 0 ? null : target.substring(mark + 1);
    int strange = query == null ? -1 : firstStrange(query);
    if (strange >= 0) {
      return new Reading.Bad(
          "The query has a character at position " + strange + " that must be encoded.");
    }
    PathRule.Reading path = paths.read(mark < 0 ? target : target.substring(0, mark));
    if (path instanceof PathRule.Reading.Refused refused) {
      return new Reading.Bad(refused.reason());
    }
    String read = ((PathRule.Reading.Path) path).path();
    return new Reading.Good(new RequestHead(method, read, query, headers), host);
  }

  /** Absolute-form: its authority wins over Host (RFC 9112 §3.2.2). */
  private Reading absolute(
      String method, String target, Headers headers, @Nullable Authority host) {
    String start = scheme + "://";
    if (!target.regionMatches(true, 0, start, 0, start.length())) {
      return new Reading.Bad(
          target.toLowerCase(Locale.ROOT).startsWith("http")
              ? "The request target has another scheme than " + scheme + ", which is spoken here."
              : "The request target is neither a path nor an http URI.");
    }
    int end = endOfAuthority(target, start.length());
    String rest = target.substring(end);
    // An empty path asks about the server where the method is OPTIONS (RFC 9112 §3.2.4).
    String nothing = method.equals("OPTIONS") ? "*" : "/";
    String origin = rest.isEmpty() ? nothing : rest.startsWith("/") ? rest : "/" + rest;
    return withAuthority(method, target.substring(start.length(), end), origin, headers, host);
  }

  private static int endOfAuthority(String target, int from) {
    for (int i = from; i < target.length(); i++) {
      char c = target.charAt(i);
      if (c == '/' || c == '?') {
        return i;
      }
    }
    return target.length();
  }

  private static int firstStrange(String query) {
    for (int i = 0; i < query.length(); i++) {
      char c = query.charAt(i);
      if (!Octets.isVisible(c) || c == '#' || c == '\\' || c == '"' || c == '<' || c == '>') {
        return i;
      }
    }
    return -1;
  }
}
