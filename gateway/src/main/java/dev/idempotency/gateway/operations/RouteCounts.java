package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.exchange.ExchangeListener.Summary;
import dev.idempotency.gateway.exchange.Result;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * What is counted of one route's exchanges. A count appears when it is first needed, so that a
 * route has as many series as it has had kinds of answers.
 *
 * <p>Threading: written and read from any thread.
 */
final class RouteCounts {

  /** Values of the label {@code status_class}; the index is {@link #classOf}. */
  private static final String[] CLASSES = {"none", "1xx", "2xx", "3xx", "4xx", "5xx", "other"};

  private static final Result[] RESULTS = Result.values();

  private final String route;
  private final AtomicReferenceArray<LongAdder> requests =
      new AtomicReferenceArray<>(RESULTS.length * CLASSES.length);
  final LongAdder derived = new LongAdder();
  final DurationCounts whole = new DurationCounts();
  final DurationCounts upstream = new DurationCounts();
  final DurationCounts store = new DurationCounts();

  RouteCounts(String route) {
    this.route = route;
  }

  /** Shows the answers that alerts wait for at 0 from the start: a rate needs a first value. */
  static RouteCounts ofRoute(String route) {
    RouteCounts counts = new RouteCounts(route);
    for (Result result : RESULTS) {
      int status = usualStatus(result);
      if (status > 0) {
        counts.requests(result, status);
      }
    }
    return counts;
  }

  private static int usualStatus(Result result) {
    return switch (result) {
      case PASSED, COMPLETED, NOT_KEPT, REPLAYED -> 200;
      case IN_FLIGHT, HELD, GONE, KEY_REUSED, KEY_MISSING, RELEASED -> 400;
      case UNKNOWN, STORE_UNAVAILABLE, NOT_SENT, OVERLOADED, UPSTREAM_FAILED -> 500;
      case KEY_INVALID,
          KEY_EXPIRED,
          BAD_REQUEST,
          IDENTITY_MISSING,
          NO_ROUTE,
          TOO_LARGE,
          BYPASSED,
          SHUTTING_DOWN,
          CLIENT_GONE ->
          0;
    };
  }

  String route() {
    return route;
  }

  void add(Summary summary) {
    requests(summary.result(), summary.status()).increment();
    if (summary.derived()) {
      derived.increment();
    }
    whole.add(summary.wholeNanos());
    if (summary.upstreamNanos() > 0) {
      upstream.add(summary.upstreamNanos());
    }
    if (summary.storeNanos() > 0) {
      store.add(summary.storeNanos());
    }
  }

  @SuppressWarnings("EnumOrdinal") // a place in an array, of no meaning outside
  private LongAdder requests(Result result, int status) {
    int index = result.ordinal() * CLASSES.length + classOf(status);
    LongAdder there = requests.get(index);
    return there != null ? there : appear(index);
  }

  private LongAdder appear(int index) {
    LongAdder made = new LongAdder();
    LongAdder there = requests.compareAndExchange(index, null, made);
    return there != null ? there : made;
  }

  private static int classOf(int status) {
    if (status == 0) {
      return 0;
    }
    return status >= 100 && status < 600 ? status / 100 : CLASSES.length - 1;
  }

  /** Calls the visitor for every count there is. */
  void visit(Visitor visitor) {
    for (int i = 0; i < requests.length(); i++) {
      LongAdder count = requests.get(i);
      if (count != null) {
        Result result = RESULTS[i / CLASSES.length];
        visitor.visit(result.label(), CLASSES[i % CLASSES.length], count.sum());
      }
    }
  }

  /** Is shown counts. */
  interface Visitor {
    void visit(String outcome, String statusClass, long count);
  }
}
