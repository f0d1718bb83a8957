package dev.idempotency.gateway.identity;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.idempotency.gateway.exchange.Quota;
import dev.idempotency.gateway.exchange.QuotaOptions;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Counts what each caller of a route does in this gateway; several gateways count each for itself.
 * New operations are limited by a bucket that fills evenly, so that a caller who was quiet may
 * begin as many at once as it may within the whole time.
 *
 * <p>Of the callers that were heard last, {@value #MOST_CALLERS} are known; who is forgotten begins
 * anew.
 *
 * <p>Threading: safe from any thread.
 */
public final class ScopeQuotas implements Quota {

  static final int MOST_CALLERS = 100_000;

  /** Nobody knows when an operation ends. */
  private static final Duration UNTIL_ONE_ENDS = Duration.ofSeconds(1);

  private final QuotaOptions options;
  private final LongSupplier nanoClock;
  private final Cache<String, Counter> callers;

  private ScopeQuotas(QuotaOptions options, LongSupplier nanoClock) {
    this.options = options;
    this.nanoClock = nanoClock;
    this.callers = Caffeine.newBuilder().maximumSize(MOST_CALLERS).executor(Runnable::run).build();
  }

  /** Quotas of one route. */
  public static ScopeQuotas create(QuotaOptions options) {
    return new ScopeQuotas(options, System::nanoTime);
  }

  static ScopeQuotas create(QuotaOptions options, LongSupplier nanoClock) {
    return new ScopeQuotas(options, nanoClock);
  }

  @Override
  public Answer take(String caller) {
    return callers.get(caller, name -> new Counter()).take();
  }

  /** What one caller has begun and not finished. */
  private final class Counter {

    /** What is left of the bucket. */
    private double left = options.newKeys();

    private long filledAt = nanoClock.getAsLong();
    private int unfinished;

    synchronized Answer take() {
      if (options.unfinished() > 0 && unfinished >= options.unfinished()) {
        return new Answer.Spent(
            UNTIL_ONE_ENDS, "this caller has " + unfinished + " operations that are not finished");
      }
      if (options.newKeys() > 0) {
        fill();
        if (left < 1) {
          return new Answer.Spent(untilOne(), "this caller has begun too many operations");
        }
        left--;
      }
      unfinished++;
      return new Taken(this);
    }

    private void fill() {
      long now = nanoClock.getAsLong();
      double more = (double) (now - filledAt) / options.within().toNanos() * options.newKeys();
      left = Math.min(options.newKeys(), left + more);
      filledAt = now;
    }

    private Duration untilOne() {
      double nanosForOne = (double) options.within().toNanos() / options.newKeys();
      return Duration.ofNanos((long) Math.ceil((1 - left) * nanosForOne));
    }

    private synchronized void end(boolean begun) {
      unfinished--;
      if (!begun && options.newKeys() > 0) {
        left = Math.min(options.newKeys(), left + 1);
      }
    }
  }

  private static final class Taken implements Answer.Place {

    private final Counter counter;

    Taken(Counter counter) {
      this.counter = counter;
    }

    @Override
    public void giveBack() {
      counter.end(false);
    }

    @Override
    public void end() {
      counter.end(true);
    }
  }
}
