package dev.idempotency.gateway.identity;

import com.nimbusds.jose.JWSAlgorithm;
import java.text.ParseException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys that tokens are verified with, as they were when they were fetched last. They are
 * fetched again in intervals, and when a token names one that is not known. While they can't be
 * fetched, the last known ones go on counting.
 *
 * <p>Threading: safe from any thread; nothing waits.
 */
final class TokenKeys {

  private static final Logger LOG = LoggerFactory.getLogger(TokenKeys.class);

  /** Anybody can name a key that there is not: so often at most it is looked for. */
  static final Duration BETWEEN_FETCHES = Duration.ofSeconds(10);

  private final KeySetSource source;
  private final Set<JWSAlgorithm> algorithms;
  private final Duration refresh;
  private final ScheduledExecutorService timer;
  private final LongSupplier nanoClock;
  private volatile @Nullable KeySet current;
  private volatile long fetchedAt;

  // Guarded by this.
  private byte[] bytes = {};
  private @Nullable List<Runnable> waiting;
  private @Nullable ScheduledFuture<?> next;
  private boolean begun;
  private long begunAt;
  private boolean failing;

  TokenKeys(
      KeySetSource source,
      Set<JWSAlgorithm> algorithms,
      Duration refresh,
      ScheduledExecutorService timer,
      LongSupplier nanoClock) {
    this.source = source;
    this.algorithms = algorithms;
    this.refresh = refresh;
    this.timer = timer;
    this.nanoClock = nanoClock;
  }

  /** The keys; null where they never were fetched. */
  @Nullable KeySet current() {
    return current;
  }

  /** Seconds since the keys were fetched; -1 where they never were. */
  long ageSeconds() {
    return current == null ? -1 : Duration.ofNanos(nanoClock.getAsLong() - fetchedAt).toSeconds();
  }

  /** Takes keys that are there already. */
  synchronized void take(byte[] read) throws ParseException {
    if (current == null || !Arrays.equals(read, bytes)) {
      // Another set drops what was verified with the one before.
      current = KeySet.read(read, algorithms);
      bytes = read;
    }
    fetchedAt = nanoClock.getAsLong();
  }

  /** Fetches the keys now and from time to time. */
  void start() {
    renew(() -> {});
  }

  /**
   * Fetches the keys, unless that was done a moment ago.
   *
   * @param then runs, on any thread, when nothing newer is to be had for now
   */
  void renew(Runnable then) {
    if (!await(then)) {
      then.run();
    }
  }

  private synchronized boolean await(Runnable then) {
    List<Runnable> others = waiting;
    if (others != null) {
      others.add(then);
      return true;
    }
    if (begun && nanoClock.getAsLong() - begunAt < BETWEEN_FETCHES.toNanos()) {
      return false;
    }
    waiting = new ArrayList<>(List.of(then));
    fetch();
    return true;
  }

  private synchronized void fetchWhenDue() {
    if (waiting == null) {
      waiting = new ArrayList<>();
      fetch();
    }
  }

  private void fetch() {
    begun = true;
    begunAt = nanoClock.getAsLong();
    if (next != null) {
      next.cancel(false);
    }
    CompletableFuture<byte[]> unused =
        fetched()
            .whenComplete(
                (read, error) -> {
                  for (Runnable then : ended(read, error)) {
                    then.run();
                  }
                });
  }

  private CompletableFuture<byte[]> fetched() {
    try {
      return source.fetch();
    } catch (RuntimeException e) {
      // The thread that would fetch has ended with the gateway.
      return CompletableFuture.failedFuture(e);
    }
  }

  private synchronized List<Runnable> ended(byte @Nullable [] read, @Nullable Throwable error) {
    String trouble = trouble(read, error);
    if (trouble != null && !failing) {
      LOG.warn(
          "keys of tokens at {}: {}; {}",
          source.place(),
          trouble,
          current == null ? "no token counts until they are there" : "the last known stay in use");
    } else if (trouble == null && failing) {
      LOG.info("keys of tokens at {}: they are there again", source.place());
    }
    failing = trouble != null;
    Duration pause = failing && refresh.compareTo(BETWEEN_FETCHES) > 0 ? BETWEEN_FETCHES : refresh;
    try {
      next = timer.schedule(this::fetchWhenDue, pause.toMillis(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("the gateway has stopped");
    }
    List<Runnable> told = waiting == null ? List.of() : waiting;
    waiting = null;
    return told;
  }

  /** Takes what was read; says why it is of no use. */
  private @Nullable String trouble(byte @Nullable [] read, @Nullable Throwable error) {
    if (read == null || error != null) {
      Throwable cause =
          error instanceof CompletionException && error.getCause() != null
              ? error.getCause()
              : error;
      String message = cause == null ? null : cause.getMessage();
      return message == null ? "they can't be fetched (" + cause + ")" : message;
    }
    try {
      take(read);
      return null;
    } catch (ParseException | RuntimeException e) {
      // Whatever is wrong with it: whoever waits is told, and it is fetched again.
      return "what was fetched is no key set of use: " + e.getMessage();
    }
  }
}
