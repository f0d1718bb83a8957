package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Configuration.Keying;
import dev.idempotency.gateway.config.Configuration.Limits;
import dev.idempotency.gateway.config.Configuration.Route;
import dev.idempotency.gateway.config.Configuration.Store;
import dev.idempotency.gateway.http.PathRule;
import java.time.Duration;
import java.util.Collection;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Prints a configuration with every default as YAML. Apart from masked secrets, the text reads as
 * the same configuration.
 */
final class EffectiveYaml {

  private final StringBuilder yaml = new StringBuilder(2048);

  static String print(Configuration configuration) {
    EffectiveYaml printed = new EffectiveYaml();
    printed.top(configuration);
    printed.line(0, "upstreams:");
    configuration.upstreams().values().forEach(printed::upstream);
    printed.line(0, "routes:");
    configuration.routes().forEach(printed::route);
    return printed.yaml.toString();
  }

  private void top(Configuration configuration) {
    line(0, "listen:");
    configuration.listen().forEach(this::listener);
    line(0, "admin", quote(configuration.admin()));
    store(configuration.store());
    line(0, "drain", print(configuration.drain()));
    line(0, "threads", configuration.threads());
    if (configuration.secret() == null) {
      line(0, "# secret: none, fingerprints are hashed without a key");
    } else {
      line(0, "secret", quote(configuration.secret()));
    }
    listOr(0, "trusted-proxies", configuration.trustedProxies(), "none");
    listOr(0, "hosts", configuration.hosts(), "any");
    paths(configuration.paths());
    limits(configuration.limits());
    line(0, "log:");
    line(2, "format", Formats.print(configuration.log().format()));
    line(2, "access", configuration.log().access());
  }

  private void listener(Listener listener) {
    line(2, "- address: " + quote(listener.address()));
    line(4, "http2", listener.http2());
    Listener.Tls tls = listener.tls();
    if (tls == null) {
      line(4, "# tls: none");
      return;
    }
    line(4, "tls:");
    line(6, "certificate", quote(tls.certificate()));
    line(6, "key", quote(tls.key()));
    if (tls.clientAuthorities() == null) {
      line(6, "# client-ca: none, clients show no certificate");
    } else {
      line(6, "client-ca", quote(tls.clientAuthorities()));
      line(6, "client-certificate", Formats.print(tls.clientCertificate()));
    }
    list(6, "protocols", tls.protocols());
    line(6, "reload", print(tls.reload()));
  }

  private void paths(PathRule paths) {
    line(0, "paths:");
    line(2, "encoded-slash", paths.encodedSlash() ? "keep" : "reject");
    line(2, "semicolon", paths.semicolon() ? "keep" : "reject");
    line(2, "empty-segment", paths.emptySegment() ? "keep" : "reject");
  }

  private void store(Store store) {
    line(0, "store:");
    if (store instanceof Store.Redis redis) {
      line(2, "url", quote(redis.maskedUrl()));
      line(2, "timeout", print(redis.timeout()));
      line(2, "prefix", quote(redis.prefix()));
    } else if (store instanceof Store.Memory memory) {
      line(2, "url", "memory");
      line(2, "max-bytes", Sizes.print(memory.maxBytes()));
    }
  }

  private void limits(Limits limits) {
    line(0, "limits:");
    line(2, "body-budget", Sizes.print(limits.bodyBudget()));
    line(2, "header-size", Sizes.print(limits.headerSize()));
    line(2, "header-count", limits.headerCount());
    line(2, "target-size", Sizes.print(limits.targetSize()));
    line(2, "connections", limits.connections());
    line(2, "connections-per-address", limits.connectionsPerAddress());
    line(2, "idle-timeout", print(limits.idleTimeout()));
    line(2, "head-timeout", print(limits.headTimeout()));
    line(2, "body-timeout", print(limits.bodyTimeout()));
    line(2, "body-rate", Sizes.print(limits.bodyRate()));
    line(2, "tunnel-timeout", print(limits.tunnelTimeout()));
    line(2, "http2-streams", limits.http2Streams());
    line(2, "http2-window", Sizes.print(limits.http2Window()));
    line(2, "http2-resets", limits.http2Resets());
  }

