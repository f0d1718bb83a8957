package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Format.Parsed;
import dev.idempotency.gateway.config.Option.Given;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The options that were given to a command, by flag or by variable.
 *
 * @param result what was read; options without a flag have the value of their variable
 */
record Arguments(ParseResult result) {

  /** Something on the command line or in the environment that cannot be followed. */
  static final class UsageException extends Exception {
    private final String reason;

    UsageException(String message) {
      super(message, null, false, false);
      this.reason = message;
    }

    String reason() {
      return reason;
    }
  }

  static Arguments parse(CommandLine line, List<String> words) throws UsageException {
    try {
      return new Arguments(line.parseArgs(words.toArray(new String[0])));
    } catch (UnmatchedArgumentException e) {
      throw new UsageException(e.getUnmatched().isEmpty() ? message(e) : unknown(e));
    } catch (ParameterException e) {
      throw new UsageException(message(e));
    }
  }

  private static String message(ParameterException e) {
    return Messages.line(String.valueOf(e.getMessage()));
  }

  // Not the message of the exception, which has the values of unknown options.
  private static String unknown(UnmatchedArgumentException e) {
    String word = e.getUnmatched().get(0);
    String name = word.startsWith("-") && word.contains("=") ? word.split("=", 2)[0] : word;
    CommandSpec command = e.getCommandLine().getCommandSpec();
    if (command.parent() != null && command.parent().optionsMap().containsKey(name)) {
      return name + ": not for the " + command.name();
    }
    for (CommandLine other : command.subcommands().values()) {
      if (other.getCommandSpec().optionsMap().containsKey(name)) {
        return name + ": for the " + other.getCommandName() + " only";
      }
    }
    String hint =
        e.getSuggestions().isEmpty() || !name.matches("[A-Za-z-]+")
            ? "--help lists what there is"
            : "did you mean " + Formats.alternatives(e.getSuggestions()) + "?";
    return Messages.show(name) + ": unknown (" + hint + ")";
  }

  private <T> @Nullable Given<T> given(Option<T> option) {
    return result.commandSpec().findOption(option.flag()).getValue();
  }

  private <T> List<Given<T>> allGiven(Option<T> option) {
    List<Given<T>> given = result.commandSpec().findOption(option.flag()).getValue();
    return given == null ? List.of() : given;
  }

  boolean has(Option<?> option) {
    return result.commandSpec().findOption(option.flag()).getValue() != null;
  }

  /** Whether the flag was given. */
  boolean hasFlag(Option<?> option) {
    return result.hasMatchedOption(option.flag());
  }

  /** What messages call the option: the flag or the variable that gave it. */
  String source(Option<?> option) {
    return hasFlag(option) ? option.flag() : Option.variable(option.flag());
  }

  boolean isOn(Option<Boolean> option) throws UsageException {
    return get(option, false);
  }

  /** The value, or the default where there is none. */
  <T> T get(Option<T> option, T byDefault) throws UsageException {
    Given<T> given = given(option);
    return given == null ? byDefault : value(option, given);
  }

  /** The values of an option that may be given several times. */
  <T> List<T> all(Option<T> option) throws UsageException {
    List<T> values = new ArrayList<>();
    for (Given<T> given : allGiven(option)) {
      values.add(value(option, given));
    }
    return values;
  }

  private <T> T value(Option<T> option, Given<T> given) throws UsageException {
    if (given.parsed() instanceof Parsed.Good<T> good) {
      return good.value();
    }
    throw new UsageException(
        source(option)
            + ": "
            + (given.text().isEmpty() ? "empty" : Messages.show(given.text()))
            + " (expected: "
            + option.format().expected()
            + ")");
  }
}
