package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.exchange.Upstream;
import dev.idempotency.gateway.exchange.UpstreamConnection;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Gives requests their places: on a link that is there, on a new one while there may be more, else
 * in the line, first come, first served. The limits are the upstream's, not an address's.
 *
 * <p>Threading: one event loop.
 */
final class Placement {

  private final UpstreamOptions options;
  private final Endpoints endpoints;
  private final LongSupplier clock;
  private final Connecting.Home home;
  private final WaitingLine line = new WaitingLine();
  private boolean serving;

  Placement(
      UpstreamOptions options, Endpoints endpoints, LongSupplier clock, Connecting.Home home) {
    this.options = options;
    this.endpoints = endpoints;
    this.clock = clock;
    this.home = home;
  }

  /**
   * Answers the request now or later.
   *
   * @param addressesMayCome whether a look-up is under way
   */
  void place(Upstream.Acquirer acquirer, boolean addressesMayCome) {
    long now = clock.getAsLong();
    Endpoint place = line.isEmpty() ? free(now) : null;
    UpstreamConnection warm = place == null ? null : take(place, now);
    if (warm != null) {
      acquirer.acquired(warm);
    } else if (place != null) {
      new Connecting(home, waiting(acquirer, now)).start(place);
    } else if (endpoints.isEmpty() && !addressesMayCome) {
      acquirer.refused(Upstream.Refusal.UNREACHABLE);
    } else if (line.size() < mostWaiting()) {
      line.add(waiting(acquirer, now));
    } else {
      acquirer.refused(Upstream.Refusal.QUEUE_FULL);
    }
  }

  private WaitingLine.Waiting waiting(Upstream.Acquirer acquirer, long now) {
    return new WaitingLine.Waiting(acquirer, now + options.acquireTimeout().toNanos());
  }

  /** As long as there is no address, those wait too for whom there would be connections. */
  private int mostWaiting() {
    return options.maxWaiting() + (endpoints.isEmpty() ? options.maxConnections() : 0);
  }

  /** An address where a place is free or can be made; null: none now. */
  private @Nullable Endpoint free(long now) {
    Endpoint best = endpoints.choose(now, List.of());
    if (best == null || best.hasPlace()) {
      return best;
    }
    if (best.awaitsPlaces() && line.size() < options.maxWaiting()) {
      // Who may never get ready keeps nobody from those who are.
      return endpoints.chooseWithPlace(now, best);
    }
    if (endpoints.connections() < options.maxConnections()) {
      return best;
    }
    Endpoint other = endpoints.chooseWithPlace(now, best);
    return other == null && endpoints.dropRest() ? best : other;
  }

  /** Null: there is room now, if not before, then because connections that were stale are gone. */
  private @Nullable UpstreamConnection take(Endpoint endpoint, long now) {
    endpoints.chosen(endpoint, now);
    return endpoint.take(now);
  }

  private void give(Endpoint endpoint, WaitingLine.Waiting request, long now) {
    UpstreamConnection warm = take(endpoint, now);
    if (warm != null) {
      request.acquirer().acquired(warm);
    } else {
      new Connecting(home, request).start(endpoint);
    }
  }

  /** There may be room for those who wait. */
  void serveWaiting() {
    if (serving) {
      // The loop below looks again.
      return;
    }
    serving = true;
    try {
      while (!home.isClosed() && !line.isEmpty()) {
        long now = clock.getAsLong();
        Endpoint place = free(now);
        if (place == null) {
          return;
        }
        give(place, line.remove(), now);
      }
    } finally {
      serving = false;
    }
  }

  /** Refuses those who waited long enough. */
  void expire(long now) {
    boolean nowhere = endpoints.isEmpty();
    line.expire(now, nowhere ? Upstream.Refusal.UNREACHABLE : Upstream.Refusal.QUEUE_TIMEOUT);
  }

  void refuseAll(Upstream.Refusal refusal) {
    line.refuseAll(refusal);
  }

  int waiting() {
    return line.size();
  }
}
