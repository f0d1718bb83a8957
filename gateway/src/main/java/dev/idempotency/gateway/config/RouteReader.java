package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Configuration.BodyMode;
import dev.idempotency.gateway.config.Configuration.ErrorStyle;
import dev.idempotency.gateway.config.Configuration.Keying;
import dev.idempotency.gateway.config.Configuration.Route;
import dev.idempotency.gateway.config.Configuration.StoreOutage;
import dev.idempotency.gateway.idempotency.Outcome;
import dev.idempotency.gateway.idempotency.UnknownPolicy;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Reads one route. */
final class RouteReader {

  private static final Route DEFAULTS = Defaults.ROUTE;
  private static final Format<Long> BUFFER_LIMIT = Sizes.between(1, 1L << 30, "1MiB");
  private static final Format<Long> STREAM_LIMIT = Sizes.between(1, 1L << 40, "1GiB");
  private static final Format<Duration> RETENTION = Formats.duration("100ms", "3650d", "24h");
  private static final Format<Duration> LEASE = Formats.duration("100ms", "1h", "10s");
  private static final Format<Keying> KEYING = Formats.choice(Keying.class, "");
  private static final Format<UnknownPolicy> UNKNOWN = Formats.choice(UnknownPolicy.class, "");
  private static final Format<StoreOutage> STORE_OUTAGE = Formats.choice(StoreOutage.class, "");
  private static final Format<Outcome> OUTCOME = Formats.choice(Outcome.class, "");
  private static final Format<BodyMode> MODE = Formats.choice(BodyMode.class, "");
  private static final Format<ErrorStyle> ERRORS = Formats.choice(ErrorStyle.class, "");

  private final Section route;
  private final SecretReader secrets;
  private final Problems problems;

  RouteReader(Section route, SecretReader secrets, Problems problems) {
    this.route = route;
    this.secrets = secrets;
    this.problems = problems;
  }

  Route read(Set<String> upstreams) {
    try (Section fingerprint = route.section("fingerprint");
        Section request = route.section("request");
        Section response = route.section("response")) {
      String name = route.require("name", Formats.NAME, "");
      Keying keying = route.get("idempotency", KEYING, DEFAULTS.idempotency());
      Set<String> methods = methods(keying);
      String path = route.require("path", Formats.PATH, DEFAULTS.path());
      Duration lease = route.get("lease", LEASE, DEFAULTS.lease());
      Fingerprinting printing = new FingerprintReader(fingerprint, problems).read();
      BodyMode requestMode = requestMode(request, printing.body());
      CallerReader callers = new CallerReader(route, problems);
      AnswerReader answers = new AnswerReader(problems);
      Duration retention = retention(lease);
      RouteKey key = KeyReader.read(route, problems);
      List<Scope> scope = route.list("scope", IdentityFormats.SCOPE).orElse(DEFAULTS.scope());
      KeyReader.look(route, key, scope, requestMode, retention, problems);
      boolean observe = route.get("observe", Formats.TRUTH, DEFAULTS.observe());
      String upstream = route.require("upstream", oneOf(upstreams), DEFAULTS.upstream());
      UnknownPolicy unknown = route.get("unknown", UNKNOWN, DEFAULTS.unknown());
      SafetyReader safety = new SafetyReader(route, secrets, problems);
      needsKeys(keying, "observe", observe);
      needsKeys(keying, "durability", route.has("durability"));
      needsKeys(keying, "guard", route.has("guard"));
      needsKeys(keying, "probe", route.has("probe"));
      needsKeys(keying, "quota", route.has("quota"));
      needsKeys(keying, "forward-auth", route.has("forward-auth"));
      return new Route(
          name,
          methods,
          path,
          upstream,
          keying,
          observe,
          route.get("listed", Formats.TRUTH, DEFAULTS.listed()),
          key,
          scope,
          callers.quota(),
          callers.forwardAuth(upstreams),
          printing,
          retention,
          lease,
          safety.waiting(),
          unknown,
          safety.safety(unknown, path, upstream, upstreams, requestMode),
          route.get("store-outage", STORE_OUTAGE, DEFAULTS.storeOutage()),
          outcomes(),
          request.get(
              "limit",
              requestMode == BodyMode.STREAM ? STREAM_LIMIT : BUFFER_LIMIT,
              DEFAULTS.requestLimit()),
          requestMode,
          response.get("limit", BUFFER_LIMIT.map(Math::toIntExact), DEFAULTS.responseLimit()),
          response.get("mode", MODE, DEFAULTS.responseMode()),
          answers.copy(response),
          route.get("errors", ERRORS, DEFAULTS.errors()),
          answers.cors(route),
          upgrades(keying, methods));
    }
  }

