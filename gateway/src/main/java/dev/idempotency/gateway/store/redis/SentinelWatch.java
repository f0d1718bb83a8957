package dev.idempotency.gateway.store.redis;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Knows from the sentinels which server is the primary: asks all of them when a connection is
 * needed, and each second whether it is still the same. So a failover is noticed also where the
 * former primary can still be reached and does not know that it was replaced.
 *
 * <p>Of several answers the one of the latest epoch counts: the sentinels agreed on it by majority,
 * and one that is cut off from the others goes on naming the primary before.
 *
 * <p>Threading: confined to the event loop.
 */
final class SentinelWatch {

  private static final long PERIOD_MILLIS = 1_000;

  /** How long those that are slow are waited for when others have answered. */
  private static final long GRACE_MILLIS = 300;

  private final EventLoop loop;
  private final List<SentinelLine> lines;
  private final Runnable moved;
  private @Nullable Round round;
  private @Nullable Endpoint given;
  private boolean closed;

  /**
   * A watch that has asked nobody yet.
   *
   * @param moved is run when the sentinels name another primary than they last did to {@link
   *     #primary}, again each second until that is asked
   */
  SentinelWatch(EventLoop loop, LoopClient client, Duration patience, Runnable moved) {
    this.loop = loop;
    this.moved = moved;
    Questions questions = new Questions(loop, patience);
    String name = client.location().primaryName();
    this.lines =
        client.location().seeds().stream()
            .map(sentinel -> new SentinelLine(loop, client, questions, sentinel, name))
            .toList();
    later();
  }

  void close() {
    closed = true;
  }

  /** Where the primary is, as of now; fails if no sentinel can say. */
  CompletionStage<Endpoint> primary() {
    CompletableFuture<Endpoint> answer = new CompletableFuture<>();
    ask().callers.add(answer);
    if (round != null) {
      round.check();
    }
    return answer.thenApply(
        primary -> {
          given = primary;
          return primary;
        });
  }

  private void later() {
    // A loop that ends takes its timers along.
    ScheduledFuture<?> unused = loop.schedule(this::look, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void look() {
    if (!closed) {
      later();
      // Before the first connection there is nothing to compare with.
      if (given != null) {
        ask().check();
      }
    }
  }

  /** The round that is under way, or a new one. */
  private Round ask() {
    Round current = round;
    if (current == null) {
      current = new Round();
      round = current;
      current.begin();
    }
    return current;
  }

  /** All sentinels asked once. */
  private final class Round {
    private final List<CompletableFuture<Endpoint>> callers = new ArrayList<>();
    private int waiting = lines.size();
    private int answered;
    private SentinelLine.@Nullable Answer best;
    private String trouble = "";
    private boolean graceOver;
    private boolean ended;

    void begin() {
      for (SentinelLine line : lines) {
        CompletableFuture<Void> unused =
            line.ask().handle((answer, failure) -> heard(line, answer, failure));
      }
      ScheduledFuture<?> unused =
          loop.schedule(
              () -> {
                graceOver = true;
                check();
              },
              GRACE_MILLIS,
              TimeUnit.MILLISECONDS);
    }

    private @Nullable Void heard(
        SentinelLine line, SentinelLine.@Nullable Answer answer, @Nullable Throwable failure) {
      waiting--;
      if (answer != null) {
        answered++;
        if (best == null || answer.epoch() > best.epoch()) {
          best = answer;
        }
      } else if (failure != null) {
        trouble = "sentinel " + line.sentinel() + ": " + Refusal.text(failure);
      }
      check();
      return null;
    }

    /** Ends it where nothing better is to be expected. */
    void check() {
      boolean enough = answered * 2 > lines.size() || (graceOver && answered > 0);
      if (this == round && !ended && (waiting == 0 || enough)) {
        ended = true;
        round = null;
        end(best);
      }
    }

    private void end(SentinelLine.@Nullable Answer result) {
      if (result == null) {
        IllegalStateException none = new IllegalStateException(trouble);
        callers.forEach(caller -> caller.completeExceptionally(none));
        return;
      }
      Endpoint primary = result.primary();
      boolean elsewhere = callers.isEmpty() && !primary.equals(given);
      callers.forEach(caller -> caller.complete(primary));
      if (elsewhere && !closed) {
        moved.run();
      }
    }
  }
}
