package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.idempotency.Audit;
import dev.idempotency.gateway.idempotency.OpenOperation;
import dev.idempotency.gateway.idempotency.OpenOperations.Page;
import dev.idempotency.gateway.idempotency.OpenOperations.Query;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.StoredOperation;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Looks for operations whose outcome is unknown, so that they heal before their client asks: writes
 * down that a lease has run out, and probes where the route's upstream can be asked without the
 * request. Every gateway sweeps; claims keep two from probing the same operation, and there is no
 * leader that could be missed.
 *
 * <p>Threading: event loop of the exchanges only.
 */
public final class Sweeper {

  /** Ages by which operations are counted, with their names for metrics. */
  public static final List<Duration> AGES =
      List.of(
          Duration.ofMillis(-1),
          Duration.ZERO,
          Duration.ofMinutes(1),
          Duration.ofMinutes(10),
          Duration.ofHours(1),
          Duration.ofDays(1));

  private static final int PAGE = 100;
  private static final int MOST_PAGES = 10;
  private static final Audit LAPSED = new Audit("sweeper", "the lease ran out");

  private final Exchanges exchanges;
  private final Duration every;
  private final BiConsumer<Duration, List<Long>> counted;
  private final Map<String, ProbeLane> lanes = new HashMap<>();

  /** Where the next round begins, so that many that are held don't hide others behind them. */
  private String from = "";

  /** Overdue for longest of those that were seen since the first page, and in the pass before. */
  private Duration oldest = Duration.ZERO;

  private Duration oldestBefore = Duration.ZERO;
  private int round;
  private boolean stopped;

  /**
   * @param every the pause between two rounds; more than nothing
   * @param counted hears after each round for how long the oldest has been overdue, and how many
   *     have been for each of {@link #AGES}
   */
  Sweeper(Exchanges exchanges, Duration every, BiConsumer<Duration, List<Long>> counted) {
    this.exchanges = exchanges;
    this.every = every;
    this.counted = counted;
  }

  /** Begins; on the event loop. */
  void start() {
    later();
  }

  /** Ends; on the event loop. What is under way comes to its end. */
  void stop() {
    stopped = true;
    lanes.values().forEach(ProbeLane::stop);
    lanes.clear();
  }

  /** Gateways that were started together do not sweep together. */
  private void later() {
    int next = ++round;
    long nanos = every.toNanos();
    long delay = nanos / 2 + ThreadLocalRandom.current().nextLong(nanos / 2 + 1) + nanos / 4;
    exchanges.scheduler.schedule(() -> during(next, () -> page(1)), Duration.ofNanos(delay));
  }

  /**
   * Does a step of a round, unless that is over. Where it throws, which is a bug, the round is, and
   * the next one comes all the same.
   */
  private void during(int number, Runnable step) {
    if (stopped || number != round) {
      return;
    }
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      if (number == round) {
        later();
      }
      exchanges.listener.bug(e);
    }
  }

  private <T> void when(CompletionStage<T> stage, Consumer<T> replied) {
    int number = round;
    Stages.when(
        stage,
        reply -> during(number, () -> replied.accept(reply)),
        unavailable -> during(number, this::later),
        exchanges.listener);
  }

  private void page(int number) {
    when(exchanges.store.list(new Query(from, Duration.ZERO, PAGE)), page -> swept(page, number));
  }

  private void swept(Page page, int number) {
    for (OpenOperation open : page.operations()) {
      oldest = open.overdue().compareTo(oldest) > 0 ? open.overdue() : oldest;
      try {
        take(open);
      } catch (RuntimeException | Error e) {
        // A bug that one operation meets must not hide those behind it.
        exchanges.listener.bug(e);
      }
    }
    from = page.next();
    if (from.isEmpty()) {
      oldestBefore = oldest;
      oldest = Duration.ZERO;
      count();
    } else if (number < MOST_PAGES) {
      page(number + 1);
    } else {
      count();
    }
  }

  private void count() {
    Duration longest = oldest.compareTo(oldestBefore) > 0 ? oldest : oldestBefore;
    when(
        exchanges.store.count(AGES),
        counts -> {
          later();
          counted.accept(longest, counts);
        });
  }

  private void take(OpenOperation open) {
    if (open.operation().state() instanceof StoredOperation.OutcomeUnknown unknown
        && unknown.lapsed()) {
      mark(open);
    }
    Route route = exchanges.route(open.operation().note().route());
    ProbeRule rule = route == null ? null : route.safety().probe();
    if (route != null && rule != null && ProbeLane.isFor(route, rule)) {
      lanes
          .computeIfAbsent(
              route.name(), name -> new ProbeLane(exchanges, route, rule, PAGE * MOST_PAGES))
          .add(open);
    }
  }

  /** Its life does not change by that, nor who holds it. */
  private void mark(OpenOperation open) {
    Resolution resolution =
        Resolution.of(
            open.id(),
            open.operation().attempt(),
            open.holder(),
            new Resolution.MarkUnknown(),
            Duration.ofMinutes(1),
            LAPSED);
    Stages.when(
        exchanges.store.resolve(resolution), reply -> {}, unavailable -> {}, exchanges.listener);
  }
}
