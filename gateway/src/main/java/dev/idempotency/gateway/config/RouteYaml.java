package dev.idempotency.gateway.config;

import static dev.idempotency.gateway.config.YamlText.print;
import static dev.idempotency.gateway.config.YamlText.quote;

import dev.idempotency.gateway.config.Configuration.Keying;
import dev.idempotency.gateway.config.Configuration.Route;
import org.jspecify.annotations.Nullable;

/** Prints routes with every default. */
final class RouteYaml {

  private final YamlText yaml;

  RouteYaml(YamlText yaml) {
    this.yaml = yaml;
  }

  void route(Route route) {
    yaml.line(2, "- name: " + quote(route.name()));
    if (route.methods().isEmpty()) {
      yaml.line(4, "# methods: every method");
    } else {
      yaml.line(4, "methods", "[" + String.join(", ", route.methods()) + "]");
    }
    yaml.line(4, "path", quote(route.path()));
    yaml.line(4, "upstream", quote(route.upstream()));
    yaml.line(4, "idempotency", quote(Formats.print(route.idempotency())));
    if (route.idempotency() != Keying.OFF) {
      key(route.key());
      callers(route);
      fingerprint(route.fingerprint());
      life(route);
      bodies(route);
    }
    yaml.line(4, "listed", route.listed());
    yaml.line(4, "errors", Formats.print(route.errors()));
    cors(route.cors());
    if (route.webSocket()) {
      yaml.line(4, "upgrade", "[websocket]");
    }
  }

  private void key(RouteKey key) {
    yaml.line(4, "key:");
    if (key.sources().size() > 1) {
      yaml.list(6, "sources", key.sources());
    } else {
      String[] source = key.sources().get(0).toString().split(":", 2);
      yaml.line(6, source[0], quote(source[1]));
    }
    yaml.line(6, "syntax", Formats.print(key.syntax()));
    boolean any = key.form().equals(RouteKey.Form.ANY);
    yaml.given(6, "pattern", any ? null : key.form(), "any key");
    yaml.line(6, "time-bound", key.timeBound());
    yaml.given(6, "first-sent", key.firstSent(), "none");
    if (key.hasAge()) {
      yaml.line(6, "skew", print(key.skew()));
    }
    if (key.derive().isZero()) {
      yaml.line(6, "# derive: never");
    } else {
      yaml.line(6, "derive", print(key.derive()));
    }
  }

  private void callers(Route route) {
    if (route.scope().isEmpty()) {
      yaml.line(4, "# scope: the Authorization header, or the route alone where there is none");
    }
    yaml.list(4, "scope", route.scope());
    quota(route.quota());
    forwardAuth(route.forwardAuth());
  }

  private void quota(@Nullable Quota quota) {
    if (quota == null) {
      yaml.line(4, "# quota: none");
      return;
    }
    yaml.line(4, "quota:");
    yaml.line(6, "new-keys", quota.newKeys());
    yaml.line(6, "within", print(quota.within()));
    yaml.line(6, "unfinished", quota.unfinished());
  }

  private void forwardAuth(@Nullable ForwardAuth auth) {
    if (auth == null) {
      yaml.line(4, "# forward-auth: nobody is asked");
      return;
    }
    yaml.line(4, "forward-auth:");
    yaml.line(6, "upstream", quote(auth.upstream()));
    yaml.line(6, "path", quote(auth.path()));
    yaml.line(6, "timeout", print(auth.timeout()));
    yaml.line(6, "cache", print(auth.cache()));
    yaml.line(6, "on-failure", Formats.print(auth.onFailure()));
    yaml.listOr(6, "copy", auth.copy(), "nothing");
  }

  private void fingerprint(Fingerprinting fingerprint) {
    yaml.line(4, "fingerprint:");
    yaml.line(6, "body", Formats.print(fingerprint.body()));
    yaml.list(6, "ignore", fingerprint.ignore());
    yaml.list(6, "only", fingerprint.only());
    yaml.list(6, "headers", fingerprint.headers());
    if (fingerprint.query() == null) {
      yaml.line(6, "# query: all of it");
    } else {
      yaml.line(6, "query", YamlText.list(fingerprint.query()));
    }
    yaml.line(6, "version", fingerprint.version());
  }

  private void life(Route route) {
    yaml.line(4, "observe", route.observe());
    yaml.line(4, "retention", print(route.retention()));
    yaml.line(4, "lease", print(route.lease()));
    waiting(route.waiting());
    yaml.line(4, "unknown", Formats.print(route.unknown()));
    new SafetyYaml(yaml).safety(route.safety());
    yaml.line(4, "store-outage", Formats.print(route.storeOutage()));
    if (route.outcomes().isEmpty()) {
      yaml.line(4, "# outcomes: by status, nothing remapped");
      return;
    }
    yaml.line(4, "outcomes:");
    route
        .outcomes()
        .forEach((status, outcome) -> yaml.line(6, "" + status, Formats.print(outcome)));
  }

  private void waiting(Waiting waiting) {
    boolean waits = !waiting.patience().isZero();
    yaml.line(4, "in-flight", waits ? "wait " + print(waiting.patience()) : "reject");
    yaml.line(4, "waiting:");
    yaml.line(6, "longest", print(waiting.longest()));
    yaml.line(6, "per-key", waiting.perKey());
  }

  private void bodies(Route route) {
    yaml.line(4, "request:");
    yaml.line(6, "limit", Sizes.print(route.requestLimit()));
    yaml.line(6, "mode", Formats.print(route.requestMode()));
    yaml.line(4, "response:");
    yaml.line(6, "limit", Sizes.print(route.responseLimit()));
    yaml.line(6, "mode", Formats.print(route.responseMode()));
    yaml.list(6, "keep", route.copy().keep());
    yaml.list(6, "drop", route.copy().drop());
    yaml.list(6, "redact", route.copy().redact());
    yaml.line(6, "expires", route.copy().expires());
  }

  private void cors(@Nullable Cors cors) {
    if (cors == null) {
      yaml.line(4, "# cors: nothing is said to browsers");
      return;
    }
    yaml.line(4, "cors:");
    yaml.list(6, "origins", cors.origins());
    yaml.line(6, "credentials", cors.credentials());
  }
}
