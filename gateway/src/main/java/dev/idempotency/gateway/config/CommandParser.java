package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Arguments.UsageException;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

/** Turns words and variables into a command. A flag beats a variable, and both beat the file. */
final class CommandParser {

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
    try {
      return command(Arguments.parse(CommandLines.create(environment, version), words));
    } catch (UsageException e) {
      return new Command.Exit(2, "gateway: " + e.reason().stripTrailing() + "\n");
    }
  }

  private Command command(Arguments arguments) throws UsageException {
    for (ParseResult result = arguments.result(); result != null; result = result.subcommand()) {
      CommandLine line = result.commandSpec().commandLine();
      if (result.isUsageHelpRequested()) {
        return new Command.Exit(0, line.getUsageMessage(CommandLine.Help.Ansi.OFF));
      }
      if (result.isVersionHelpRequested()) {
        return new Command.Exit(0, result.commandSpec().version()[0] + "\n");
      }
    }
    ParseResult all = arguments.result();
    if (!all.hasSubcommand()) {
      return run(arguments);
    }
    if (!all.matchedOptions().isEmpty()) {
      throw new UsageException(
          all.matchedOptions().get(0).longestName()
              + ": before demo (expected: gateway demo [OPTIONS])");
    }
    return demo(new Arguments(all.subcommand()));
  }

  private static Command demo(Arguments arguments) throws UsageException {
    return new Command.Demo(
        arguments.get(Option.LISTEN, CommandLines.DEMO_LISTEN),
        arguments.get(Option.ADMIN, Defaults.ADMIN),
        arguments.get(Option.STORE, Defaults.memory()),
        arguments.get(Option.UPSTREAM_LISTEN, CommandLines.DEMO_UPSTREAM),
        arguments.isOn(Option.UPSTREAM_ONLY));
  }

  private Command run(Arguments arguments) throws UsageException {
    boolean file = arguments.has(Option.CONFIG);
    boolean upstream = arguments.has(Option.UPSTREAM);
    if (!file && !upstream) {
      throw new UsageException(NOTHING_TO_DO);
    }
    boolean fileFlag = arguments.hasFlag(Option.CONFIG);
    if (file && upstream && fileFlag == arguments.hasFlag(Option.UPSTREAM)) {
      throw new UsageException(
          arguments.source(Option.CONFIG)
              + " and "
              + arguments.source(Option.UPSTREAM)
              + ": both given (expected: one)");
    }
    // Where one is a flag and the other a variable, the flag was meant.
    return file && (!upstream || fileFlag) ? fromFile(arguments) : fromFlags(arguments);
  }

  private static Command fromFlags(Arguments arguments) throws UsageException {
    HostAndPort upstream = arguments.get(Option.UPSTREAM, Defaults.UPSTREAM.address());
    return finish(Defaults.of(upstream, arguments.isOn(Option.REQUIRE_KEY)), arguments);
  }

  private Command fromFile(Arguments arguments) throws UsageException {
    if (arguments.isOn(Option.REQUIRE_KEY)) {
      throw new UsageException(
          arguments.source(Option.REQUIRE_KEY)
              + ": not possible with a file (expected: idempotency: required in its routes)");
    }
    // Flags are checked even where the file is wrong, and their errors come first.
    finish(Defaults.of(Defaults.UPSTREAM.address(), false), arguments);
    ConfigurationFile.Result result =
        ConfigurationFile.read(arguments.get(Option.CONFIG, ""), environment);
    if (result instanceof ConfigurationFile.Result.Valid valid) {
      return finish(valid.configuration(), arguments);
    }
    return new Command.Exit(1, ((ConfigurationFile.Result.Invalid) result).text());
  }

  private static Command finish(Configuration base, Arguments arguments) throws UsageException {
    Configuration configuration =
        base.with(
            arguments.get(Option.LISTEN, base.listen()),
            arguments.get(Option.ADMIN, base.admin()),
            arguments.get(Option.STORE, base.store()));
    return arguments.isOn(Option.CHECK)
        ? new Command.Check(configuration, EffectiveYaml.print(configuration))
        : new Command.Run(configuration);
  }
}
