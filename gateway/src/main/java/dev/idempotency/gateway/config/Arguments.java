package dev.idempotency.gateway.config;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The options that were given, by flag or by variable.
 *
 * <p>Read by hand: a dozen flags do not pay for a library that takes longer to load than all the
 * rest of the start-up's parsing.
 */
final class Arguments {

  /**
   * What was given for an option.
   *
   * @param source what messages call it: the flag or the variable
   * @param flag whether it was the flag
   */
  record Given(String source, String value, boolean flag) {}

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

  private final Map<Option, Given> given = new EnumMap<>(Option.class);

  private Arguments() {}

  static Arguments parse(
      List<String> arguments, Set<Option> allowed, Map<String, String> environment)
      throws UsageException {
    Arguments parsed = new Arguments();
    for (int i = 0; i < arguments.size(); i++) {
      i += parsed.readFlag(arguments, i, allowed);
    }
    for (Option option : allowed) {
      parsed.readVariable(option, environment);
    }
    return parsed;
  }

  /** Reads one flag; says how many more words it took. */
  private int readFlag(List<String> arguments, int at, Set<Option> allowed) throws UsageException {
    String word = arguments.get(at);
    int equals = word.indexOf('=');
    String name = equals < 0 ? word : word.substring(0, equals);
    Option option = find(name, allowed);
    boolean next = option.takesValue() && equals < 0;
    if (next && (at + 1 == arguments.size() || arguments.get(at + 1).startsWith("--"))) {
      throw new UsageException(name + ": missing (expected: " + option.valueName() + ")");
    }
    String value = equals >= 0 ? word.substring(equals + 1) : next ? arguments.get(at + 1) : "true";
    if (given.put(option, new Given(name, checked(option, name, value), true)) != null) {
      throw new UsageException(name + ": given twice (expected: once)");
    }
    return next ? 1 : 0;
  }

  private static Option find(String name, Set<Option> allowed) throws UsageException {
    Optional<Option> option =
        allowed.stream().filter(candidate -> candidate.flag().equals(name)).findFirst();
    if (option.isPresent()) {
      return option.get();
    }
    if (Arrays.stream(Option.values()).anyMatch(other -> other.flag().equals(name))) {
      boolean demo = allowed.contains(Option.UPSTREAM_ONLY);
      throw new UsageException(name + (demo ? ": not for the demo" : ": for the demo only"));
    }
    List<String> words =
        Stream.concat(allowed.stream().map(Option::flag), Stream.of("demo")).toList();
    String hint =
        Nearest.to(name, words)
            .map(near -> "did you mean " + near + "?")
            .orElse("--help lists what there is");
    throw new UsageException(Messages.show(name) + ": unknown (" + hint + ")");
  }

  private void readVariable(Option option, Map<String, String> environment) throws UsageException {
    Optional<String> variable = option.variable();
    String value = variable.map(environment::get).orElse("");
    // An empty variable is one that a template did not fill in.
    if (variable.isPresent() && !value.isEmpty() && !given.containsKey(option)) {
      String name = variable.get();
      given.put(option, new Given(name, checked(option, name, value), false));
    }
  }

  private static String checked(Option option, String name, String value) throws UsageException {
    if (value.isEmpty() || (!option.takesValue() && !value.matches("true|false"))) {
      throw new UsageException(
          name
              + ": "
              + (value.isEmpty() ? "empty" : Messages.show(value))
              + " (expected: "
              + option.valueName()
              + ")");
    }
    return value;
  }

  Optional<Given> find(Option option) {
    return Optional.ofNullable(given.get(option));
  }

  boolean isOn(Option option) {
    return find(option).filter(value -> value.value().equals("true")).isPresent();
  }

  /** The value in the given format, or the default where there is none. */
  <T> T get(Option option, Format<T> format, T byDefault) throws UsageException {
    Given value = given.get(option);
    if (value == null) {
      return byDefault;
    }
    if (format.parser().apply(value.value()) instanceof Format.Parsed.Good<T> good) {
      return good.value();
    }
    throw new UsageException(
        value.source()
            + ": "
            + Messages.show(value.value())
            + " (expected: "
            + format.expected()
            + ")");
  }
}
