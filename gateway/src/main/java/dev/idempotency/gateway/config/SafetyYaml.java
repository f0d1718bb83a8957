package dev.idempotency.gateway.config;

import static dev.idempotency.gateway.config.YamlText.print;
import static dev.idempotency.gateway.config.YamlText.quote;

import dev.idempotency.gateway.idempotency.Durability;
import org.jspecify.annotations.Nullable;

/** Prints what keeps a route's records. */
final class SafetyYaml {

  private final YamlText yaml;

  SafetyYaml(YamlText yaml) {
    this.yaml = yaml;
  }

  void safety(Safety safety) {
    yaml.line(4, "durability", durability(safety.durability()));
    yaml.line(4, "guard", print(safety.guard()));
    probe(safety.probe());
  }

  private static String durability(Durability durability) {
    String completions = durability.completions() ? ", completions: true }" : " }";
    return switch (durability.level()) {
      case NONE -> "none";
      case DISK -> durability.completions() ? "{ disk: true" + completions : "disk";
      case REPLICAS -> "{ replicas: " + durability.replicas() + completions;
    };
  }

  private void probe(@Nullable Probe probe) {
    if (probe == null) {
      yaml.line(4, "# probe: nobody is asked");
      return;
    }
    yaml.line(4, "probe:");
    if (probe.url() == null) {
      yaml.line(6, "request", "same");
    } else {
      yaml.line(6, "url", quote(probe.url()));
    }
    yaml.line(6, "upstream", quote(probe.upstream()));
    yaml.line(6, "timeout", print(probe.timeout()));
    yaml.line(6, "completed", probe.completed());
    if (probe.never().isEmpty()) {
      yaml.line(6, "# never: none");
    } else {
      yaml.line(6, "never", probe.never());
    }
    yaml.line(6, "on-never", Formats.print(probe.onNever()));
    yaml.line(6, "grace", print(probe.grace()));
    if (probe.status() == 0) {
      yaml.line(6, "# status: as answered");
    } else {
      yaml.line(6, "status", probe.status());
    }
    if (!probe.headers().isEmpty()) {
      yaml.line(6, "headers:");
      probe.headers().forEach((name, value) -> yaml.outside(8, quote(name), value, "none"));
    }
    yaml.line(6, "back-off", print(probe.backOff()));
    yaml.line(6, "longest", print(probe.longest()));
  }
}
