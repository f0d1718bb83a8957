package dev.idempotency.gateway.idempotency;

/**
 * How far a write must have got before the store says that it is done.
 *
 * @param level what must have happened
 * @param replicas how many replicas must have it; 1 to 16 at {@link Level#REPLICAS}, else 0
 * @param completions whether that holds for what settles an operation too, or for reservations only
 */
public record Durability(Level level, int replicas, boolean completions) {

  /** What must have happened to a write. */
  public enum Level {
    /** The store has executed it. A failover may forget it. */
    NONE,
    /** So many replicas have received it. */
    REPLICAS,
    /** It is on the store's disk. */
    DISK
  }

  public static final Durability NONE = new Durability(Level.NONE, 0, false);

  private static final int MOST_REPLICAS = 16;

  public Durability {
    boolean fits =
        level == Level.REPLICAS ? replicas >= 1 && replicas <= MOST_REPLICAS : replicas == 0;
    if (!fits) {
      throw new IllegalArgumentException(
          replicas + " replicas at " + level + ", expected: 1 to 16 at REPLICAS, else 0");
    }
  }

  public static Durability replicas(int replicas, boolean completions) {
    return new Durability(Level.REPLICAS, replicas, completions);
  }

  public static Durability disk(boolean completions) {
    return new Durability(Level.DISK, 0, completions);
  }

  /** Whether a write is done as soon as the store has executed it. */
  public boolean isNone() {
    return level == Level.NONE;
  }
}