  private void upstream(Upstream upstream) {
    line(2, quote(upstream.name()) + ":");
    list(
        4,
        "urls",
        upstream.addresses().stream().map(address -> upstream.scheme() + "://" + address).toList());
    line(4, "http2", upstream.http2());
    tls(upstream.tls());
    line(4, "connect-timeout", print(upstream.connectTimeout()));
    line(4, "response-timeout", print(upstream.responseTimeout()));
    line(4, "idle-timeout", print(upstream.idleTimeout()));
    line(4, "connection-life", print(upstream.connectionLife()));
    line(4, "resolve", print(upstream.resolve()));
    line(4, "max-connections", upstream.maxConnections());
    line(4, "max-waiting", upstream.maxWaiting());
    line(4, "acquire-timeout", print(upstream.acquireTimeout()));
    line(4, "ejection:");
    line(6, "failures", upstream.ejection().failures());
    line(6, "time", print(upstream.ejection().time()));
    healthCheck(upstream.healthCheck());
  }

  private void tls(Upstream.@Nullable Tls tls) {
    if (tls == null) {
      return;
    }
    if (tls.equals(Upstream.Tls.DEFAULT)) {
      line(4, "# tls: the JVM's authorities, no certificate of its own");
      return;
    }
    line(4, "tls:");
    given(6, "ca", tls.authorities(), "the JVM's");
    given(6, "certificate", tls.certificate(), "none");
    given(6, "key", tls.key(), "none");
    given(6, "server-name", tls.serverName(), "the host of the URL");
  }

  private void given(int indent, String key, @Nullable Object value, String byDefault) {
    if (value == null) {
      line(indent, "# " + key, byDefault);
    } else {
      line(indent, key, quote(value));
    }
  }

  private void healthCheck(Upstream.@Nullable HealthCheck check) {
    if (check == null) {
      line(4, "# health-check: none");
      return;
    }
    line(4, "health-check:");
    line(6, "path", quote(check.path()));
    line(6, "interval", print(check.interval()));
    line(6, "timeout", print(check.timeout()));
    line(6, "healthy", check.healthy());
    line(6, "unhealthy", check.unhealthy());
  }

  private void route(Route route) {
    line(2, "- name: " + quote(route.name()));
    if (route.methods().isEmpty()) {
      line(4, "# methods: every method");
    } else {
      line(4, "methods", "[" + String.join(", ", route.methods()) + "]");
    }
    line(4, "path", quote(route.path()));
    line(4, "upstream", quote(route.upstream()));
    line(4, "idempotency", Formats.print(route.idempotency()));
    if (route.idempotency() != Keying.OFF) {
      identity(route);
      life(route);
      bodies(route);
    }
    if (route.webSocket()) {
      line(4, "upgrade", "[websocket]");
    }
  }

  private void identity(Route route) {
    line(4, "key", "{ header: " + quote(route.keyHeader()) + " }");
    if (route.scope().isEmpty()) {
      line(4, "# scope: the Authorization header, or the route alone where there is none");
    } else {
      list(4, "scope", route.scope().stream().map(Object::toString).toList());
    }
    line(4, "fingerprint:");
    line(6, "body", Formats.print(route.body()));
    list(6, "ignore", route.ignore());
    list(6, "headers", route.fingerprintHeaders());
  }

  private void life(Route route) {
    line(4, "retention", print(route.retention()));
    line(4, "lease", print(route.lease()));
    line(
        4,
        "in-flight",
        route.inFlightWait().isZero() ? "reject" : "wait " + print(route.inFlightWait()));
    line(4, "unknown", Formats.print(route.unknown()));
    line(4, "store-outage", Formats.print(route.storeOutage()));
    if (route.outcomes().isEmpty()) {
      line(4, "# outcomes: by status, nothing remapped");
      return;
    }
    line(4, "outcomes:");
    route.outcomes().forEach((status, outcome) -> line(6, "" + status, Formats.print(outcome)));
  }

  private void bodies(Route route) {
    line(4, "request:");
    line(6, "limit", Sizes.print(route.requestLimit()));
    line(6, "mode", Formats.print(route.requestMode()));
    line(4, "response:");
    line(6, "limit", Sizes.print(route.responseLimit()));
    line(6, "mode", Formats.print(route.responseMode()));
    list(6, "keep", route.keep());
  }

  private void listOr(int indent, String key, Collection<String> values, String byDefault) {
    if (values.isEmpty()) {
      line(indent, "# " + key, byDefault);
    }
    list(indent, key, values);
  }

  private void list(int indent, String key, Collection<String> values) {
    if (!values.isEmpty()) {
      String elements = values.stream().map(EffectiveYaml::quote).collect(Collectors.joining(", "));
      line(indent, key, "[" + elements + "]");
    }
  }

  private void line(int indent, String key, Object value) {
    line(indent, key + ": " + value);
  }

  private void line(int indent, String text) {
    yaml.append(" ".repeat(indent)).append(text).append('\n');
  }

  private static String print(Duration duration) {
    return Durations.print(duration);
  }

  /** In double quotes, so that no word of YAML is met by chance. */
  private static String quote(Object value) {
    return '"' + value.toString().replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
