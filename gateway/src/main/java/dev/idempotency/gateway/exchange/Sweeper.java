package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.idempotency.Audit;
import dev.idempotency.gateway.idempotency.OpenOperation;
import dev.idempotency.gateway.idempotency.OpenOperations.Page;
import dev.idempotency.gateway.idempotency.OpenOperations.Query;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.StoredOperation;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiConsumer;

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
  private static final int AT_ONCE = 4;
  private static final int MOST_DUE = PAGE * MOST_PAGES;
  private static final Audit LAPSED = new Audit("sweeper", "the lease ran out");

  private final Exchanges exchanges;
  private final Duration every;
  private final BiConsumer<Duration, List<Long>> counted;
  private final Map<String, Lane> lanes = new HashMap<>();

  /** Where the next round begins, so that many that are held don't hide others behind them. */
  private String from = "";

  /** Overdue for longest of those that were seen since the first page, and in the pass before. */
  private Duration oldest = Duration.ZERO;

  private Duration oldestBefore = Duration.ZERO;
  private boolean stopped;

  /** The probes of one route, whose upstream delays no other route's. */
  private final class Lane {
    private final Route route;
    private final ProbeRule rule;
    private final Map<OperationId, OpenOperation> due = new LinkedHashMap<>();

    /** Attempts that never happened and wait for a duplicate to run them again; the latest. */
    private final Map<OperationId, Long> never = new LinkedHashMap<>();

    private int probing;

    Lane(Route route, ProbeRule rule) {
      this.route = route;
      this.rule = rule;
    }

    /** What is due already is not due twice, and what finds no room is found again. */
    void add(OpenOperation open) {
      Long told = never.get(open.id());
      boolean known = told != null && told == open.operation().attempt();
      if (due.size() < MOST_DUE && !known) {
        due.putIfAbsent(open.id(), open);
        next();
      }
    }

    private void next() {
      while (probing < AT_ONCE && !due.isEmpty() && !stopped) {
        Iterator<OpenOperation> first = due.values().iterator();
        OpenOperation open = first.next();
        first.remove();
        long attempt = open.operation().attempt();
        ProbeQuestion question =
            exchanges.prober.question(route, rule, open.operation().note(), attempt, null);
        if (question != null) {
          probing++;
          exchanges.prober.probe(
              route,
              rule,
              open.id(),
              attempt,
              question,
              route.retention(),
              result -> probed(open, attempt, result));
        }
      }
    }

    private void probed(OpenOperation open, long attempt, Prober.Result result) {
      if (result instanceof Prober.Result.Never told && !ProbeQuestion.reruns(route, rule)) {
        exchanges.prober.release(open.id(), attempt, told, route.retention(), released -> ended());
        return;
      }
      if (result instanceof Prober.Result.Never) {
        // Who runs it again asks once more, and needs the record for the attempt's number.
        remember(open.id(), attempt);
      }
      ended();
    }

    /** To ask again and again would only keep a duplicate from asking. */
    private void remember(OperationId id, long attempt) {
      if (never.size() >= MOST_DUE) {
        never.remove(never.keySet().iterator().next());
      }
      never.put(id, attempt);
    }

    private void ended() {
      probing--;
      next();
    }
  }

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
    lanes.clear();
  }

  /** Gateways that were started together do not sweep together. */
  private void later() {
    long nanos = every.toNanos();
    long delay = nanos / 2 + ThreadLocalRandom.current().nextLong(nanos / 2 + 1) + nanos / 4;
    exchanges.scheduler.schedule(this::round, Duration.ofNanos(delay));
  }

  private void round() {
    if (!stopped) {
      page(1);
    }
  }

  private void page(int number) {
    Stages.when(
        exchanges.store.list(new Query(from, Duration.ZERO, PAGE)),
        page -> swept(page, number),
        unavailable -> later(),
        exchanges.listener);
  }

  private void swept(Page page, int number) {
    if (stopped) {
      return;
    }
    for (OpenOperation open : page.operations()) {
      oldest = open.overdue().compareTo(oldest) > 0 ? open.overdue() : oldest;
      take(open);
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
    Stages.when(
        exchanges.store.count(AGES),
        counts -> {
          counted.accept(longest, counts);
          later();
        },
        unavailable -> later(),
        exchanges.listener);
  }

  private void take(OpenOperation open) {
    if (open.operation().state() instanceof StoredOperation.OutcomeUnknown unknown
        && unknown.lapsed()) {
      mark(open);
    }
    Route route = exchanges.route(open.operation().note().route());
    ProbeRule rule = route == null ? null : route.safety().probe();
    if (route != null && rule != null && rule.url() != null && !route.observe()) {
      lanes.computeIfAbsent(route.name(), name -> new Lane(route, rule)).add(open);
    }
  }

  /** Its life does not change by that, nor who holds it. */
  private void mark(OpenOperation open) {
    Resolution resolution =
        Resolution.of(
            open.id(),
            open.operation().attempt(),
            new Resolution.MarkUnknown(),
            Duration.ofMinutes(1),
            LAPSED);
    Stages.when(
        exchanges.store.resolve(resolution), reply -> {}, unavailable -> {}, exchanges.listener);
  }
}
