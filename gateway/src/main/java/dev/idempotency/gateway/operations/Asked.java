package dev.idempotency.gateway.operations;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Members of a body or of a query, read as what they should be. */
final class Asked {

  /** Something that was sent and that can't be followed; the message is for whoever sent it. */
  static final class UnfitException extends Exception {
    UnfitException(String message) {
      super(message, null, false, false);
    }

    String reason() {
      return String.valueOf(getMessage());
    }
  }

  private final Map<String, Object> members;

  private Asked(Map<String, Object> members) {
    this.members = members;
  }

  /** Of a body that has none but the named members. */
  static Asked of(byte[] body, String... known) throws UnfitException {
    Map<String, Object> read = JsonValues.read(body);
    if (read == null) {
      throw new UnfitException("The body is not a JSON object.");
    }
    return of(read, known);
  }

  static Asked of(Map<String, ?> members, String... known) throws UnfitException {
    Set<String> names = Set.of(known);
    for (String name : members.keySet()) {
      if (!names.contains(name)) {
        List<String> sorted = Arrays.stream(known).sorted().toList();
        throw new UnfitException(
            "There is no such member: " + shortened(name) + " (expected: " + sorted + ").");
      }
    }
    return new Asked(Map.copyOf(members));
  }

  private static String shortened(String name) {
    return name.length() > 40 ? name.substring(0, 40) + "…" : name;
  }

  boolean has(String name) {
    return members.containsKey(name);
  }

  /** Null where it is not there. */
  @Nullable String text(String name) throws UnfitException {
    Object value = members.get(name);
    if (value == null || value instanceof String) {
      return (String) value;
    }
    throw new UnfitException(name + " is not a text.");
  }

  String required(String name) throws UnfitException {
    String value = text(name);
    if (value == null || value.isEmpty()) {
      throw new UnfitException(name + " is missing.");
    }
    return value;
  }

  /** A text of some length without controls, which a line of the log can take. */
  String line(String name, int longest) throws UnfitException {
    String value = required(name);
    if (value.isBlank()
        || value.length() > longest
        || value.chars().anyMatch(Character::isISOControl)) {
      throw new UnfitException(
          name + " is not a line of 1 to " + longest + " characters without controls.");
    }
    return value;
  }

  /** A whole number, as JSON or in digits; null where it is not there. */
  @Nullable Long number(String name, long least, long most) throws UnfitException {
    Object value = members.get(name);
    if (value == null) {
      return null;
    }
    Long number =
        value instanceof Long whole
            ? whole
            : value.toString().matches("\\d{1,18}") ? Long.valueOf(value.toString()) : null;
    if (number == null || number < least || number > most) {
      throw new UnfitException(name + " is not a whole number from " + least + " to " + most + ".");
    }
    return number;
  }

  /** A list of texts; empty where it is not there. */
  List<String> texts(String name) throws UnfitException {
    Object value = members.getOrDefault(name, List.of());
    if (value instanceof List<?> list && list.stream().allMatch(String.class::isInstance)) {
      return list.stream().map(String.class::cast).toList();
    }
    throw new UnfitException(name + " is not a list of texts.");
  }

  /** A mapping; null where it is not there. */
  @Nullable Map<String, Object> object(String name) throws UnfitException {
    Object value = members.get(name);
    if (value == null) {
      return null;
    }
    if (!(value instanceof Map<?, ?> map)) {
      throw new UnfitException(name + " is not an object.");
    }
    Map<String, Object> object = new LinkedHashMap<>();
    map.forEach((key, member) -> object.put(String.valueOf(key), member));
    return object;
  }
}
