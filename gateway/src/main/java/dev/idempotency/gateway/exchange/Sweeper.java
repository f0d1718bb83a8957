package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.idempotency.Audit;
import dev.idempotency.gateway.idempotency.OpenOperation;
import dev.idempotency.gateway.idempotency.OpenOperations.Page;
import dev.idempotency.gateway.idempotency.OpenOperations.Query;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.StoredOperation;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

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
  private static final Audit LAPSED = new Audit("sweeper", "the lease ran out");

  private final Exchanges exchanges;
  private final Duration every;
  private final BiConsumer<Duration, List<Long>> counted;
  private final ArrayDeque<Work> work = new ArrayDeque<>();
  private int probing;
  private boolean stopped;

  /** A probe that is due. */
  private record Work(Route route, ProbeRule rule, OpenOperation open) {}

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
    work.clear();
  }

  /** Gateways that were started together do not sweep together. */
  private void later() {
    long nanos = every.toNanos();
    long delay = nanos / 2 + ThreadLocalRandom.current().nextLong(nanos / 2 + 1) + nanos / 4;
    exchanges.scheduler.schedule(this::round, Duration.ofNanos(delay));
  }

  private void round() {
    if (stopped) {
      return;
    }
    page("", 0, null);
  }

  private void page(String cursor, int number, @Nullable Duration oldest) {
    Stages.when(
        exchanges.store.list(new Query(cursor, Duration.ZERO, PAGE)),
        page -> swept(page, number, oldest),
        unavailable -> later(),
        exchanges.listener);
  }

  private void swept(Page page, int number, @Nullable Duration oldest) {
    Duration longest = oldest == null ? Duration.ZERO : oldest;
    for (OpenOperation open : page.operations()) {
      longest = open.overdue().compareTo(longest) > 0 ? open.overdue() : longest;
      take(open);
    }
    if (page.next().isEmpty() || number + 1 >= MOST_PAGES || stopped) {
      count(longest);
    } else {
      page(page.next(), number + 1, longest);
    }
  }

  private void count(Duration oldest) {
    Stages.when(
        exchanges.store.count(AGES),
        counts -> {
          counted.accept(oldest, counts);
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
      work.add(new Work(route, rule, open));
      next();
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

  private void next() {
    while (probing < AT_ONCE && !work.isEmpty()) {
      Work due = work.remove();
      Route route = due.route();
      long attempt = due.open().operation().attempt();
      Prober.Question question =
          Prober.question(route, due.open().operation().note(), attempt, null);
      if (question != null) {
        probing++;
        exchanges.prober.probe(
            route,
            due.rule(),
            due.open().id(),
            attempt,
            question,
            route.retention(),
            result -> probed(due, attempt, result));
      }
    }
  }

  private void probed(Work due, long attempt, Prober.Result result) {
    if (result instanceof Prober.Result.Never never) {
      exchanges.prober.release(
          due.open().id(), attempt, never, due.route().retention(), released -> ended());
    } else {
      ended();
    }
  }

  private void ended() {
    probing--;
    if (!stopped) {
      next();
    }
  }
}
