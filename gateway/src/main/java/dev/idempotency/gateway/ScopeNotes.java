package dev.idempotency.gateway;

import dev.idempotency.gateway.config.Configuration;
import dev.idempotency.gateway.config.Configuration.Keying;
import dev.idempotency.gateway.config.Scope;
import dev.idempotency.gateway.config.Tokens;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the log says at start about callers that the gateway cannot tell apart or has to believe,
 * and about tokens that it is told to take.
 */
final class ScopeNotes {

  private static final Logger LOG = LoggerFactory.getLogger(Gateway.class);

  private ScopeNotes() {}

  static void log(Configuration configuration) {
    shared(configuration).forEach(LOG::info);
    believed(configuration).forEach(LOG::warn);
    lax(configuration).forEach(LOG::warn);
  }

  /** Where tokens count that a careful issuer's client would not have meant for this gateway. */
  static List<String> lax(Configuration configuration) {
    Tokens tokens = configuration.tokens();
    if (tokens == null) {
      return List.of();
    }
    List<String> notes = new ArrayList<>();
    if (tokens.issuer() == null) {
      notes.add("jwt: any issuer counts whose tokens these keys sign (set issuer)");
    }
    if (tokens.audience().isEmpty()) {
      notes.add("jwt: tokens that were made for other services count as well (set audience)");
    }
    if ("http".equals(tokens.keys().getScheme())) {
      notes.add(
          "jwt: keys come over plain http, so whoever is on the way can make tokens (use https, or a"
              + " file)");
    }
    return notes;
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

  private static String names(Configuration.Route route) {
    return route.scope().stream()
        .filter(Scope.Header.class::isInstance)
        .map(Scope::toString)
        .collect(Collectors.joining(", "));
  }
}
