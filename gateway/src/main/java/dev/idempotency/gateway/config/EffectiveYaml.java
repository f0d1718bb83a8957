package dev.idempotency.gateway.config;

import static dev.idempotency.gateway.config.YamlText.quote;

import dev.idempotency.gateway.config.Configuration.Limits;
import dev.idempotency.gateway.http.PathRule;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Prints a configuration with every default as YAML. Apart from masked secrets, the text reads as
 * the same configuration.
 */
final class EffectiveYaml {

  private final YamlText yaml = new YamlText();

  static String print(Configuration configuration) {
    EffectiveYaml printed = new EffectiveYaml();
    printed.top(configuration);
    printed.yaml.line(0, "upstreams:");
    configuration.upstreams().values().forEach(printed::upstream);
    printed.yaml.line(0, "routes:");
    configuration.routes().forEach(new RouteYaml(printed.yaml)::route);
    return printed.yaml.toString();
  }

  private void top(Configuration configuration) {
    yaml.line(0, "listen:");
    configuration.listen().forEach(this::listener);
    yaml.line(0, "admin", quote(configuration.admin()));
    new StoreYaml(yaml).store(configuration.store());
    envelope(configuration.envelope());
    yaml.line(0, "sweep:");
    yaml.line(2, "every", print(configuration.sweepEvery()));
    operators(configuration.operators());
    yaml.line(0, "drain", print(configuration.drain()));
    yaml.line(0, "drain-delay", print(configuration.drainDelay()));
    yaml.line(0, "threads", configuration.threads());
    secrets(configuration.secrets());
    yaml.listOr(0, "trusted-proxies", configuration.trustedProxies(), "none");
    yaml.listOr(0, "hosts", configuration.hosts(), "any");
    paths(configuration.paths());
    limits(configuration.limits());
    yaml.line(0, "log:");
    yaml.line(2, "format", Formats.print(configuration.log().format()));
    yaml.line(2, "access", configuration.log().access());
    yaml.line(0, "discovery", configuration.discovery());
    tokens(configuration.tokens());
  }

  private void secrets(List<Secret> secrets) {
    if (secrets.isEmpty()) {
      yaml.line(0, "# secret: none, fingerprints are hashed without a key");
    } else if (secrets.size() == 1) {
      yaml.line(0, "secret", quote(secrets.get(0)));
    } else {
      yaml.list(0, "secrets", secrets);
    }
  }

  private void tokens(@Nullable Tokens tokens) {
    if (tokens == null) {
      yaml.line(0, "# jwt: none, no tokens are verified");
      return;
    }
    boolean file = "file".equals(tokens.keys().getScheme());
    yaml.line(0, "jwt:");
    yaml.line(
        2, "keys", quote(file ? Path.of(tokens.keys()) : Secret.maskUrl(tokens.keys().toString())));
    yaml.given(2, "issuer", tokens.issuer(), "not looked at");
    yaml.listOr(2, "audience", tokens.audience(), "not looked at");
    yaml.line(2, "algorithms", "[" + String.join(", ", tokens.algorithms()) + "]");
    yaml.line(2, "leeway", print(tokens.leeway()));
    yaml.line(2, "refresh", print(tokens.refresh()));
    yaml.given(2, "ca", tokens.authorities(), "the JVM's");
  }

  private void listener(Listener listener) {
    yaml.line(2, "- address: " + quote(listener.address()));
    yaml.line(4, "http2", listener.http2());
    Listener.Tls tls = listener.tls();
    if (tls == null) {
      yaml.line(4, "# tls: none");
      return;
    }
    yaml.line(4, "tls:");
    yaml.line(6, "certificate", quote(tls.certificate()));
    yaml.line(6, "key", quote(tls.key()));
    if (tls.clientAuthorities() == null) {
      yaml.line(6, "# client-ca: none, clients show no certificate");
    } else {
      yaml.line(6, "client-ca", quote(tls.clientAuthorities()));
      yaml.line(6, "client-certificate", Formats.print(tls.clientCertificate()));
    }
    yaml.list(6, "protocols", tls.protocols());
    yaml.line(6, "reload", print(tls.reload()));
  }

  private void paths(PathRule paths) {
    yaml.line(0, "paths:");
    yaml.line(2, "encoded-slash", paths.encodedSlash() ? "keep" : "reject");
    yaml.line(2, "semicolon", paths.semicolon() ? "keep" : "reject");
    yaml.line(2, "empty-segment", paths.emptySegment() ? "keep" : "reject");
  }

