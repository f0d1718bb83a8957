package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Arguments.Given;
import dev.idempotency.gateway.config.Arguments.UsageException;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Turns words and variables into a command. A flag beats a variable, and both beat the file. */
final class CommandParser {

  private static final Set<Option> DEMO_ONLY =
      EnumSet.of(Option.UPSTREAM_LISTEN, Option.UPSTREAM_ONLY);
  private static final Set<Option> RUN =
      Collections.unmodifiableSet(EnumSet.complementOf(EnumSet.copyOf(DEMO_ONLY)));
  private static final Set<Option> DEMO =
      Collections.unmodifiableSet(
          EnumSet.of(
              Option.LISTEN,
              Option.ADMIN,
              Option.STORE,
              Option.UPSTREAM_LISTEN,
              Option.UPSTREAM_ONLY,
              Option.HELP,
              Option.VERSION));
  private static final HostAndPort DEMO_LISTEN = new HostAndPort("127.0.0.1", 8080);
  private static final HostAndPort DEMO_UPSTREAM = new HostAndPort("127.0.0.1", 3000);

  private static final String NOTHING_TO_DO =
      """
      name an upstream or a configuration file:
        gateway --upstream http://127.0.0.1:3000
        gateway --config gateway.yaml
      or see it at work with an upstream of its own:
        gateway demo
      """;

  private final Map<String, String> environment;
  private final String version;

  CommandParser(Map<String, String> environment, String version) {
    this.environment = environment;
    this.version = version;
  }

  Command parse(List<String> words) {
    boolean demo = !words.isEmpty() && words.get(0).equals("demo");
    Set<Option> allowed = demo ? DEMO : RUN;
    try {
      Arguments arguments =
          Arguments.parse(demo ? words.subList(1, words.size()) : words, allowed, environment);
      if (arguments.isOn(Option.HELP)) {
        return new Command.Exit(0, help(demo, allowed));
      }
      if (arguments.isOn(Option.VERSION)) {
        return new Command.Exit(0, "idempotency-gateway " + version + "\n");
      }
      return demo ? demo(arguments) : run(arguments);
    } catch (UsageException e) {
      return new Command.Exit(2, "gateway: " + e.reason().stripTrailing() + "\n");
    }
  }

  private static Command demo(Arguments arguments) throws UsageException {
    return new Command.Demo(
        arguments.get(Option.LISTEN, Formats.LISTEN, DEMO_LISTEN),
        arguments.get(Option.ADMIN, Formats.LISTEN, Defaults.ADMIN),
        arguments.get(Option.STORE, Formats.STORE, Defaults.memory()),
        arguments.get(Option.UPSTREAM_LISTEN, Formats.LISTEN, DEMO_UPSTREAM),
        arguments.isOn(Option.UPSTREAM_ONLY));
  }

  private Command run(Arguments arguments) throws UsageException {
    Optional<Given> file = arguments.find(Option.CONFIG);
    Optional<Given> upstream = arguments.find(Option.UPSTREAM);
    if (file.isEmpty() && upstream.isEmpty()) {
      throw new UsageException(NOTHING_TO_DO);
    }
    if (file.isPresent() && upstream.isPresent() && file.get().flag() == upstream.get().flag()) {
      throw new UsageException(
          file.get().source() + " and " + upstream.get().source() + ": both given (expected: one)");
    }
    // Where one is a flag and the other a variable, the flag was meant.
    boolean useFile = file.isPresent() && (upstream.isEmpty() || file.get().flag());
    return useFile ? fromFile(file.get(), arguments) : fromFlags(arguments);
  }

  private static Command fromFlags(Arguments arguments) throws UsageException {
    HostAndPort upstream =
        arguments.get(Option.UPSTREAM, Formats.UPSTREAM_URL, Defaults.UPSTREAM.address());
    return finish(Defaults.of(upstream, arguments.isOn(Option.REQUIRE_KEY)), arguments);
  }

  private Command fromFile(Given file, Arguments arguments) throws UsageException {
    if (arguments.isOn(Option.REQUIRE_KEY)) {
      throw new UsageException(
          arguments.find(Option.REQUIRE_KEY).map(Given::source).orElse("")
              + ": not possible with a file (expected: idempotency: required in its routes)");
    }
    // Flags are checked even where the file is wrong, and their errors come first.
    finish(Defaults.of(Defaults.UPSTREAM.address(), false), arguments);
    ConfigurationFile.Result result = ConfigurationFile.read(file.value(), environment);
    if (result instanceof ConfigurationFile.Result.Valid valid) {
      return finish(valid.configuration(), arguments);
    }
    return new Command.Exit(1, ((ConfigurationFile.Result.Invalid) result).text());
  }

  private static Command finish(Configuration base, Arguments arguments) throws UsageException {
    Configuration configuration =
        base.with(
            arguments.get(Option.LISTEN, Formats.LISTEN, base.listen()),
            arguments.get(Option.ADMIN, Formats.LISTEN, base.admin()),
            arguments.get(Option.STORE, Formats.STORE, base.store()));
    return arguments.isOn(Option.CHECK)
        ? new Command.Check(configuration, EffectiveYaml.print(configuration))
        : new Command.Run(configuration);
  }

  private static String help(boolean demo, Set<Option> allowed) {
    String options = allowed.stream().map(Option::usage).collect(Collectors.joining("\n"));
    String ways =
        demo
            ? "Usage: gateway demo [options]\n"
            : """
              Makes any HTTP API safe to retry.

              Usage: gateway --upstream URL [options]
                     gateway --config FILE [options]
                     gateway demo [--help]
              """;
    return ways
        + "\nOptions:\n"
        + options
        + "\n\nEach option can be a variable instead: GATEWAY_UPSTREAM for --upstream, and so on.\n"
        + "A flag beats a variable, and both beat the file.\n";
  }
}
