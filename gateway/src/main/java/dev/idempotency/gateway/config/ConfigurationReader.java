package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Configuration.Limits;
import dev.idempotency.gateway.config.Configuration.Log;
import dev.idempotency.gateway.config.Configuration.LogFormat;
import dev.idempotency.gateway.config.Configuration.Route;
import dev.idempotency.gateway.config.Configuration.Store;
import dev.idempotency.gateway.config.Configuration.Upstream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the whole file; what it asks for is what a file may hold. */
final class ConfigurationReader {

  private final SecretSource secrets;
  private final Problems problems;

  ConfigurationReader(SecretSource secrets, Problems problems) {
    this.secrets = secrets;
    this.problems = problems;
  }

  /** The configuration, to be used only if there are no problems afterwards. */
  Optional<Configuration> read(String yaml) {
    return YamlTree.read(yaml, problems).map(node -> configuration(Section.root(node, problems)));
  }

  private Configuration configuration(Section file) {
    try (file) {
      Map<String, Upstream> upstreams = upstreams(file);
      List<Route> routes = routes(file, upstreams.keySet());
      Configuration configuration =
          new Configuration(
              file.get("listen", Formats.LISTEN, Defaults.LISTEN),
              file.get("admin", Formats.LISTEN, Defaults.ADMIN),
              store(file),
              file.get("drain", Formats.duration("0s", "1h", "25s"), Defaults.DRAIN),
              file.get("threads", Formats.integer(1, 1024), Defaults.threads()),
              secret(file),
              limits(file),
              log(file),
              upstreams,
              routes);
      checkBudget(configuration);
      return configuration;
    }
  }

  private static Store store(Section file) {
    if (!file.has("store") || file.isScalar("store")) {
      return file.get("store", Formats.STORE, Defaults.memory());
    }
    try (Section section = file.section("store")) {
      Store store = section.require("url", Formats.STORE, Defaults.memory());
      return store instanceof Store.Redis redis
          ? redis(section, redis)
          : memory(section, Defaults.memory());
    }
  }

  private static Store redis(Section section, Store.Redis defaults) {
    return new Store.Redis(
        defaults.url(),
        section.get("timeout", Formats.duration("1ms", "1m", "500ms"), defaults.timeout()),
        section.get("prefix", Formats.PREFIX, defaults.prefix()));
  }

  private static Store memory(Section section, Store.Memory defaults) {
    return new Store.Memory(
        section.get("max-bytes", Sizes.between(1, Long.MAX_VALUE, "256MiB"), defaults.maxBytes()));
  }

  private @Nullable Secret secret(Section file) {
    if (!file.has("secret") || file.isScalar("secret")) {
      return file.find("secret", Formats.SECRET).orElse(null);
    }
    try (Section section = file.section("secret")) {
      Optional<String> variable = section.find("env", Formats.ENVIRONMENT_NAME);
      Optional<String> path = section.find("file", Formats.FILE_PATH);
      if (section.has("env") == section.has("file")) {
        problems.add("secret", "a mapping", Formats.SECRET.expected());
        return null;
      }
      return variable
          .flatMap(name -> secrets.fromEnvironment(name, problems))
          .or(() -> path.flatMap(name -> secrets.fromFile(name, problems)))
          .orElse(null);
    }
  }

  private static Limits limits(Section file) {
    Limits defaults = Defaults.limits();
    try (Section section = file.section("limits")) {
      return new Limits(
          section.get(
              "body-budget", Sizes.between(1, Long.MAX_VALUE, "64MiB"), defaults.bodyBudget()),
          section
              .find("header-size", Sizes.between(1 << 10, 1 << 20, "16KiB"))
              .map(Long::intValue)
              .orElse(defaults.headerSize()),
          section.get("header-count", Formats.integer(1, 10_000), defaults.headerCount()),
          section.get("connections", Formats.integer(1, 1_000_000), defaults.connections()),
          section.get("idle-timeout", Formats.TIMEOUT, defaults.idleTimeout()),
          section.get("head-timeout", Formats.TIMEOUT, defaults.headTimeout()),
          section.get("body-timeout", Formats.TIMEOUT, defaults.bodyTimeout()));
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

  private static Upstream upstream(String name, Section upstream) {
    Upstream defaults = Defaults.UPSTREAM;
    try (upstream) {
      return new Upstream(
          name,
          upstream.require("url", Formats.UPSTREAM_URL, defaults.address()),
          upstream.get("connect-timeout", Formats.TIMEOUT, defaults.connectTimeout()),
          upstream.get("response-timeout", Formats.TIMEOUT, defaults.responseTimeout()),
          upstream.get("idle-timeout", Formats.TIMEOUT, defaults.idleTimeout()),
          upstream.get("max-connections", Formats.integer(1, 65_535), defaults.maxConnections()),
          upstream.get("max-waiting", Formats.integer(0, 1_000_000), defaults.maxWaiting()),
          upstream.get("acquire-timeout", Formats.TIMEOUT, defaults.acquireTimeout()));
    }
  }

  private List<Route> routes(Section file, Set<String> upstreams) {
    String example = "a list of at least one route";
    List<Route> routes = new ArrayList<>();
    Set<String> names = new HashSet<>();
    if (!file.has("routes")) {
      problems.add("routes", "missing", example);
    }
    for (Section section : file.sections("routes", example)) {
      try (section) {
        Route route = new RouteReader(section, problems).read(upstreams);
        // A name that is missing or wrong is a problem already.
        if (!route.name().isEmpty() && !names.add(route.name())) {
          problems.add(section.path("name"), route.name(), "a name that no other route has");
        }
        routes.add(route);
      }
    }
    return routes;
  }

  private void checkBudget(Configuration configuration) {
    long budget = configuration.limits().bodyBudget();
    for (Route route : configuration.routes()) {
      if (route.idempotency() != Configuration.Keying.OFF && route.requestLimit() > budget) {
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
}
