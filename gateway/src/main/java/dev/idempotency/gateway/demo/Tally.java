package dev.idempotency.gateway.demo;

import java.util.ArrayList;
import java.util.List;

/**
 * What happened under one key, or under several in sum.
 *
 * @param effects how often an order was created
 * @param attempts how many requests came
 * @param numbers what the first {@value #KEPT_NUMBERS} of them said in {@code Idempotency-Attempt};
 *     0 where a request said nothing or no number
 */
record Tally(long effects, long attempts, List<Integer> numbers) {

  static final Tally NONE = new Tally(0, 0, List.of());

  private static final int KEPT_NUMBERS = 16;

  Tally withEffect() {
    return new Tally(effects + 1, attempts, numbers);
  }

  Tally withAttempt(int number) {
    return new Tally(effects, attempts + 1, numbers.size() < KEPT_NUMBERS ? with(number) : numbers);
  }

  private List<Integer> with(int number) {
    List<Integer> longer = new ArrayList<>(numbers);
    longer.add(number);
    return List.copyOf(longer);
  }

  /** The two counts. */
  String toJson() {
    return "{\"effects\":" + effects + ",\"attempts\":" + attempts + '}';
  }
}
