package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Configuration.Keying;
import dev.idempotency.gateway.config.Configuration.Limits;
import dev.idempotency.gateway.config.Configuration.Log;
import dev.idempotency.gateway.config.Configuration.LogFormat;
import dev.idempotency.gateway.config.Configuration.ResponseMode;
import dev.idempotency.gateway.config.Configuration.Route;
import dev.idempotency.gateway.config.Configuration.Store;
import dev.idempotency.gateway.config.Configuration.StoreOutage;
import dev.idempotency.gateway.config.Configuration.Upstream;
import dev.idempotency.gateway.idempotency.UnknownPolicy;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What counts where nothing is said. */
final class Defaults {

  static final HostAndPort LISTEN = new HostAndPort("0.0.0.0", 8080);
  static final HostAndPort ADMIN = new HostAndPort("127.0.0.1", 9090);
  static final Duration DRAIN = Duration.ofSeconds(25);
  static final Log LOG = new Log(LogFormat.TEXT, false);

  static final Set<String> METHODS = ordered("POST", "PATCH");

  /** The address stands for one that is missing. */
  static final Upstream UPSTREAM =
      new Upstream(
          "default",
          new HostAndPort("127.0.0.1", 80),
          Duration.ofSeconds(1),
          Duration.ofSeconds(30),
          Duration.ofSeconds(4),
          256,
          1024,
          Duration.ofSeconds(1));

  private Defaults() {}

  static final Route ROUTE = route(Keying.OPTIONAL);

  private static Route route(Keying keying) {
    return new Route(
        "default",
        METHODS,
        "/**",
        UPSTREAM.name(),
        keying,
        "Idempotency-Key",
        List.of(),
        List.of(),
        List.of(),
        Duration.ofHours(24),
        Duration.ofSeconds(10),
        Duration.ZERO,
        UnknownPolicy.HOLD,
        StoreOutage.REJECT,
        Map.of(),
        1 << 20,
        1 << 20,
        ResponseMode.BUFFER,
        Set.of());
  }

  private static Set<String> ordered(String... words) {
    return Collections.unmodifiableSet(new LinkedHashSet<>(List.of(words)));
  }

  static int threads() {
    return Runtime.getRuntime().availableProcessors();
  }

  static Limits limits() {
    return new Limits(
        quarterOfHeap(),
        16 << 10,
        100,
        10_000,
        Duration.ofSeconds(75),
        Duration.ofSeconds(10),
        Duration.ofSeconds(30));
  }

  static Store.Memory memory() {
    return new Store.Memory(quarterOfHeap());
  }

  static Store.Redis redis(String url) {
    return new Store.Redis(url, Duration.ofMillis(500), "idem:");
  }

  private static long quarterOfHeap() {
    return Runtime.getRuntime().maxMemory() / 4;
  }

  /** One upstream, and one route for every path. */
  static Configuration of(HostAndPort upstream, boolean requireKey) {
    Upstream only = UPSTREAM.at(upstream);
    Route route = requireKey ? route(Keying.REQUIRED) : ROUTE;
    return new Configuration(
        LISTEN,
        ADMIN,
        memory(),
        DRAIN,
        threads(),
        null,
        limits(),
        LOG,
        Map.of(only.name(), only),
        List.of(route));
  }
}
