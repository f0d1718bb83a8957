package dev.idempotency.gateway.exchange;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that all bodies held at once may take, over all event loops: bodies of requests until
 * the upstream has answered, responses until they are stored and the client's connection takes
 * them, replays until then.
 *
 * <p>A sixteenth is kept for bodies that stay small, so that large ones to a slow upstream or a
 * slow client do not shut out everybody else.
 *
 * <p>Threading: safe from any thread.
 */
public final class BodyBudget {

  /** Most bytes of a small body. */
  static final int SMALL = 64 << 10;

  private final long limit;
  private final long limitOfLarge;
  private final AtomicLong used = new AtomicLong();

  /**
   * @param limit bytes, 0 or more
   */
  public BodyBudget(long limit) {
    this.limit = limit;
    this.limitOfLarge = limit - limit / 16;
  }

  /** Takes that many bytes if they are left. */
  boolean take(int bytes) {
    return take(bytes, bytes);
  }

  /**
   * Takes bytes for a body that grows, if they are left.
   *
   * @param more bytes to take
   * @param whole bytes of that body that are then taken in all
   */
  boolean take(int more, int whole) {
    if (used.addAndGet(more) <= (whole <= SMALL ? limit : limitOfLarge)) {
      return true;
    }
    used.addAndGet(-more);
    return false;
  }

  /** Whether a body of that size can be held at all. */
  boolean hasRoomFor(int whole) {
    return whole <= (whole <= SMALL ? limit : limitOfLarge);
  }

  void giveBack(int bytes) {
    used.addAndGet(-bytes);
  }

  /** Bytes in use. */
  public long used() {
    return used.get();
  }

  /** Bytes in all. */
  public long limit() {
    return limit;
  }
}
