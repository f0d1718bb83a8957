package dev.idempotency.gateway.config;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * What can be said on the command line.
 *
 * <p>Put together by calls and without annotations: finding these by reflection would cost more of
 * the start-up than all the parsing.
 */
final class CommandLines {

  static final String DEMO = "demo";
  static final String OPERATIONS = "operations";
  static final HostAndPort DEMO_LISTEN = new HostAndPort("127.0.0.1", 8080);
  static final HostAndPort DEMO_UPSTREAM = new HostAndPort("127.0.0.1", 3000);

  private static final String[] FOOTER = {
    "",
    "Each option can be a variable instead: GATEWAY_UPSTREAM for --upstream, and so",
    "on. A flag beats a variable, and both beat the file."
  };

  private CommandLines() {}

  static CommandLine create(Map<String, String> environment, String version) {
    CommandSpec gateway = command("gateway", environment, version);
    gateway
        .usageMessage()
        .description("Makes any HTTP API safe to retry.")
        .customSynopsis(
            "gateway --upstream=URL [OPTIONS]",
            "       gateway --config=FILE [OPTIONS]",
            "       gateway demo [OPTIONS]",
            "       gateway operations COMMAND [OPTIONS]");
    add(
        gateway,
        List.of(
            Option.UPSTREAM,
            Option.CONFIG,
            Option.LISTEN.withDefault(Defaults.LISTEN),
            Option.ADMIN.withDefault(Defaults.ADMIN),
            Option.STORE.withDefault("memory"),
            Option.REQUIRE_KEY,
            Option.CHECK));
    gateway.addSubcommand(DEMO, demo(environment, version));
    gateway.addSubcommand(OPERATIONS, operations(environment, version));
    return new CommandLine(gateway);
  }

  private static CommandSpec demo(Map<String, String> environment, String version) {
    CommandSpec demo = command(DEMO, environment, version);
    demo.usageMessage()
        .description("Starts an upstream that takes orders and, in front of it, a gateway.")
        .abbreviateSynopsis(true);
    add(
        demo,
        List.of(
            Option.LISTEN.withDefault(DEMO_LISTEN),
            Option.ADMIN.withDefault(Defaults.ADMIN),
            Option.STORE.withDefault("memory"),
            Option.UPSTREAM_LISTEN.withDefault(DEMO_UPSTREAM),
            Option.UPSTREAM_ONLY,
            Option.ORDERS));
    return demo;
  }

  /** For the help only: its words are read elsewhere. */
  private static CommandSpec operations(Map<String, String> environment, String version) {
    CommandSpec operations = command(OPERATIONS, environment, version);
    operations
        .usageMessage()
        .description("Looks at operations of a running gateway and resolves them.");
    return operations;
  }

  private static CommandSpec command(String name, Map<String, String> environment, String version) {
    CommandSpec command =
        CommandSpec.create()
            .name(name)
            .version("idempotency-gateway " + version)
            .defaultValueProvider(option -> variable(option, environment))
            // A password may look like a reference to a variable.
            .interpolateVariables(false);
    command.usageMessage().sortOptions(false).optionListHeading("%n").footer(FOOTER);
    command
        .parser()
        .expandAtFiles(false)
        .posixClusteredShortOptionsAllowed(false)
        .unmatchedOptionsAllowedAsOptionParameters(false);
    return command;
  }

  private static @Nullable String variable(ArgSpec argument, Map<String, String> environment) {
    if (!(argument instanceof OptionSpec option) || option.usageHelp() || option.versionHelp()) {
      return null;
    }
    String value = environment.get(Option.variable(option.longestName()));
    // An empty variable is one that a template did not fill in.
    return value == null || value.isEmpty() ? null : value;
  }

  private static void add(CommandSpec command, List<Option<?>> options) {
    for (Option<?> option : options) {
      command.addOption(option.spec());
    }
    command.addOption(
        standard("-h", "--help").usageHelp(true).description("print this and exit").build());
    command.addOption(
        standard("-V", "--version")
            .versionHelp(true)
            .description("print the version and exit")
            .build());
  }

  private static OptionSpec.Builder standard(String name, String longName) {
    return OptionSpec.builder(name, longName).type(boolean.class).arity("0");
  }
}
