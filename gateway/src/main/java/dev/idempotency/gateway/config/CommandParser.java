package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Arguments.UsageException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    // It has words of its own, and none of the gateway's variables is meant for it.
    if (!words.isEmpty() && words.get(0).equals(CommandLines.OPERATIONS)) {
      return new Command.Operations(words.subList(1, words.size()));
    }
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
    String name = all.subcommand().commandSpec().name();
    if (!all.matchedOptions().isEmpty()) {
      throw new UsageException(
          all.matchedOptions().get(0).longestName()
              + ": before "
              + name
              + " (expected: gateway "
              + name
              + " [OPTIONS])");
    }
    if (name.equals(CommandLines.OPERATIONS)) {
      throw new UsageException("operations: not the first word (expected: gateway operations ...)");
    }
    return demo(new Arguments(all.subcommand()));
  }

  private static Command demo(Arguments arguments) throws UsageException {
    return new Command.Demo(
        arguments.get(Option.LISTEN, CommandLines.DEMO_LISTEN),
        arguments.get(Option.ADMIN, Defaults.ADMIN),
        arguments.get(Option.STORE, Defaults.memory()),
        arguments.get(Option.UPSTREAM_LISTEN, CommandLines.DEMO_UPSTREAM),
        arguments.isOn(Option.UPSTREAM_ONLY),
        arguments.has(Option.ORDERS) ? arguments.get(Option.ORDERS, URI.create("")) : null);
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
    List<UpstreamUrl> urls = arguments.all(Option.UPSTREAM);
    String source = arguments.source(Option.UPSTREAM);
    if (UpstreamUrl.isMixed(urls)) {
      throw new UsageException(source + ": http and https (expected: one scheme for all)");
    }
    Optional<UpstreamUrl> repeated = UpstreamUrl.repeated(urls);
    if (repeated.isPresent()) {
      throw new UsageException(
          source + ": " + repeated.get() + " twice (expected: each address once)");
    }
    return finish(Defaults.of(urls, arguments.isOn(Option.REQUIRE_KEY)), arguments);
  }

  private Command fromFile(Arguments arguments) throws UsageException {
    if (arguments.isOn(Option.REQUIRE_KEY)) {
      throw new UsageException(
          arguments.source(Option.REQUIRE_KEY)
              + ": not possible with a file (expected: idempotency: required in its routes)");
    }
    checkFlags(arguments);
    ConfigurationFile.Result result =
        ConfigurationFile.read(arguments.get(Option.CONFIG, ""), environment);
    if (result instanceof ConfigurationFile.Result.Valid valid) {
      return finish(valid.configuration(), arguments);
    }
    return new Command.Exit(1, ((ConfigurationFile.Result.Invalid) result).text());
  }

  /** Flags are checked even where the file is wrong, and their errors come first. */
  private static void checkFlags(Arguments arguments) throws UsageException {
    List<UpstreamUrl> any = List.of(UpstreamUrl.clear(Defaults.UPSTREAM.addresses().get(0)));
    Configuration unused = override(Defaults.of(any, false), arguments);
    boolean unusedToo = arguments.isOn(Option.CHECK);
  }

  private static Command finish(Configuration base, Arguments arguments) throws UsageException {
    Configuration configuration = override(base, arguments);
    Problems problems = new Problems();
    Contradictions.look(configuration, problems);
    if (!problems.lines().isEmpty()) {
      throw new UsageException(problems.lines().get(0));
    }
    return arguments.isOn(Option.CHECK)
        ? new Command.Check(configuration, EffectiveYaml.print(configuration))
        : new Command.Run(configuration);
  }

  private static Configuration override(Configuration base, Arguments arguments)
      throws UsageException {
    List<Listener> listeners = base.listen();
    if (arguments.has(Option.LISTEN)) {
      listeners = List.of(Listener.clear(arguments.get(Option.LISTEN, Defaults.LISTEN)));
    }
    return base.with(
        listeners,
        arguments.get(Option.ADMIN, base.admin()),
        arguments.get(Option.STORE, base.store()));
  }
}
