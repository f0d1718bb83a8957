package dev.idempotency.gateway.store.redis;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.CommandType;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Asks the nodes of a Cluster which master has which slots: at the start, when a node says that a
 * slot is elsewhere or does not answer, and every now and then. One question at a time, over a
 * connection of its own, each time to the next node: so that one with an old view is not asked for
 * ever.
 *
 * <p>Threading: confined to the event loop.
 */
final class Topology {

  /** Hears what the nodes say. */
  interface Listener {
    /**
     * A node has told.
     *
     * @return whether all is well; otherwise it is asked again soon
     */
    boolean learned(ClusterMap map);

    /** No node that is known could tell. */
    void failed(String why);
  }

  private static final long PERIOD_MILLIS = 15_000;

  /** Between two questions even if there are reasons for more. */
  private static final long SHORTEST_MILLIS = 100;

  private final EventLoop loop;
  private final LoopClient client;
  private final Questions questions;
  private final Listener listener;
  private final Backoff backoff = new Backoff();
  private final Set<Endpoint> known = new LinkedHashSet<>();
  private int turn;
  private boolean asking;
  private boolean again;
  private boolean closed;
  private long endedAt;
  private @Nullable ScheduledFuture<?> next;

  Topology(EventLoop loop, LoopClient client, Duration patience, Listener listener) {
    this.loop = loop;
    this.client = client;
    this.questions = new Questions(loop, patience);
    this.listener = listener;
  }

  void start() {
    ask(candidates(), "");
  }

  void close() {
    closed = true;
    if (next != null) {
      next.cancel(false);
    }
  }

  /** What is known may be out of date. */
  void refresh() {
    if (asking) {
      again = true;
    } else if (backoff.nextMillis() == 0) {
      long since = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - endedAt);
      schedule(Math.max(0, SHORTEST_MILLIS - since));
    }
  }

  private void schedule(long millis) {
    if (next != null) {
      if (next.getDelay(TimeUnit.MILLISECONDS) <= millis && !next.isDone()) {
        return;
      }
      next.cancel(false);
    }
    next = loop.schedule(this::start, millis, TimeUnit.MILLISECONDS);
  }

  /** Those that were masters first, then those that the URL names; each time another begins. */
  private List<Endpoint> candidates() {
    Set<Endpoint> all = new LinkedHashSet<>(known);
    all.addAll(client.location().seeds());
    List<Endpoint> candidates = new ArrayList<>(all);
    Collections.rotate(candidates, -(turn++ % candidates.size()));
    return candidates;
  }

  private void ask(List<Endpoint> candidates, String trouble) {
    if (closed) {
      return;
    }
    asking = true;
    if (candidates.isEmpty()) {
      listener.failed(trouble);
      ended(false);
      return;
    }
    Endpoint node = candidates.get(0);
    List<Endpoint> others = candidates.subList(1, candidates.size());
    CompletableFuture<Void> unused =
        client
            .connect(node)
            .thenCompose(this::slots)
            .thenApply(reply -> ClusterMap.read(reply, node.host()))
            .toCompletableFuture()
            .handle(
                (map, failure) -> {
                  onLoop(() -> answered(node, others, map, failure));
                  return null;
                });
  }

  private CompletableFuture<List<Object>> slots(
      StatefulRedisConnection<byte[], byte[]> connection) {
    return questions
        .ask(connection, CommandType.CLUSTER, "SLOTS")
        .whenComplete(
            (reply, failure) -> {
              CompletableFuture<Void> unused = connection.closeAsync();
            });
  }

  private void onLoop(Runnable work) {
    if (loop.inEventLoop()) {
      work.run();
    } else {
      loop.execute(work);
    }
  }

  private void answered(
      Endpoint node, List<Endpoint> others, @Nullable ClusterMap map, @Nullable Throwable failure) {
    if (closed) {
      return;
    }
    if (map == null) {
      ask(others, node + ": " + (failure == null ? "no answer" : Refusal.text(failure)));
    } else if (map.ranges().isEmpty()) {
      // A node that was not yet, or is no longer, among the others.
      ask(others, node + ": knows of no master");
    } else {
      know(map.masters());
      ended(listener.learned(map));
    }
  }

  private void know(Collection<Endpoint> masters) {
    known.clear();
    known.addAll(masters);
  }

  private void ended(boolean well) {
    asking = false;
    endedAt = System.nanoTime();
    if (well) {
      backoff.succeeded();
      schedule(again ? SHORTEST_MILLIS : PERIOD_MILLIS);
    } else {
      backoff.failed();
      schedule(backoff.nextMillis());
    }
    again = false;
  }
}
