package dev.idempotency.gateway.cli;

import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * What can be said behind {@code gateway operations}. Put together by calls, as the server's is.
 */
final class Words {

  static final String ADMIN = "--admin";
  static final String TOKEN_FILE = "--token-file";
  static final String JSON = "--json";
  static final String ROUTE = "--route";
  static final String OLDER = "--older";
  static final String STATE = "--state";
  static final String LIMIT = "--limit";
  static final String SCOPE = "--scope";
  static final String ISSUER = "--issuer";
  static final String KEY = "--key";
  static final String TRACE = "--trace";
  static final String BODY = "--body";
  static final String ATTEMPT = "--attempt";
  static final String REASON = "--reason";
  static final String WHO = "--who";
  static final String STATUS = "--status";
  static final String HEADER = "--header";
  static final String BODY_FILE = "--body-file";
  static final String FOR = "--for";

  static final String DEFAULT_ADMIN = "http://127.0.0.1:9090";
  static final String TOKEN_VARIABLE = "IDEMPOTENCY_OPERATIONS_TOKEN";

  private static final String[] FOOTER = {
    "",
    "The operators' token is taken from --token-file or from the variable",
    TOKEN_VARIABLE + ", never from the command line.",
    "Exit codes: 0 done; 1 refused, not found or not reached; 2 said wrongly."
  };

  private Words() {}

  static CommandLine create(String version) {
    CommandSpec all =
        command(
            "gateway operations",
            version,
            "Looks at operations of a running gateway and resolves them.");
    all.usageMessage().synopsisSubcommandLabel("COMMAND");
    all.addSubcommand("list", list(version));
    all.addSubcommand("find", find(version));
    all.addSubcommand("show", show(version));
    all.addSubcommand("complete", complete(version));
    all.addSubcommand("release", release(version));
    all.addSubcommand("extend", extend(version));
    return new CommandLine(all);
  }

  private static CommandSpec list(String version) {
    return asking(
        command("list", version, "Lists operations that are not finished, longest overdue first."),
        value(ROUTE, "NAME", "of this route only"),
        value(OLDER, "DURATION", "unknown for so long at least, such as 10m"),
        value(STATE, "STATE", "unknown (default), in-flight or all"),
        value(LIMIT, "NUMBER", "most to list, over all pages (default: 100)"));
  }

  private static CommandSpec find(String version) {
    return asking(
        command("find", version, "Finds an operation by the client's values, or by its trace."),
        value(ROUTE, "NAME", "the route that took the request; needed with --key"),
        several(
            SCOPE,
            "VALUE",
            "the caller: the value of each part of the route's scope, in its order, whole as it was"
                + " sent (Authorization: 'Bearer TOKEN'); - reads it"),
        value(ISSUER, "ISSUER", "who issued the tokens, where that is not jwt.issuer"),
        value(
            KEY, "KEY", "the client's key; - reads it: a line of the standard input, after scopes"),
        value(TRACE, "ID", "instead of a key: the trace of an operation that is not finished"));
  }

  private static CommandSpec show(String version) {
    return asking(
        withId(command("show", version, "Shows all that is known of an operation.")),
        flag(BODY, "also the stored body, where operators.bodies allows it"));
  }

  private static CommandSpec complete(String version) {
    return changing(
        command("complete", version, "Stores the response that retries are to get."),
        value(STATUS, "CODE", "needed: the status of the response, 200 to 599"),
        several(HEADER, "'NAME: VALUE'", "a header field of the response"),
        value(BODY_FILE, "FILE", "the body of the response; - reads the standard input"),
        value(FOR, "DURATION", "how long it is kept (default: the retention of its route)"));
  }

  private static CommandSpec release(String version) {
    return changing(
        command("release", version, "Forgets the operation: the next request with its key runs."));
  }

  private static CommandSpec extend(String version) {
    return changing(
        command("extend", version, "Keeps the operation as it is, unknown, for longer."),
        value(FOR, "DURATION", "needed: for how long from now, such as 24h"));
  }

  private static CommandSpec changing(CommandSpec command, OptionSpec... options) {
    asking(
        withId(command),
        value(
            ATTEMPT,
            "WORD",
            "needed: the attempt as show told it, such as 1:0123456789abcdef; no other is"
                + " resolved. The number alone also hits a later operation of the same key"),
        value(REASON, "TEXT", "needed: why, for the audit"),
        value(WHO, "NAME", "who decides, for the audit (default: the system's user)"));
    List.of(options).forEach(command::addOption);
    return command;
  }

  private static CommandSpec withId(CommandSpec command) {
    command.usageMessage().parameterListHeading("%n").optionListHeading("");
    return command.addPositional(
        PositionalParamSpec.builder()
            .type(String.class)
            .paramLabel("ID")
            .arity("1")
            .index("0")
            .description("64 hexadecimal digits, as list and find tell them")
            .build());
  }

  private static CommandSpec asking(CommandSpec command, OptionSpec... options) {
    List.of(options).forEach(command::addOption);
    command.addOption(
        value(ADMIN, "URL", "the admin listener of a gateway (default: " + DEFAULT_ADMIN + ")"));
    command.addOption(value(TOKEN_FILE, "FILE", "the file with the operators' token"));
    return command.addOption(flag(JSON, "print JSON"));
  }

  private static CommandSpec command(String name, String version, String description) {
    CommandSpec command =
        CommandSpec.create()
            .name(name)
            .version("idempotency-gateway " + version)
            // A client's key may look like a reference to a variable.
            .interpolateVariables(false);
    command
        .usageMessage()
        .sortOptions(false)
        .abbreviateSynopsis(true)
        .description(description)
        .optionListHeading("%n")
        .footer(FOOTER);
    command
        .parser()
        .expandAtFiles(false)
        .trimQuotes(false)
        .posixClusteredShortOptionsAllowed(false)
        .unmatchedOptionsAllowedAsOptionParameters(false);
    command.addOption(
        OptionSpec.builder("-h", "--help")
            .type(boolean.class)
            .arity("0")
            .usageHelp(true)
            .description("print this and exit")
            .build());
    return command.addOption(
        OptionSpec.builder("-V", "--version")
            .type(boolean.class)
            .arity("0")
            .versionHelp(true)
            .description("print the version and exit")
            .build());
  }

  private static OptionSpec value(String flag, String label, String description) {
    return OptionSpec.builder(flag)
        .type(String.class)
        .paramLabel(label)
        .description(description)
        .build();
  }

  private static OptionSpec several(String flag, String label, String description) {
    return OptionSpec.builder(flag)
        .type(List.class)
        .auxiliaryTypes(String.class)
        .arity("1")
        .paramLabel(label)
        .description(description)
        .build();
  }

  private static OptionSpec flag(String flag, String description) {
    return OptionSpec.builder(flag).type(boolean.class).arity("0").description(description).build();
  }
}
