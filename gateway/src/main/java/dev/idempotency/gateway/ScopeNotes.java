package dev.idempotency.gateway;

import dev.idempotency.gateway.config.Configuration;
import dev.idempotency.gateway.config.Configuration.Keying;
import dev.idempotency.gateway.config.Scope;
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
