package dev.idempotency.gateway.testing;

import java.util.Random;
import java.util.SplittableRandom;

/** Random numbers for cases that are numbered through. */
public final class Seeds {

  private Seeds() {}

  /**
   * The generator of one case. {@link Random} begins nearly alike for seeds that are neighbours, so
   * that thousands of cases would all take the same first turn.
   */
  public static Random random(long seed) {
    return new Random(new SplittableRandom(seed).nextLong());
  }
}
