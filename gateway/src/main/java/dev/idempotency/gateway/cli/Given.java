package dev.idempotency.gateway.cli;

import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ParseResult;

/**
 * The options that were given to one command.
 *
 * @param result of the innermost command
 */
record Given(ParseResult result) {

  private static final Pattern ID = Pattern.compile("[0-9a-f]{64}");

  /** What is asked for, such as "list". */
  String command() {
    return result.commandSpec().name();
  }

  /** Null where the option is not there. */
  @Nullable String text(String flag) {
    return result.matchedOptionValue(flag, (String) null);
  }

  String text(String flag, String byDefault) {
    String given = text(flag);
    return given == null ? byDefault : given;
  }

  boolean has(String flag) {
    return result.hasMatchedOption(flag);
  }

  List<String> all(String flag) {
    List<String> given = result.matchedOptionValue(flag, List.of());
    return List.copyOf(given);
  }

  String required(String flag) throws RefusedException {
    String given = text(flag);
    if (given == null || given.isBlank()) {
      throw RefusedException.usage(
          flag + ": missing (" + command() + " needs it; --help tells what it is)");
    }
    return given;
  }

  /** A whole number, both ends inclusive. */
  long number(String flag, long least, long most) throws RefusedException {
    String text = required(flag);
    if (!text.matches("\\d{1,18}") || Long.parseLong(text) < least || Long.parseLong(text) > most) {
      throw RefusedException.usage(
          flag + ": expected a whole number from " + least + " to " + most);
    }
    return Long.parseLong(text);
  }

  String id() throws RefusedException {
    String id = result.matchedPositionalValue(0, "");
    if (!ID.matcher(id).matches()) {
      throw RefusedException.usage(
          "ID: expected 64 hexadecimal digits, as list and find tell them");
    }
    return id;
  }
}
