package dev.idempotency.gateway.server;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Reads the request target and the Host (RFC 9112 §3.2) into one head, or says what is wrong. */
final class RequestTarget {

  /** What came of reading. */
  sealed interface Reading {
    /** The head in origin-form. */
    record Good(RequestHead head) implements Reading {}

    /** Not a request that can be judged; the detail is for the client. */
    record Bad(String detail) implements Reading {}
  }

  private RequestTarget() {}

  static Reading read(String method, String target, Headers headers, boolean hostDemanded) {
    List<String> hosts = headers.all("Host");
    if (hosts.size() > 1) {
      return new Reading.Bad("The header Host is sent " + hosts.size() + " times.");
    }
    if (hostDemanded && hosts.isEmpty()) {
      return new Reading.Bad("The header Host is missing.");
    }
    if (!hosts.isEmpty() && !isAuthority(hosts.get(0))) {
      return new Reading.Bad("The header Host is not host[:port].");
    }
    int strange = firstStrange(target);
    if (strange >= 0) {
      return new Reading.Bad(
          "The request target has a character at position " + strange + " that must be encoded.");
    }
    return target.startsWith("/")
        ? new Reading.Good(RequestHead.of(method, target, headers))
        : absolute(method, target, headers);
  }

  /** Absolute-form: its authority wins over Host (RFC 9112 §3.2.2). */
  private static Reading absolute(String method, String target, Headers headers) {
    String lower = target.toLowerCase(Locale.ROOT);
    int start = lower.startsWith("http://") ? 7 : lower.startsWith("https://") ? 8 : -1;
    if (start < 0) {
      return new Reading.Bad("The request target is neither a path nor an http URI.");
    }
    int slash = indexOfAny(target, start);
    String authority = target.substring(start, slash);
    String rest = target.substring(slash);
    if (!isAuthority(authority) || authority.isEmpty()) {
      return new Reading.Bad("The authority of the request target is not host[:port].");
    }
    String host = headers.get("Host");
    if (host != null && !host.trim().equalsIgnoreCase(authority)) {
      return new Reading.Bad("The authority of the request target and the header Host differ.");
    }
    headers.set("Host", authority);
    String origin = rest.startsWith("/") ? rest : "/" + rest;
    return new Reading.Good(RequestHead.of(method, origin, headers));
  }

  private static int indexOfAny(String target, int from) {
    for (int i = from; i < target.length(); i++) {
      char c = target.charAt(i);
      if (c == '/' || c == '?') {
        return i;
      }
    }
    return target.length();
  }

  private static int firstStrange(String target) {
    for (int i = 0; i < target.length(); i++) {
      char c = target.charAt(i);
      if (c <= 0x20 || c >= 0x7f || c == '#' || c == '\\' || c == '"' || c == '<' || c == '>') {
        return i;
      }
    }
    return -1;
  }

  /** host[:port] as far as it must be to be passed on safely (RFC 9110 §7.2, RFC 3986 §3.2.2). */
  static boolean isAuthority(@Nullable String text) {
    if (text == null) {
      return false;
    }
    String host = text;
    if (text.startsWith("[")) {
      int end = text.indexOf(']');
      if (end < 3 || !text.substring(1, end).matches("[0-9A-Fa-f:.]+")) {
        return false;
      }
      host = "v6" + text.substring(end + 1);
    }
    int colon = host.indexOf(':');
    String name = colon < 0 ? host : host.substring(0, colon);
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (!plain && "-._~%!$&'()*+;=".indexOf(c) < 0) {
        return false;
      }
    }
    return colon < 0 || isPort(host, colon + 1);
  }

  private static boolean isPort(String host, int from) {
    if (host.length() - from > 5) {
      return false;
    }
    for (int i = from; i < host.length(); i++) {
      if (host.charAt(i) < '0' || host.charAt(i) > '9') {
        return false;
      }
    }
    return true;
  }
}
