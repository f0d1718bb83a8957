package dev.idempotency.gateway.upstream;

/**
 * Whether an address is passed over: after so many failures in a row for a while, each time twice
 * as long as before. Then one request may try it, and what becomes of that decides.
 *
 * <p>Threading: one event loop; gauges may read a moment late. Times are in nanoseconds.
 */
final class Standing {

  private static final int MOST_TIMES_AS_LONG = 10;

  private final Ejection rule;
  private int failures;
  private int times;
  private boolean ejected;
  private long until;
  private boolean onTrial;
  private long trialSince;
  private boolean returned;
  private long returnedAt;

  Standing(Ejection rule) {
    this.rule = rule;
  }

  boolean isEjected() {
    return ejected;
  }

  /** Whether a request may go there now. */
  boolean isUsable(long now) {
    return !ejected || (now - until >= 0 && mayBeTried(now));
  }

  /** A trial that was never decided, because its client left, must not be the last one. */
  private boolean mayBeTried(long now) {
    return !onTrial || now - trialSince >= rule.time().toNanos();
  }

  /** A request goes there. */
  void chosen(long now) {
    if (ejected && now - until >= 0) {
      onTrial = true;
      trialSince = now;
    }
  }

  /** Says whether the address is passed over from now on. */
  boolean failed(long now) {
    failures++;
    // Late failures of requests from before change nothing while it is passed over.
    boolean enough = ejected ? now - until >= 0 : failures >= rule.failures();
    if (rule.failures() == 0 || !enough) {
      return false;
    }
    boolean again = ejected || (returned && now - returnedAt < span());
    times = again ? Math.min(MOST_TIMES_AS_LONG, 2 * times) : 1;
    ejected = true;
    onTrial = false;
    until = now + span();
    return true;
  }

  /** For how long the address is passed over, or was the last time. */
  long span() {
    return times * rule.time().toNanos();
  }

  /**
   * Says whether the address is back. A success of a request from before counts as well: what
   * answers needs no trial.
   */
  boolean succeeded(long now) {
    failures = 0;
    if (!ejected) {
      return false;
    }
    ejected = false;
    onTrial = false;
    returned = true;
    returnedAt = now;
    return true;
  }
}
