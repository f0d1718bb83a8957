package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Configuration.BodyMode;
import dev.idempotency.gateway.config.Configuration.ErrorStyle;
import dev.idempotency.gateway.config.Configuration.Keying;
import dev.idempotency.gateway.config.Configuration.Limits;
import dev.idempotency.gateway.config.Configuration.Log;
import dev.idempotency.gateway.config.Configuration.LogFormat;
import dev.idempotency.gateway.config.Configuration.Route;
import dev.idempotency.gateway.config.Configuration.Store;
import dev.idempotency.gateway.config.Configuration.StoreOutage;
import dev.idempotency.gateway.http.PathRule;
import dev.idempotency.gateway.idempotency.UnknownPolicy;
import java.net.URI;
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
  static final Duration SWEEP = Duration.ofSeconds(5);
  static final Duration DRAIN = Duration.ofSeconds(25);
  static final Duration DRAIN_DELAY = Duration.ZERO;
  static final Log LOG = new Log(LogFormat.TEXT, false);

  static final boolean DISCOVERY = true;

  /** Its keys stand for those that are missing. */
  static final Tokens TOKENS =
      new Tokens(
          URI.create("file:///"),
          null,
          List.of(),
          List.of("RS256"),
          Duration.ofSeconds(30),
          Duration.ofMinutes(10),
          null);

  static final Set<String> METHODS = ordered("POST", "PATCH");

  /** Its only address stands for one that is missing. */
  static final Upstream UPSTREAM =
      new Upstream(
          "default",
          List.of(new HostAndPort("127.0.0.1", 80)),
          null,
          false,
          Duration.ofSeconds(1),
          Duration.ofSeconds(30),
          Duration.ofSeconds(4),
          Duration.ofMinutes(5),
          Duration.ofSeconds(30),
          256,
          1024,
          Duration.ofSeconds(1),
          new Upstream.Ejection(5, Duration.ofSeconds(10)),
          null);

  /** The path stands for one that is missing. */
  static final Upstream.HealthCheck HEALTH_CHECK =
      new Upstream.HealthCheck("/", Duration.ofSeconds(5), Duration.ofSeconds(1), 2, 3);

  static final List<String> TLS_PROTOCOLS = List.of("TLSv1.3", "TLSv1.2");
  static final Duration TLS_RELOAD = Duration.ofSeconds(10);

  static final RouteKey KEY =
      new RouteKey(
          List.of(new RouteKey.Source.Header("Idempotency-Key")),
          RouteKey.Syntax.LENIENT,
          RouteKey.Form.ANY,
          false,
          null,
          Duration.ofMinutes(1),
          Duration.ZERO);

  static final Quota QUOTA = new Quota(0, Duration.ofMinutes(1), 0);

  /** Upstream and path stand for those that are missing. */
  static final ForwardAuth FORWARD_AUTH =
      new ForwardAuth(
          "default",
          "/",
          Duration.ofSeconds(1),
          Duration.ZERO,
          ForwardAuth.OnFailure.REJECT,
          Set.of());

  static final Fingerprinting FINGERPRINT =
      new Fingerprinting(Fingerprinting.Body.CANONICAL, List.of(), List.of(), List.of(), null, 2);

  static final ResponseCopy COPY = new ResponseCopy(Set.of(), Set.of(), List.of(), false);

  /** The upstream stands for the route's. */
  static final Probe PROBE =
      new Probe(
          null,
          "default",
          Duration.ofSeconds(2),
          orderedStatuses(200, 201),
          Set.of(),
          Probe.OnNever.RERUN,
          Duration.ofSeconds(10),
          0,
          Map.of(),
          Duration.ofSeconds(1),
          Duration.ofMinutes(5));

  private Defaults() {}

  static final Route ROUTE = route(Keying.OPTIONAL);

  private static Route route(Keying keying) {
    return new Route(
        "default",
        METHODS,
        "/**",
        UPSTREAM.name(),
        keying,
        false,
        true,
        KEY,
        List.of(),
        null,
        null,
        FINGERPRINT,
        Duration.ofHours(24),
        Duration.ofSeconds(10),
        new Waiting(Duration.ZERO, Duration.ofSeconds(30), 100),
        UnknownPolicy.HOLD,
        Safety.NONE,
        StoreOutage.REJECT,
        Map.of(),
        1 << 20,
        BodyMode.BUFFER,
        1 << 20,
        BodyMode.BUFFER,
        COPY,
        ErrorStyle.PROBLEM,
        null,
        false);
  }

  private static Set<String> ordered(String... words) {
    return Collections.unmodifiableSet(new LinkedHashSet<>(List.of(words)));
  }

  private static Set<Integer> orderedStatuses(Integer... statuses) {
    return Collections.unmodifiableSet(new LinkedHashSet<>(List.of(statuses)));
  }

  static int threads() {
    return Runtime.getRuntime().availableProcessors();
  }

  static Limits limits() {
    return new Limits(
        quarterOfHeap(),
        16 << 10,
        100,
        8 << 10,
        10_000,
        0,
        Duration.ofSeconds(75),
        Duration.ofSeconds(10),
        Duration.ofSeconds(30),
        240,
        Duration.ofHours(1),
        100,
        64 << 10,
        200,
        1000,
        quarterOfHeap() / 2);
  }

  static Store.Memory memory() {
    return new Store.Memory(quarterOfHeap());
  }

  static Store.Redis redis(String url) {
    return new Store.Redis(
        url, Duration.ofMillis(500), "idem:", Duration.ofSeconds(30), StoreAccess.NONE);
  }

  static Store.Postgres postgres(String url) {
    return new Store.Postgres(url, Duration.ofMillis(500), 8, StoreAccess.NONE);
  }

  private static long quarterOfHeap() {
    return Runtime.getRuntime().maxMemory() / 4;
  }

  /** One upstream, and one route for every path. */
  static Configuration of(List<UpstreamUrl> urls, boolean requireKey) {
    Upstream only = UPSTREAM.at(urls);
    Route route = requireKey ? route(Keying.REQUIRED) : ROUTE;
    return new Configuration(
        List.of(Listener.clear(LISTEN)),
        ADMIN,
        memory(),
        Envelope.NONE,
        SWEEP,
        null,
        DRAIN,
        DRAIN_DELAY,
        threads(),
        List.of(),
        List.of(),
        Set.of(),
        PathRule.STRICT,
        limits(),
        LOG,
        DISCOVERY,
        null,
        Map.of(only.name(), only),
        List.of(route));
  }
}
