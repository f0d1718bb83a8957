package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.idempotency.OperationId;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long a duplicate waits for its operation: as the route says, or as the client asks within
 * what the route allows ({@code Prefer: wait}, RFC 7240 §4.3).
 */
final class Patience {

  private final WaitingRoom room;
  private final Route.Waiting rule;
  private final Course course;
  private final long until;
  private final boolean none;

  /** What the client asked for and gets, in seconds; -1 where it did not ask. */
  private final long asked;

  private WaitingRoom.@Nullable Place place;

  /**
   * @param since when the waiting began, by the scheduler's clock
   */
  Patience(Exchanges exchanges, Route.Waiting rule, Course course, long since) {
    this.room = exchanges.waiting;
    this.rule = rule;
    this.course = course;
    int wished = Preference.wait(course.head().headers());
    this.asked = wished < 0 ? -1 : Math.min(wished, rule.longest().toSeconds());
    Duration whole = wished < 0 ? rule.patience() : within(wished, rule.longest());
    this.until = since + whole.toNanos();
    this.none = whole.isZero();
    if (wished == 0 && !rule.patience().isZero()) {
      course.applied(0);
    }
  }

  private static Duration within(int seconds, Duration longest) {
    Duration wished = Duration.ofSeconds(seconds);
    return wished.compareTo(longest) < 0 ? wished : longest;
  }

  /**
   * Begins or goes on to wait; false where there is no time or no place left.
   *
   * @param now by the scheduler's clock
   */
  boolean waits(OperationId id, WaitingRoom.Waiter waiter, long now, Duration leaseLeft) {
    if (none || until - now <= 0) {
      return false;
    }
    place = room.enter(id, waiter, until, rule.perKey(), leaseLeft);
    if (place != null && asked > 0) {
      course.applied(asked);
    }
    return place != null;
  }

  /** Waits no longer; nothing happens where it does not wait. */
  void leave() {
    if (place != null) {
      place.leave();
      place = null;
    }
  }
}
