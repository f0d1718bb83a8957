package dev.idempotency.gateway.store.redis;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a server says of itself.
 *
 * @param info the reply to INFO, a line for each field; null where it may not be asked
 * @param settings the reply to CONFIG GET, or part of it; null where it may not be asked
 * @param clockAhead by how many milliseconds its clock is ahead of ours
 */
record ServerFacts(@Nullable String info, @Nullable Map<String, String> settings, long clockAhead) {

  /** The value of a field of INFO, or "". */
  String field(String name) {
    return info == null ? "" : field(info, name);
  }

  /** The same as a number; 0 where it is none. */
  long number(String name) {
    try {
      return Long.parseLong(field(name));
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /** A setting, or null where it is not known. */
  @Nullable String setting(String name) {
    return settings == null ? null : settings.get(name);
  }

  /** How many replicas get what it writes at present. */
  long replicas() {
    return info == null ? 0 : info.lines().filter(ServerFacts::isReplicaInStep).count();
  }

  private static boolean isReplicaInStep(String line) {
    return line.startsWith("slave") && line.contains("state=online");
  }

  /** Whether it is that version or later; Valkey began behind 7.2. */
  boolean isAtLeast(int major, int minor) {
    if (!field("valkey_version").isEmpty()) {
      return true;
    }
    List<String> parts = List.of(field("redis_version").split("\\.", -1));
    int first = digits(parts.get(0));
    int second = parts.size() > 1 ? digits(parts.get(1)) : 0;
    return first > major || (first == major && second >= minor);
  }

  private static int digits(String text) {
    return text.matches("\\d{1,6}") ? Integer.parseInt(text) : 0;
  }

  /** The value of a field in a reply to INFO, or "". */
  static String field(String info, String name) {
    String start = name + ":";
    return info.lines()
        .filter(line -> line.startsWith(start))
        .map(line -> line.substring(start.length()).strip())
        .findFirst()
        .orElse("");
  }
}
