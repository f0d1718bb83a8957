package dev.idempotency.gateway.exchange;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * All attempts of one event loop that are under way, and the beat that renews their leases. One
 * beat for all costs less than a timer for each: most attempts are over before their first renewal.
 */
final class Leases {

  /** A tenth of the shortest lease that a route may have. */
  private static final Duration BEAT = Duration.ofMillis(20);

  /** A lease that is kept alive. */
  interface Held {
    /** Called at every beat. */
    void renewIfDue(long now);
  }

  private final Scheduler scheduler;
  private final ExchangeListener listener;
  private final Set<Attempt> attempts = new LinkedHashSet<>();
  private final Set<Held> held = new LinkedHashSet<>();
  private boolean beating;

  Leases(Scheduler scheduler, ExchangeListener listener) {
    this.scheduler = scheduler;
    this.listener = listener;
  }

  void add(Attempt attempt) {
    attempts.add(attempt);
    start();
  }

  private void start() {
    if (!beating) {
      beating = true;
      scheduler.schedule(this::beat, BEAT);
    }
  }

  /** Keeps the lease of an attempt that has ended and whose record is still to be written. */
  void hold(Held lease) {
    held.add(lease);
    start();
  }

  void letGo(Held lease) {
    held.remove(lease);
  }

  void remove(Attempt attempt) {
    attempts.remove(attempt);
  }

  /** A copy: what is done with them may end them. */
  List<Attempt> underWay() {
    return new ArrayList<>(attempts);
  }

  private void beat() {
    long now = scheduler.nanoTime();
    for (Attempt attempt : attempts.isEmpty() ? List.<Attempt>of() : underWay()) {
      renew(attempt, now);
    }
    for (Held lease : held.isEmpty() ? List.<Held>of() : List.copyOf(held)) {
      renew(lease, now);
    }
    beating = !attempts.isEmpty() || !held.isEmpty();
    if (beating) {
      scheduler.schedule(this::beat, BEAT);
    }
  }

  private void renew(Held lease, long now) {
    try {
      lease.renewIfDue(now);
    } catch (Throwable e) { // one attempt's trouble is not the others'
      listener.bug(e);
    }
  }
}
