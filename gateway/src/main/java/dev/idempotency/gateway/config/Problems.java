package dev.idempotency.gateway.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Everything that is wrong with a file, and every key that was asked for while it was read. */
final class Problems {

  private final List<String> lines = new ArrayList<>();
  private final Set<String> known = new TreeSet<>();

  void add(String path, String found, String expected) {
    addLine(path + ": " + found + " (expected: " + expected + ")");
  }

  void addLine(String line) {
    lines.add(line);
  }

  List<String> lines() {
    return List.copyOf(lines);
  }

  /** Notes a key as one that files may have, such as {@code routes[].lease}. */
  void know(String pattern) {
    known.add(pattern);
  }

  Set<String> known() {
    return known;
  }
}