  private void operators(@Nullable Operators operators) {
    if (operators == null) {
      yaml.line(0, "# operators: none, nobody may look at operations");
      return;
    }
    yaml.line(0, "operators:");
    yaml.outside(2, "read", operators.read(), "none");
    yaml.outside(2, "write", operators.write(), "none");
    yaml.line(2, "bodies", operators.bodies());
  }

  /** Within the store: where each key was found, never the key. */
  private void envelope(Envelope envelope) {
    if (envelope.compressFrom() == 0) {
      yaml.line(2, "# compress: never");
    } else {
      yaml.line(2, "compress", Sizes.print(envelope.compressFrom()));
    }
    if (envelope.keys().isEmpty()) {
      yaml.line(2, "# encryption: none");
      return;
    }
    yaml.line(2, "encryption:");
    yaml.line(4, "keys:");
    for (Envelope.Key key : envelope.keys()) {
      yaml.line(6, "- id: " + quote(key.id()));
      if (key.file() == null) {
        yaml.given(8, "env", key.variable(), "none");
      } else {
        yaml.line(8, "file", quote(key.file()));
      }
    }
  }

  private void limits(Limits limits) {
    yaml.line(0, "limits:");
    yaml.line(2, "body-budget", Sizes.print(limits.bodyBudget()));
    yaml.line(2, "header-size", Sizes.print(limits.headerSize()));
    yaml.line(2, "header-count", limits.headerCount());
    yaml.line(2, "target-size", Sizes.print(limits.targetSize()));
    yaml.line(2, "connections", limits.connections());
    yaml.line(2, "connections-per-address", limits.connectionsPerAddress());
    yaml.line(2, "idle-timeout", print(limits.idleTimeout()));
    yaml.line(2, "head-timeout", print(limits.headTimeout()));
    yaml.line(2, "body-timeout", print(limits.bodyTimeout()));
    yaml.line(2, "body-rate", Sizes.print(limits.bodyRate()));
    yaml.line(2, "tunnel-timeout", print(limits.tunnelTimeout()));
    yaml.line(2, "http2-streams", limits.http2Streams());
    yaml.line(2, "http2-window", Sizes.print(limits.http2Window()));
    yaml.line(2, "http2-resets", limits.http2Resets());
    yaml.line(2, "waiters", limits.waiters());
    yaml.line(2, "backlog", Sizes.print(limits.backlog()));
  }

  private void upstream(Upstream upstream) {
    yaml.line(2, quote(upstream.name()) + ":");
    yaml.list(
        4,
        "urls",
        upstream.addresses().stream().map(address -> upstream.scheme() + "://" + address).toList());
    yaml.line(4, "http2", upstream.http2());
    tls(upstream.tls());
    yaml.line(4, "connect-timeout", print(upstream.connectTimeout()));
    yaml.line(4, "response-timeout", print(upstream.responseTimeout()));
    yaml.line(4, "idle-timeout", print(upstream.idleTimeout()));
    yaml.line(4, "connection-life", print(upstream.connectionLife()));
    yaml.line(4, "resolve", print(upstream.resolve()));
    yaml.line(4, "max-connections", upstream.maxConnections());
    yaml.line(4, "max-waiting", upstream.maxWaiting());
    yaml.line(4, "acquire-timeout", print(upstream.acquireTimeout()));
    yaml.line(4, "ejection:");
    yaml.line(6, "failures", upstream.ejection().failures());
    yaml.line(6, "time", print(upstream.ejection().time()));
    healthCheck(upstream.healthCheck());
  }

  private void tls(Upstream.@Nullable Tls tls) {
    if (tls == null) {
      return;
    }
    if (tls.equals(Upstream.Tls.DEFAULT)) {
      yaml.line(4, "# tls: the JVM's authorities, no certificate of its own");
      return;
    }
    yaml.line(4, "tls:");
    yaml.given(6, "ca", tls.authorities(), "the JVM's");
    yaml.given(6, "certificate", tls.certificate(), "none");
    yaml.given(6, "key", tls.key(), "none");
    yaml.given(6, "server-name", tls.serverName(), "the host of the URL");
  }

  private void healthCheck(Upstream.@Nullable HealthCheck check) {
    if (check == null) {
      yaml.line(4, "# health-check: none");
      return;
    }
    yaml.line(4, "health-check:");
    yaml.line(6, "path", quote(check.path()));
    yaml.line(6, "interval", print(check.interval()));
    yaml.line(6, "timeout", print(check.timeout()));
    yaml.line(6, "healthy", check.healthy());
    yaml.line(6, "unhealthy", check.unhealthy());
  }

  private static String print(Duration duration) {
    return Durations.print(duration);
  }
}
