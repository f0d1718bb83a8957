package dev.idempotency.loadtest;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Starts requests at a fixed rate, whatever the answers do. Where all connections are taken the
 * schedule goes on and the waiting is counted: no coordinated omission.
 *
 * <p>Threading: {@link #run} belongs to one thread and blocks it; answers come on the client's.
 */
final class Generator {

  /** How long after the planned end late starts are still made; then they are counted as unmade. */
  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Settings settings;
  private final Target target;
  private final String prefix;
  private final Checker checker;
  private final Latencies latencies = new Latencies();
  private final LongAdder requests = new LongAdder();
  private final Semaphore permits;
  private final RandomGenerator random;
  // Guards the checker and the answered keys.
  private final ReentrantLock lock = new ReentrantLock();
  private final AnsweredKeys answered = new AnsweredKeys();
  private volatile @Nullable Throwable bug;
  private long recordFrom;
  private long operations;
  private long unmade;

  /**
   * @param prefix begins each key of this run and of no other
   */
  Generator(Settings settings, Target target, Checker checker, String prefix) {
    this.settings = settings;
    this.target = target;
    this.checker = checker;
    this.prefix = prefix;
    this.permits = new Semaphore(settings.connections(), true);
    this.random = new SplittableRandom(settings.seed());
  }

  /** Makes all starts and waits for all answers. */
  void run() throws InterruptedException {
    long begin = System.nanoTime();
    long nanos = settings.duration().toNanos();
    long starts = settings.starts();
    recordFrom = begin + settings.warmUp().toNanos();
    for (long n = 0; n < starts; n++) {
      long intended = begin + (long) ((double) nanos * n / starts);
      parkUntil(intended);
      if (System.nanoTime() - begin > nanos + GRACE_NANOS) {
        unmade = starts - n;
        break;
      }
      start(settings.mix().pick(random), intended);
    }
    // Every request ends by its timeout.
    permits.acquire(settings.connections());
    if (bug != null) {
      throw new IllegalStateException("an answer could not be checked", bug);
    }
  }

  private static void parkUntil(long time) {
    for (long left = time - System.nanoTime(); left > 0; left = time - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  private void start(Kind kind, long intended) throws InterruptedException {
    if (kind == Kind.DUPLICATE) {
      startDuplicates(intended);
      return;
    }
    permits.acquire();
    String failed = kind == Kind.REPLAY ? nextFailed() : null;
    String done = kind == Kind.FRESH ? null : anyDone();
    if (failed != null) {
      send(kind, intended, failed, 1, answer -> kept(failed, checker.retry(failed, answer)));
    } else if (done == null) {
      startFresh(intended);
    } else if (kind == Kind.REPLAY) {
      send(kind, intended, done, 1, answer -> checker.replay(done, answer));
    } else {
      send(kind, intended, done, 2, answer -> checker.mismatch(done, answer));
    }
  }

  private void startFresh(long intended) {
    String key = newKey();
    send(Kind.FRESH, intended, key, 1, answer -> kept(key, checker.fresh(key, answer)));
  }

  private void startDuplicates(long intended) throws InterruptedException {
    int width = 2 + random.nextInt(2);
    permits.acquire(width);
    String key = newKey();
    List<Answer> answers = new ArrayList<>();
    for (int i = 0; i < width; i++) {
      send(
          Kind.DUPLICATE,
          intended,
          key,
          1,
          answer -> {
            answers.add(answer);
            if (answers.size() == width) {
              kept(key, checker.duplicates(key, answers));
            }
          });
    }
  }

  /** Under the lock: the key can be replayed, or is to be tried again. */
  private void kept(String key, boolean done) {
    if (done) {
      answered.done(key);
    } else {
      answered.failed(key);
    }
  }

  private String newKey() {
    String key = prefix + operations++;
    locked(() -> checker.sent(key));
    return key;
  }

  private void send(
      Kind kind, long intended, String key, int quantity, Consumer<Answer> checkedBy) {
    String body = "{\"item\":\"book\",\"quantity\":" + quantity + ",\"order\":\"" + key + "\"}";
    requests.increment();
    CompletableFuture<Void> checked =
        target
            .post(key, body)
            .thenAccept(
                answer -> {
                  if (intended - recordFrom >= 0) {
                    latencies.record(kind, System.nanoTime() - intended);
                  }
                  locked(() -> checkedBy.accept(answer));
                });
    CompletableFuture<Void> unused =
        checked.whenComplete(
            (nothing, thrown) -> {
              if (thrown != null) {
                bug = thrown;
              }
              permits.release();
            });
  }

  private @Nullable String nextFailed() {
    lock.lock();
    try {
      return answered.nextFailed();
    } finally {
      lock.unlock();
    }
  }

  private @Nullable String anyDone() {
    lock.lock();
    try {
      return answered.anyDone(random);
    } finally {
      lock.unlock();
    }
  }

  private void locked(Runnable step) {
    lock.lock();
    try {
      step.run();
    } finally {
      lock.unlock();
    }
  }

  Latencies latencies() {
    return latencies;
  }

  /** How many requests were sent. */
  long requests() {
    return requests.sum();
  }

  /** How many starts of the schedule were not made because the target was too slow. */
  long unmade() {
    return unmade;
  }
}
