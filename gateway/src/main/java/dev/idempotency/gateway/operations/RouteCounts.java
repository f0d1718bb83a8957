package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.exchange.ExchangeListener.Summary;
import dev.idempotency.gateway.exchange.Result;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ObjLongConsumer;

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
  private final AtomicReferenceArray<LongAdder> observed =
      new AtomicReferenceArray<>(RESULTS.length);
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
      case UNKNOWN, STORE_UNAVAILABLE, STORE_RECOVERING, NOT_SENT, OVERLOADED, UPSTREAM_FAILED ->
          500;
      case KEY_INVALID,
          KEY_EXPIRED,
          BAD_REQUEST,
          IDENTITY_MISSING,
          IDENTITY_INVALID,
          DENIED,
          AUTHORIZATION_UNAVAILABLE,
          QUOTA_EXCEEDED,
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
    Result wouldBe = summary.wouldBe();
    if (wouldBe != null) {
      observed(wouldBe).increment();
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
    return there != null ? there : appear(requests, index);
  }

  @SuppressWarnings("EnumOrdinal") // as above
  private LongAdder observed(Result wouldBe) {
    LongAdder there = observed.get(wouldBe.ordinal());
    return there != null ? there : appear(observed, wouldBe.ordinal());
  }

  private static LongAdder appear(AtomicReferenceArray<LongAdder> counts, int index) {
    LongAdder made = new LongAdder();
    LongAdder there = counts.compareAndExchange(index, null, made);
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

  /** Calls the consumer for every result that was observed and not brought about. */
  void visitObserved(ObjLongConsumer<String> visitor) {
    for (int i = 0; i < observed.length(); i++) {
      LongAdder count = observed.get(i);
      if (count != null) {
        visitor.accept(RESULTS[i].label(), count.sum());
      }
    }
  }

  /** Is shown counts. */
  interface Visitor {
    void visit(String outcome, String statusClass, long count);
  }
}
