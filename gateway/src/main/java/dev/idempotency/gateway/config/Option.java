package dev.idempotency.gateway.config;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What can be said on the command line, and under which name in the environment. */
enum Option {
  UPSTREAM("--upstream", "URL", "forward every path to this upstream; no file is needed"),
  CONFIG("--config", "FILE", "read upstreams, routes and everything else from a file"),
  LISTEN("--listen", "HOST:PORT", "where clients connect (0.0.0.0:8080)"),
  ADMIN("--admin", "HOST:PORT", "where metrics, health and operations are (127.0.0.1:9090)"),
  STORE("--store", "STORE", "memory, or a URL such as redis://127.0.0.1:6379 (memory)"),
  REQUIRE_KEY("--require-key", null, "with --upstream: refuse POST and PATCH without a key"),
  CHECK("--check", null, "validate, print every effective value, and exit"),
  UPSTREAM_LISTEN(
      "--upstream-listen", "HOST:PORT", "where the demo's upstream is (127.0.0.1:3000)"),
  UPSTREAM_ONLY("--upstream-only", null, "start the demo's upstream without a gateway"),
  HELP("--help", null, "print this and exit"),
  VERSION("--version", null, "print the version and exit");

  private final String flag;
  private final @Nullable String value;
  private final String description;

  Option(String flag, @Nullable String value, String description) {
    this.flag = flag;
    this.value = value;
    this.description = description;
  }

  String flag() {
    return flag;
  }

  boolean takesValue() {
    return value != null;
  }

  /** The value as the help names it. */
  String valueName() {
    return value == null ? "true or false" : value;
  }

  /** The variable that says the same; help and version have none. */
  Optional<String> variable() {
    return this == HELP || this == VERSION ? Optional.empty() : Optional.of("GATEWAY_" + name());
  }

  /** The line of the help. */
  String usage() {
    String left = flag + (value == null ? "" : ' ' + value);
    return "  " + left + " ".repeat(Math.max(1, 30 - left.length())) + description;
  }
}
