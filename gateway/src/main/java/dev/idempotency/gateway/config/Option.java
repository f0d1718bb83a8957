package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Format.Parsed;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Model.OptionSpec;

/**
 * An option of the command line, which a variable of the environment can give as well.
 *
 * @param flag its name with both dashes
 * @param label how the help names its value
 * @param format how its value is written
 * @param description what the help says
 * @param repeatable whether the flag may be given several times
 */
record Option<T>(
    String flag, String label, Format<T> format, String description, boolean repeatable) {

  static final Option<UpstreamUrl> UPSTREAM =
      new Option<>(
          "--upstream",
          "URL",
          Formats.UPSTREAM_URL,
          "forward every path to this upstream; no file is needed. Several times: to all of these"
              + " addresses",
          true);
  static final Option<String> CONFIG =
      new Option<>(
          "--config",
          "FILE",
          Formats.FILE_PATH,
          "read upstreams, routes and everything else from a file");
  static final Option<HostAndPort> LISTEN = address("--listen", "where clients connect");
  static final Option<HostAndPort> ADMIN =
      address("--admin", "where metrics, health and operations are");
  static final Option<Configuration.Store> STORE =
      new Option<>(
          "--store",
          "STORE",
          StoreFormats.STORE,
          "memory, or a URL such as redis://127.0.0.1:6379 or"
              + " postgresql://user@host/database");
  static final Option<Boolean> REQUIRE_KEY =
      truth("--require-key", "with --upstream: refuse POST and PATCH without a key");
  static final Option<Boolean> CHECK =
      truth("--check", "validate, print every effective value, and exit");
  static final Option<HostAndPort> UPSTREAM_LISTEN =
      address("--upstream-listen", "where the demo's upstream is");
  static final Option<Boolean> UPSTREAM_ONLY =
      truth("--upstream-only", "start the demo's upstream without a gateway");
  static final Option<URI> ORDERS =
      new Option<>(
          "--orders",
          "URL",
          DatabaseUrl.FORMAT,
          "keep the demo's orders and their answers in this database instead of in memory, such as"
              + " postgresql://user@host/database");

  /**
   * What was given for an option. A wrong value is not refused before all are read: a flag may
   * stand in for a wrong variable, and the demo needs no variable of the gateway's.
   */
  record Given<T>(String text, Parsed<T> parsed) {

    /** The parser makes texts for its trace of all values, which may be secrets. */
    @Override
    public String toString() {
      return Secret.MASK;
    }
  }

  private Option(String flag, String label, Format<T> format, String description) {
    this(flag, label, format, description, false);
  }

  private static Option<HostAndPort> address(String flag, String description) {
    return new Option<>(flag, "HOST:PORT", Formats.LISTEN, description);
  }

  private static Option<Boolean> truth(String flag, String description) {
    return new Option<>(flag, "true|false", Formats.TRUTH, description);
  }

  /** The same where the help tells a default. */
  Option<T> withDefault(Object value) {
    return new Option<>(flag, label, format, description + " (default: " + value + ")", repeatable);
  }

  /** The variable that says the same. */
  static String variable(String flag) {
    return "GATEWAY_" + flag.substring("--".length()).replace('-', '_').toUpperCase(Locale.ROOT);
  }

  OptionSpec spec() {
    OptionSpec.Builder spec =
        OptionSpec.builder(flag)
            .type(repeatable ? List.class : Given.class)
            .auxiliaryTypes(Given.class)
            .converters(text -> new Given<>(text, format.parser().apply(text)))
            .paramLabel(label)
            .description(description);
    if (format.kind() == Format.Kind.TRUTH) {
      spec.arity("0..1").fallbackValue("true");
    }
    return spec.build();
  }
}
