package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.SettlementNotices;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.StoredOperation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Where the duplicates of an event loop wait for operations in flight. All that wait for the same
 * operation share one watch, and one look at its record whenever that may have changed. Since a
 * notice may be lost the record is looked at now and then all the same, and when its lease ends.
 *
 * <p>Nothing here changes a record, and nobody who waits holds a connection to the store.
 *
 * <p>Threading: event loop of the exchanges only.
 */
final class WaitingRoom {

  private static final Duration SHORTEST_PAUSE = Duration.ofMillis(250);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

  /** A lease is told in whole milliseconds; so long after its end it surely has ended. */
  private static final Duration PAST_THE_LEASE = Duration.ofMillis(2);

  /** Who waits; everything but {@link #stays} is called once, after it has left. */
  interface Waiter {

    /** Whether to wait on, where the record says this. */
    boolean stays(StoredOperation operation);

    /** The record says something that is worth an answer. */
    void called(StoredOperation operation);

    /** There is no record any more. */
    void gone();

    /** The store did not say what there is. */
    void failed(StoreUnavailableException unavailable);

    /**
     * Its time is over.
     *
     * @param leaseLeft how much longer the lease lives, as far as is known
     */
    void sentAway(Duration leaseLeft);
  }

  /** A place in the room. */
  static final class Place {
    private final Group group;
    private final Waiter waiter;
    private final long until;

    private Place(Group group, Waiter waiter, long until) {
      this.group = group;
      this.waiter = waiter;
      this.until = until;
    }

    /** Waits no longer; more than once does nothing. */
    void leave() {
      group.remove(this);
    }
  }

  private final OperationStore store;
  private final Scheduler scheduler;
  private final ExchangeListener listener;
  private final ReplayCharges charges;
  private final WaitingPlaces places;
  private final Map<OperationId, Group> groups = new HashMap<>();
  private int waiting;

  /**
   * @param charges told when many get the same response at once
   * @param places what is left of them, for this event loop and the others
   */
  WaitingRoom(
      OperationStore store,
      Scheduler scheduler,
      ExchangeListener listener,
      ReplayCharges charges,
      WaitingPlaces places) {
    this.store = store;
    this.scheduler = scheduler;
    this.listener = listener;
    this.charges = charges;
    this.places = places;
  }

  /** How many wait. */
  int waiting() {
    return waiting;
  }

  /**
   * Takes a place, or null where none is left.
   *
   * @param until for how long, by the scheduler's clock
   * @param perKey how many may wait for one operation, on all event loops
   * @param leaseLeft how much longer its lease lives
   */
  @Nullable Place enter(OperationId id, Waiter waiter, long until, int perKey, Duration leaseLeft) {
    if (!places.take(id, perKey)) {
      return null;
    }
    Group group = groups.get(id);
    if (group == null) {
      group = new Group(id);
      groups.put(id, group);
      group.registration = store.watch(id, group::told);
    }
    Place place = new Place(group, waiter, until);
    group.admit(place, leaseLeft);
    return place;
  }

  /** All that wait for one operation. */
  private final class Group {
    private final OperationId id;
    private final Set<Place> members = new LinkedHashSet<>();
    private SettlementNotices.@Nullable Registration registration;
    private Duration pause = SHORTEST_PAUSE;
    private long pausesUntil;
    private long leaseUntil;
    private boolean looking;
    private boolean again;
    private int timer;
    private long timerAt;
    private boolean timed;

    Group(OperationId id) {
      this.id = id;
      this.pausesUntil = scheduler.nanoTime() + pause.toNanos();
    }

    void admit(Place place, Duration leaseLeft) {
      members.add(place);
      waiting++;
      // What was read last counts; with a watch of its own it is soon looked at again anyway.
      leaseUntil = scheduler.nanoTime() + leaseLeft.toNanos();
      wakeBy(earlier(place.until, due()));
    }

    void remove(Place place) {
      if (members.remove(place)) {
        waiting--;
        places.leave(id);
        if (members.isEmpty()) {
          end();
        }
      }
    }

    private void end() {
      groups.remove(id, this);
      timer++;
      SettlementNotices.Registration watch = registration;
      if (watch != null) {
        watch.end();
      }
    }

    private boolean isOver() {
      return members.isEmpty();
    }

    /** When the record is to be looked at without a notice. */
    private long due() {
      return earlier(pausesUntil, leaseUntil + PAST_THE_LEASE.toNanos());
    }

    /** The record may have changed. */
    void told() {
      if (looking) {
        // It may have been read before it changed.
        again = true;
      } else if (!isOver()) {
        look();
      }
    }

    private void look() {
      looking = true;
      again = false;
      Stages.when(store.find(id), this::found, this::failed, listener);
    }

    private void found(Optional<StoredOperation> found) {
      looking = false;
      if (found.isEmpty()) {
        call(List.copyOf(members), Waiter::gone);
      } else {
        judge(found.get());
      }
      if (again && !isOver()) {
        look();
      } else if (!isOver()) {
        wakeBy(next());
      }
    }

    private void judge(StoredOperation operation) {
      long now = scheduler.nanoTime();
      pausesUntil = now + pause.toNanos();
      if (operation.state() instanceof StoredOperation.InFlight inFlight) {
        leaseUntil = now + inFlight.leaseLeft().toNanos();
      }
      List<Place> called = new ArrayList<>();
      for (Place place : members) {
        if (!place.waiter.stays(operation)) {
          called.add(place);
        }
      }
      charges.begin();
      call(called, waiter -> waiter.called(operation));
      charges.end();
    }

    private void failed(StoreUnavailableException unavailable) {
      looking = false;
      call(List.copyOf(members), waiter -> waiter.failed(unavailable));
    }

    /** All of them leave before the first is called, who may come back at once. */
    private void call(List<Place> called, Consumer<Waiter> word) {
      called.forEach(this::remove);
      for (Place place : called) {
        try {
          word.accept(place.waiter);
        } catch (RuntimeException | Error e) {
          // A bug in one of them must not keep the others waiting.
          listener.bug(e);
        }
      }
    }

    private void wakeBy(long at) {
      if (timed && timerAt - at <= 0) {
        return;
      }
      timed = true;
      timerAt = at;
      int number = ++timer;
      Duration delay = Duration.ofNanos(Math.max(0, at - scheduler.nanoTime()));
      scheduler.schedule(() -> wake(number), delay);
    }

    private void wake(int number) {
      if (number != timer) {
        return;
      }
      timed = false;
      long now = scheduler.nanoTime();
      List<Place> impatient = members.stream().filter(place -> place.until - now <= 0).toList();
      Duration leaseLeft = Duration.ofNanos(Math.max(0, leaseUntil - now));
      call(impatient, waiter -> waiter.sentAway(leaseLeft));
      if (!isOver() && !looking && due() - now <= 0) {
        pause = longer(pause);
        look();
      }
      if (!isOver()) {
        // Also while the record is being read: nobody waits longer than it has patience.
        wakeBy(next());
      }
    }

    /**
     * The next moment at which something is to be done; what is being looked at comes by itself.
     */
    private long next() {
      long next = looking ? scheduler.nanoTime() + LONGEST_PAUSE.toNanos() : due();
      for (Place place : members) {
        next = earlier(next, place.until);
      }
      return next;
    }
  }

  private static Duration longer(Duration pause) {
    Duration twice = pause.multipliedBy(2);
    return twice.compareTo(LONGEST_PAUSE) < 0 ? twice : LONGEST_PAUSE;
  }

  private static long earlier(long one, long other) {
    return one - other < 0 ? one : other;
  }
}
