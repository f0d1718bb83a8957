package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Configuration.BodyMode;
import dev.idempotency.gateway.config.Configuration.Keying;
import dev.idempotency.gateway.config.Configuration.Route;
import java.util.List;
import java.util.Locale;

/** Looks for what is right by itself and wrong together. */
final class Contradictions {

  private final Configuration configuration;
  private final Problems problems;

  private Contradictions(Configuration configuration, Problems problems) {
    this.configuration = configuration;
    this.problems = problems;
  }

  static void look(Configuration configuration, Problems problems) {
    Contradictions looked = new Contradictions(configuration, problems);
    looked.places();
    looked.budget();
    looked.encryption();
    SafetyContradictions.look(configuration, problems);
    List<Route> routes = configuration.routes();
    for (int i = 0; i < routes.size(); i++) {
      looked.scopes(routes.get(i), "routes[" + i + "].scope");
      looked.upgrades(routes.get(i), "routes[" + i + "].upgrade");
    }
  }

  /** Where one would take the place of the other, or could not start. */
  private void places() {
    List<Listener> listeners = configuration.listen();
    for (int i = 0; i < listeners.size(); i++) {
      HostAndPort place = listeners.get(i).address();
      for (int j = 0; j < i; j++) {
        if (isSame(place, listeners.get(j).address())) {
          problems.add(
              "listen[" + i + ']', place.toString(), "another place than listen[" + j + ']');
        }
      }
      if (isSame(place, configuration.admin())) {
        String name = listeners.size() == 1 ? "listen" : "listen[" + i + ']';
        problems.add("admin", place.toString(), "another place than " + name);
      }
    }
  }

  private static boolean isSame(HostAndPort one, HostAndPort other) {
    return one.port() != 0
        && one.port() == other.port()
        && one.host().toLowerCase(Locale.ROOT).equals(other.host().toLowerCase(Locale.ROOT));
  }

  /** A body that streams is never held as a whole. */
  private void budget() {
    long budget = configuration.limits().bodyBudget();
    for (Route route : configuration.routes()) {
      boolean held = route.idempotency() != Keying.OFF && route.requestMode() == BodyMode.BUFFER;
      if (held && route.requestLimit() > budget) {
        problems.add(
            "limits.body-budget",
            Sizes.print(budget),
            "at least the request.limit of route "
                + route.name()
                + ", which is "
                + Sizes.print(route.requestLimit()));
        return;
      }
    }
  }

  /** A hash without a key says what a body was to everybody who can guess bodies. */
  private void encryption() {
    if (!configuration.envelope().keys().isEmpty() && configuration.secrets().isEmpty()) {
      problems.add(
          "store.encryption",
          "without secret",
          "secret or secrets at the top of the file: the fingerprints beside the encrypted"
              + " responses are else plain hashes, which tell whoever reads the store what a body"
              + " was that he can guess");
    }
  }

  /** Whether somebody vouches for what each part says. */
  private void scopes(Route route, String path) {
    for (Scope part : route.scope()) {
      String missing = missing(route, part);
      if (!missing.isEmpty()) {
        problems.add(path, part.toString(), missing);
      }
    }
  }

  /** What a part of the scope cannot be without and has to be without; empty where it has all. */
  private String missing(Route route, Scope part) {
    if (part instanceof Scope.CertificateSubject) {
      boolean known = configuration.listen().stream().anyMatch(Listener::knowsClients);
      return known ? "" : "a listener whose tls has client-ca";
    }
    if (part instanceof Scope.TokenClaim) {
      return configuration.tokens() != null
          ? ""
          : "jwt at the top of the file, which verifies tokens";
    }
    if (part instanceof Scope.Authorized) {
      return route.forwardAuth() != null
          ? ""
          : "forward-auth in this route, whose answer has the field";
    }
    if (part instanceof Scope.Header header) {
      return isCopied(route, header.name())
          ? "auth:" + header.name() + ", as forward-auth answers it: in a request it is anybody's"
          : "";
    }
    if (part instanceof Scope.BasicUser) {
      boolean vouched = route.forwardAuth() != null || !configuration.trustedProxies().isEmpty();
      return vouched
          ? ""
          : "forward-auth in this route, or trusted-proxies: the gateway itself checks no password";
    }
    return "";
  }

  /** Whether the field that goes upstream is the authorisation service's. */
  private static boolean isCopied(Route route, String name) {
    return route.forwardAuth() != null
        && route.forwardAuth().copy().stream().anyMatch(name::equalsIgnoreCase);
  }

  private void upgrades(Route route, String path) {
    Upstream upstream = configuration.upstreams().get(route.upstream());
    if (route.webSocket() && upstream != null && upstream.http2()) {
      problems.add(
          path,
          "websocket",
          "an upstream without http2, which " + upstream.name() + " has: only HTTP/1.1 upgrades");
    }
  }
}
