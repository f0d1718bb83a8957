package dev.idempotency.loadtest;

import java.util.EnumMap;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * How often each kind comes.
 *
 * @param weights one weight per kind, 0 or more; their sum is 1 or more
 */
record Mix(Map<Kind, Integer> weights) {

  private static final int MOST = 1_000_000;

  Mix {
    weights = Map.copyOf(weights);
    if (weights.values().stream().allMatch(weight -> weight == 0)) {
      throw new IllegalArgumentException("mix: all weights are 0 (expected: one above 0)");
    }
  }

  /**
   * Reads {@code fresh=70,replay=20,duplicate=8,mismatch=2}; a kind that is not named has weight 0.
   *
   * @throws IllegalArgumentException if the text is no mix; the message says where
   */
  static Mix parse(String text) {
    Map<Kind, Integer> weights = new EnumMap<>(Kind.class);
    for (String part : text.split(",", -1)) {
      int equals = part.indexOf('=');
      String number = part.substring(equals + 1).strip();
      if (equals < 0 || !number.matches("\\d{1,7}") || Integer.parseInt(number) > MOST) {
        throw new IllegalArgumentException(
            "mix: " + part + " (expected: kind=weight, weight 0 to " + MOST + ")");
      }
      if (weights.put(kind(part.substring(0, equals).strip()), Integer.valueOf(number)) != null) {
        throw new IllegalArgumentException("mix: " + part + " (expected: each kind once)");
      }
    }
    return new Mix(weights);
  }

  private static Kind kind(String word) {
    for (Kind kind : Kind.values()) {
      if (kind.word().equals(word)) {
        return kind;
      }
    }
    throw new IllegalArgumentException(
        "mix: " + word + " (expected: fresh, replay, duplicate or mismatch)");
  }

  /** A kind by chance. */
  Kind pick(RandomGenerator random) {
    int sum = weights.values().stream().mapToInt(Integer::intValue).sum();
    int at = random.nextInt(sum);
    for (Kind kind : Kind.values()) {
      at -= weights.getOrDefault(kind, 0);
      if (at < 0) {
        return kind;
      }
    }
    throw new IllegalStateException("weights do not add up");
  }
}
