package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Configuration.Limits;
import dev.idempotency.gateway.config.Configuration.Log;
import dev.idempotency.gateway.config.Configuration.LogFormat;
import dev.idempotency.gateway.config.Configuration.Route;
import dev.idempotency.gateway.http.PathRule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Reads the whole file; what it asks for is what a file may hold. */
final class ConfigurationReader {

  private static final Format<Spelling> SPELLING = Formats.choice(Spelling.class, "");

  /** Often enough to be of use, seldom enough not to be a load; or never. */
  private static final Format<Duration> SWEEP =
      Format.text(
          text ->
              text.equals("0s")
                  ? new Format.Parsed.Good<>(Duration.ZERO)
                  : sweep(
                      Durations.parse(text, Duration.ofMillis(100), Duration.ofHours(1), "5s")));

  private final SecretSource secrets;
  private final Problems problems;

  /** What is done with a path that servers read differently. */
  private enum Spelling {
    REJECT,
    KEEP
  }

  ConfigurationReader(SecretSource secrets, Problems problems) {
    this.secrets = secrets;
    this.problems = problems;
  }

  /** The configuration, to be used only if there are no problems afterwards. */
  Optional<Configuration> read(String yaml) {
    return YamlTree.read(yaml, problems).map(node -> configuration(Section.root(node, problems)));
  }

  private static Format.Parsed<Duration> sweep(Format.Parsed<Duration> read) {
    return read instanceof Format.Parsed.Bad<Duration> bad
        ? new Format.Parsed.Bad<>(bad.expected() + ", or 0s for never")
        : read;
  }

  private Configuration configuration(Section file) {
    try (file) {
      Map<String, Upstream> upstreams = upstreams(file);
      SecretReader secret = new SecretReader(secrets, problems);
      List<Route> routes = routes(file, upstreams.keySet(), secret);
      StoreReader.Kept kept = new StoreReader(secret, secrets, problems).read(file);
      Configuration configuration =
          new Configuration(
              new ListenerReader(secrets, problems).read(file),
              file.get("admin", Formats.LISTEN, Defaults.ADMIN),
              kept.store(),
              kept.envelope(),
              sweepEvery(file),
              new OperatorsReader(secret, problems).read(file),
              file.get("drain", Formats.duration("0s", "1h", "25s"), Defaults.DRAIN),
              file.get("drain-delay", Formats.duration("0s", "10m", "5s"), Defaults.DRAIN_DELAY),
              file.get("threads", Formats.integer(1, 1024), Defaults.threads()),
              secret.fingerprints(file),
              file.list("trusted-proxies", Formats.RANGE).orElse(List.of()),
              file.list("hosts", Formats.HOST)
                  .<Set<String>>map(LinkedHashSet::new)
                  .orElse(Set.of()),
              paths(file),
              limits(file),
              log(file),
              file.get("discovery", Formats.TRUTH, Defaults.DISCOVERY),
              new TokenReader(secrets, problems).read(file),
              upstreams,
              routes);
      Contradictions.look(configuration, problems);
      return configuration;
    }
  }

  private static Duration sweepEvery(Section file) {
    try (Section section = file.section("sweep")) {
      return section.get("every", SWEEP, Defaults.SWEEP);
    }
  }

  private static PathRule paths(Section file) {
    try (Section section = file.section("paths")) {
      return new PathRule(
          isKept(section, "encoded-slash"),
          isKept(section, "semicolon"),
          isKept(section, "empty-segment"));
    }
  }

  private static boolean isKept(Section paths, String key) {
    return paths.get(key, SPELLING, Spelling.REJECT) == Spelling.KEEP;
  }

  private static Limits limits(Section file) {
    Limits defaults = Defaults.limits();
    try (Section section = file.section("limits")) {
      return new Limits(
          section.get(
              "body-budget", Sizes.between(1, Long.MAX_VALUE, "64MiB"), defaults.bodyBudget()),
          section.get(
              "header-size", Formats.size(1 << 10, 1 << 20, "16KiB"), defaults.headerSize()),
          section.get("header-count", Formats.integer(1, 10_000), defaults.headerCount()),
          section.get(
              "target-size", Formats.size(1 << 10, 64 << 10, "8KiB"), defaults.targetSize()),
          section.get("connections", Formats.integer(1, 1_000_000), defaults.connections()),
          section.get(
              "connections-per-address",
              Formats.integer(0, 1_000_000),
              defaults.connectionsPerAddress()),
          section.get("idle-timeout", Formats.TIMEOUT, defaults.idleTimeout()),
          section.get("head-timeout", Formats.TIMEOUT, defaults.headTimeout()),
          section.get("body-timeout", Formats.TIMEOUT, defaults.bodyTimeout()),
          section.get("body-rate", Sizes.orNone(1 << 30, "240B"), defaults.bodyRate()),
          section.get(
              "tunnel-timeout", Formats.duration("1s", "24h", "1h"), defaults.tunnelTimeout()),
          section.get("http2-streams", Formats.integer(1, 1000), defaults.http2Streams()),
          section.get(
              "http2-window", Formats.size(64 << 10, 16 << 20, "64KiB"), defaults.http2Window()),
          section.get("http2-resets", Formats.integer(1, 10_000), defaults.http2Resets()),
          section.get("waiters", Formats.integer(0, 1_000_000), defaults.waiters()),
          section.get("backlog", Sizes.between(1, Long.MAX_VALUE, "32MiB"), defaults.backlog()));
    }
  }

  private static Log log(Section file) {
    try (Section section = file.section("log")) {
      return new Log(
          section.get("format", Formats.choice(LogFormat.class, ""), Defaults.LOG.format()),
          section.get("access", Formats.TRUTH, Defaults.LOG.access()));
    }
  }

  private Map<String, Upstream> upstreams(Section file) {
    Map<String, Upstream> upstreams = new LinkedHashMap<>();
    try (Section section = file.section("upstreams")) {
      for (String name : section.keys()) {
        if (Formats.NAME.parser().apply(name) instanceof Format.Parsed.Bad<String> bad) {
          problems.add("upstreams", Messages.show(name), "names of " + bad.expected());
        }
        upstreams.put(name, upstream(name, section.entry(name)));
      }
      if (!file.has("upstreams") || section.isEmptyMapping()) {
        problems.add(
            "upstreams",
            "missing",
            "at least one, such as orders: { url: \"http://127.0.0.1:3000\" }");
      }
    }
    return upstreams;
  }

  private Upstream upstream(String name, Section upstream) {
    try (upstream) {
      return new UpstreamReader(upstream, secrets, problems).read(name);
    }
  }

  private List<Route> routes(Section file, Set<String> upstreams, SecretReader secret) {
    String example = "a list of at least one route";
    List<Route> routes = new ArrayList<>();
    Set<String> names = new HashSet<>();
    if (!file.has("routes")) {
      problems.add("routes", "missing", example);
    }
    for (Section section : file.sections("routes", example)) {
      try (section) {
        Route route = new RouteReader(section, secret, problems).read(upstreams);
        // A name that is missing or wrong is a problem already.
        if (!route.name().isEmpty() && !names.add(route.name())) {
          problems.add(section.path("name"), route.name(), "a name that no other route has");
        }
        routes.add(route);
      }
    }
    return routes;
  }
}
