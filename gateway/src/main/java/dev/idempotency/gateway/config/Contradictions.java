package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Configuration.BodyMode;
import dev.idempotency.gateway.config.Configuration.Keying;
import dev.idempotency.gateway.config.Configuration.Route;
import dev.idempotency.gateway.config.Configuration.Scope;
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
    List<Route> routes = configuration.routes();
    for (int i = 0; i < routes.size(); i++) {
      looked.certificates(routes.get(i), "routes[" + i + "].scope");
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

  private void certificates(Route route, String path) {
    if (route.scope().contains(new Scope.CertificateSubject())
        && configuration.listen().stream().noneMatch(Listener::knowsClients)) {
      problems.add(path, "certificate:subject", "a listener whose tls has client-ca");
    }
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
