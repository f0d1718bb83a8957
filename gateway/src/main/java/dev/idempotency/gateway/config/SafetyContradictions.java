package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Configuration.Keying;
import dev.idempotency.gateway.config.Configuration.Route;
import dev.idempotency.gateway.config.Configuration.Store;
import java.util.List;

/** Looks for promises of routes that the rest of the configuration cannot keep. */
final class SafetyContradictions {

  /** Bytes of a response that stores outside the process keep. */
  private static final int MOST_KEPT = 64 << 20;

  private final Configuration configuration;
  private final Problems problems;

  private SafetyContradictions(Configuration configuration, Problems problems) {
    this.configuration = configuration;
    this.problems = problems;
  }

  static void look(Configuration configuration, Problems problems) {
    SafetyContradictions looked = new SafetyContradictions(configuration, problems);
    List<Route> routes = configuration.routes();
    for (int i = 0; i < routes.size(); i++) {
      // Where no key is looked at, nothing is stored.
      if (routes.get(i).idempotency() != Keying.OFF) {
        looked.route(routes.get(i), "routes[" + i + "]");
      }
    }
    looked.sweep();
  }

  private void route(Route route, String path) {
    Safety safety = route.safety();
    boolean memory = configuration.store() instanceof Store.Memory;
    if (memory && !safety.durability().isNone()) {
      problems.add(
          path + ".durability",
          Formats.print(safety.durability().level()) + " with the store memory",
          "none, or a store that keeps records: redis://… or postgresql://…");
    }
    if (!(configuration.store() instanceof Store.Redis) && !safety.guard().isZero()) {
      problems.add(
          path + ".guard",
          Durations.print(safety.guard()) + " with the store " + (memory ? "memory" : "PostgreSQL"),
          "0s, or a store that can tell that it lost records: redis://…");
    }
    if (!memory && route.responseLimit() > MOST_KEPT) {
      problems.add(
          path + ".response.limit",
          Sizes.print(route.responseLimit()),
          "at most " + Sizes.print(MOST_KEPT) + " where the store is not memory");
    }
  }

  /** Nobody would ask before a client does, and a route that has a URL promises that. */
  private void sweep() {
    for (Route route : configuration.routes()) {
      Probe probe = route.safety().probe();
      if (probe != null && probe.url() != null && configuration.sweepEvery().isZero()) {
        problems.add(
            "sweep.every",
            "0s",
            "more than 0s, as route " + route.name() + " has a probe that the sweeper asks");
        return;
      }
    }
  }
}
