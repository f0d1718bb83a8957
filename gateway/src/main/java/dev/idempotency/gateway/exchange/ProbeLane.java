package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.OpenOperation;
import dev.idempotency.gateway.idempotency.OperationId;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The probes of one route that nobody asked for, some at once, so that its upstream delays no other
 * route's.
 *
 * <p>Threading: event loop of the exchanges only.
 */
final class ProbeLane {

  private static final int AT_ONCE = 4;

  private final Exchanges exchanges;
  private final Route route;
  private final ProbeRule rule;
  private final int mostDue;
  private final Map<OperationId, OpenOperation> due = new LinkedHashMap<>();

  /** Records that only a duplicate can do more for; the latest. */
  private final Map<OperationId, AttemptToken> left = new LinkedHashMap<>();

  private int probing;
  private boolean beginning;
  private boolean stopped;

  /**
   * @param mostDue how many operations may wait here
   */
  ProbeLane(Exchanges exchanges, Route route, ProbeRule rule, int mostDue) {
    this.exchanges = exchanges;
    this.route = route;
    this.rule = rule;
    this.mostDue = mostDue;
  }

  /**
   * Whether it can be asked without a caller. Where a route says whose a key is, a question that
   * does not say it too might find another caller's operation; so it names a credential of its own.
   */
  static boolean isFor(Route route, ProbeRule rule) {
    boolean anybody = route.callers().scope().isEmpty() && route.callers().authorizer() == null;
    return rule.url() != null && !route.observe() && (anybody || !rule.headers().isEmpty());
  }

  /** What is due already is not due twice, and what finds no room is found again. */
  void add(OpenOperation open) {
    if (due.size() < mostDue && !open.holder().equals(left.get(open.id()))) {
      due.putIfAbsent(open.id(), open);
      next();
    }
  }

  /** Begins no more; what is under way comes to its end. */
  void stop() {
    stopped = true;
    due.clear();
  }

  private void next() {
    if (beginning) {
      // The store answered at once: it goes on below, where the call came from.
      return;
    }
    beginning = true;
    try {
      while (probing < AT_ONCE && !due.isEmpty() && !stopped) {
        Iterator<OpenOperation> first = due.values().iterator();
        OpenOperation open = first.next();
        first.remove();
        begin(open);
      }
    } finally {
      beginning = false;
    }
  }

  private void begin(OpenOperation open) {
    long attempt = open.operation().attempt();
    ProbeQuestion question =
        exchanges.prober.question(route, rule, open.operation().note(), attempt, null);
    if (question == null) {
      leave(open);
      return;
    }
    probing++;
    Prober.Subject subject =
        new Prober.Subject(route, rule, open.id(), attempt, open.holder(), route.retention());
    exchanges.prober.probe(subject, question, result -> probed(open, subject, result));
  }

  private void probed(OpenOperation open, Prober.Subject subject, Prober.Result result) {
    boolean never = result instanceof Prober.Result.Never;
    boolean releases = !ProbeQuestion.reruns(route, rule) && !rule.headers().isEmpty();
    if (never && releases) {
      exchanges.prober.release(subject, (Prober.Result.Never) result, released -> ended());
      return;
    }
    if (never) {
      // Who runs it again asks once more, and needs the record for the attempt's number. And a
      // service to which nobody has proved himself may say of anything that it is not there.
      leave(open);
    }
    ended();
  }

  /** To ask again and again would only keep a duplicate from asking. */
  private void leave(OpenOperation open) {
    if (left.size() >= mostDue) {
      left.remove(left.keySet().iterator().next());
    }
    left.put(open.id(), open.holder());
  }

  private void ended() {
    probing--;
    next();
  }
}
