package dev.idempotency.gateway;

import dev.idempotency.gateway.config.Configuration;
import dev.idempotency.gateway.config.Configuration.Keying;
import dev.idempotency.gateway.config.Scope;
import dev.idempotency.gateway.config.Tokens;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the log says at start about callers that the gateway cannot tell apart or has to believe.
 */
final class ScopeNotes {

  private static final Logger LOG = LoggerFactory.getLogger(Gateway.class);

  private ScopeNotes() {}

  static void log(Configuration configuration) {
    shared(configuration).forEach(LOG::info);
    believed(configuration).forEach(LOG::warn);
    tokens(configuration).forEach(LOG::warn);
  }

  /** Of each route with keys whose callers need no identity. */
  static List<String> shared(Configuration configuration) {
    return configuration.routes().stream()
        .filter(route -> route.idempotency() != Keying.OFF && route.scope().isEmpty())
        .map(
            route ->
                "route "
                    + route.name()
                    + ": keys belong to the Authorization header; callers without one share their"
                    + " keys (set scope to demand an identity)")
        .toList();
  }

  /** Where nobody is told from a proxy, everybody can write a proxy's fields. */
  static List<String> believed(Configuration configuration) {
    return configuration.routes().stream()
        .filter(route -> route.idempotency() != Keying.OFF && !names(route).isEmpty())
        .filter(route -> configuration.trustedProxies().isEmpty())
        .map(
            route ->
                "route "
                    + route.name()
                    + ": everybody who reaches this gateway is believed in "
                    + names(route)
                    + ", as there are no trusted-proxies (name the proxies that set it, or say"
                    + " credential:NAME where the field is itself the proof)")
        .toList();
  }

  /** What makes tokens of others, or of anybody, count as a caller's. */
  static List<String> tokens(Configuration configuration) {
    Tokens tokens = configuration.tokens();
    if (tokens == null) {
      return List.of();
    }
    List<String> notes = new ArrayList<>(2);
    if (tokens.audience().isEmpty()) {
      notes.add(
          "jwt: tokens that the issuer made for other services count as well (name this one in"
              + " jwt.audience)");
    }
    if (comesInClear(tokens.keys())) {
      notes.add(
          "jwt: whoever is between here and "
              + tokens.keys().getHost()
              + " can make tokens, as jwt.keys come by http (take https, or a file)");
    }
    return notes;
  }

  /** Over a network, that is, and not from this machine. */
  private static boolean comesInClear(URI keys) {
    String host = keys.getHost();
    boolean here =
        host == null
            || host.equals("localhost")
            || host.equals("[::1]")
            || host.matches("127(\\.\\d{1,3}){3}");
    return "http".equals(keys.getScheme()) && !here;
  }

  private static String names(Configuration.Route route) {
    return route.scope().stream()
        .filter(Scope.Header.class::isInstance)
        .map(Scope::toString)
        .collect(Collectors.joining(", "));
  }
}
