package dev.idempotency.gateway.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds what somebody meant to write. */
final class Nearest {

  private Nearest() {}

  /**
   * The candidate that at most a third of the letters tell from the word, otherwise one that the
   * word begins with or that begins with the word.
   */
  static Optional<String> to(String word, Collection<String> candidates) {
    // Longer words are no typing errors, and the distance costs their square.
    if (word.length() > 40) {
      return Optional.empty();
    }
    Optional<String> near =
        candidates.stream()
            .filter(candidate -> distance(word, candidate) <= Math.max(1, candidate.length() / 3))
            .min(Comparator.comparingInt(candidate -> distance(word, candidate)));
    return near.isPresent()
        ? near
        : candidates.stream()
            .filter(candidate -> Math.min(word.length(), candidate.length()) > 3)
            .filter(candidate -> candidate.startsWith(word) || word.startsWith(candidate))
            .findFirst();
  }

  /** Insertions, removals and replacements that make one from the other (Levenshtein). */
  private static int distance(String from, String to) {
    int[] row = new int[to.length() + 1];
    for (int j = 0; j <= to.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= from.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= to.length(); j++) {
        int replaced = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[to.length()];
  }
}