  /** Refuses what would promise something where no key is looked at. */
  private void needsKeys(Keying keying, String key, boolean given) {
    if (keying == Keying.OFF && given) {
      problems.add(
          route.path(key),
          "in a route with idempotency: off",
          "idempotency: required or optional, as nothing is looked at where it is off");
    }
  }

  /** A canonical form needs the whole body, and a body that streams is gone when it is whole. */
  private BodyMode requestMode(Section request, Fingerprinting.Body body) {
    BodyMode mode = request.get("mode", MODE, DEFAULTS.requestMode());
    if (mode == BodyMode.STREAM && body != Fingerprinting.Body.RAW) {
      problems.add(
          request.path("mode"), "stream", "buffer, or fingerprint: { body: raw } in this route");
    }
    return mode;
  }

  /** Whether to WebSocket. What a connection became has no response to store and to replay. */
  private boolean upgrades(Keying keying, Set<String> methods) {
    Optional<List<String>> upgrades = route.list("upgrade", Formats.UPGRADE);
    if (upgrades.isPresent() && keying != Keying.OFF) {
      problems.add(
          route.path("upgrade"),
          "in a route with idempotency: " + Formats.print(keying),
          "idempotency: off");
    } else if (upgrades.isPresent() && !methods.isEmpty() && !methods.contains("GET")) {
      problems.add(
          route.path("upgrade"),
          "in a route without GET",
          "GET among its methods, as WebSockets begin with one");
    }
    return upgrades.isPresent();
  }

  private Set<String> methods(Keying keying) {
    boolean off = keying == Keying.OFF;
    return route
        .list("methods", off ? Formats.ANY_METHOD : Formats.KEYED_METHOD)
        .<Set<String>>map(LinkedHashSet::new)
        .orElse(off ? Set.of() : DEFAULTS.methods());
  }

  static Format<String> oneOf(Set<String> upstreams) {
    String expected = "one of the upstreams";
    if (!upstreams.isEmpty()) {
      expected += ": " + Formats.alternatives(List.copyOf(upstreams));
    }
    return Format.text(expected, text -> Optional.of(text).filter(upstreams::contains));
  }

  /** A record that dies before its lease would forget an operation that is still running. */
  private Duration retention(Duration lease) {
    Duration retention = route.get("retention", RETENTION, DEFAULTS.retention());
    if (retention.compareTo(lease) < 0) {
      problems.add(
          route.path("retention"),
          Durations.print(retention),
          "at least the lease, which is " + Durations.print(lease));
    }
    return retention;
  }

  private Map<Integer, Outcome> outcomes() {
    Map<Integer, Outcome> outcomes = new TreeMap<>();
    try (Section section = route.section("outcomes")) {
      for (String status : section.keys()) {
        Optional<Outcome> outcome = section.findEntry(status, OUTCOME);
        if (!status.matches("[2-5]\\d\\d")) {
          problems.add(section.path(status), "no status", "a final status from 200 to 599");
        } else {
          outcome.ifPresent(value -> outcomes.put(Integer.parseInt(status), value));
        }
      }
    }
    return outcomes;
  }
}
