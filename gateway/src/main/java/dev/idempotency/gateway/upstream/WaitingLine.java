package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.exchange.Upstream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** Requests that wait for a place, first come, first served. Event loop only. */
final class WaitingLine {

  /**
   * @param until when it waited long enough
   */
  record Waiting(Upstream.Acquirer acquirer, long until) {}

  private final ArrayDeque<Waiting> line = new ArrayDeque<>();

  boolean isEmpty() {
    return line.isEmpty();
  }

  int size() {
    return line.size();
  }

  void add(Waiting last) {
    line.addLast(last);
  }

  Waiting remove() {
    return line.removeFirst();
  }

  /** All wait equally long, so that the first is due first. */
  void expire(long now, Upstream.Refusal refusal) {
    while (!line.isEmpty() && now - line.getFirst().until > 0) {
      line.removeFirst().acquirer.refused(refusal);
    }
  }

  /** Those who come again at once are not refused with the others. */
  void refuseAll(Upstream.Refusal refusal) {
    List<Waiting> all = new ArrayList<>(line);
    line.clear();
    all.forEach(waiting -> waiting.acquirer.refused(refusal));
  }
}
