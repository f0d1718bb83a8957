package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.SettlementNotices.Registration;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.netty.channel.EventLoop;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one subscription connection of a process: its event loops share it. It is opened when
 * somebody waits for the first time, and listens to the channel of a bucket while somebody waits
 * there and a little longer. After each subscription, the first and those of a new connection, all
 * who wait there are told once, so that nothing that was said before is missed.
 *
 * <p>Where Redis does not let it subscribe, or is away, it says nothing: who waits looks now and
 * then all the same.
 *
 * <p>Threading: {@link #watch} and {@link #close} from any thread, the rest on one event loop.
 */
public final class Notices {

  private static final Logger log = LoggerFactory.getLogger(Notices.class);

  /** For how long a channel is listened to when nobody waits there any more. */
  private static final Duration IDLE = Duration.ofSeconds(5);

  private static final long IDLE_NANOS = IDLE.toNanos();

  private final EventLoop home;
  private final KeyNames names;
  private final RedisStoreOptions options;

  private final Bucket[] buckets = new Bucket[KeyNames.BUCKETS];
  private final Backoff backoff = new Backoff();

  /** Made when somebody waits for the first time. */
  private @Nullable NoticeSource source;

  private @Nullable StatefulRedisPubSubConnection<byte[], byte[]> connection;
  private boolean connects;
  private boolean sweeping;
  private boolean complained;
  private boolean closed;

  private Notices(EventLoop home, RedisStoreOptions options) {
    this.home = home;
    this.options = options;
    boolean cluster = options.location().kind() == Location.Kind.CLUSTER;
    this.names = new KeyNames(options.prefix(), cluster);
    for (int i = 0; i < buckets.length; i++) {
      buckets[i] = new Bucket(i);
    }
  }

  /**
   * For all stores of a process with these options; connects to nothing yet.
   *
   * @param home where the connection lives
   */
  public static Notices open(RedisStoreOptions options, EventLoop home) {
    return new Notices(home, options);
  }

  /** Ends the connection, and says nothing any more; more than once does nothing. */
  public CompletionStage<Void> close() {
    CompletableFuture<Void> ended = new CompletableFuture<>();
    try {
      home.execute(() -> close(ended));
    } catch (RejectedExecutionException e) {
      // The loop has ended and took the connection along.
      ended.complete(null);
    }
    return ended;
  }

  private void close(CompletableFuture<Void> ended) {
    NoticeSource own = source;
    source = null;
    closed = true;
    connection = null;
    if (own == null) {
      ended.complete(null);
      return;
    }
    CompletionStage<Void> unused =
        own.close().whenComplete((none, failure) -> ended.complete(null));
  }

  /**
   * Watches an operation.
   *
   * @param where calls back
   */
  Registration watch(OperationId id, Executor where, Runnable changed) {
    Watch watch = new Watch(id, where, changed);
    run(watch::begin);
    return watch;
  }

  private void run(Runnable work) {
    try {
      home.execute(work);
    } catch (RejectedExecutionException e) {
      // The gateway stops: nobody waits for long any more.
      log.debug("no notices any more");
    }
  }

  private void connect() {
    if (connection != null || connects || closed) {
      return;
    }
    connects = true;
    NoticeSource own = source;
    if (own == null) {
      own = new NoticeSource(options, home, this::moved);
      source = own;
    }
    CompletionStage<Void> unused =
        own.connect()
            .handle(
                (fresh, failure) -> {
                  run(() -> connected(fresh, failure));
                  return null;
                });
  }

  private void connected(
      @Nullable StatefulRedisPubSubConnection<byte[], byte[]> fresh, @Nullable Throwable failure) {
    connects = false;
    if (fresh == null) {
      log.debug("no connection for notices: {}", failure == null ? "" : Refusal.text(failure));
      backoff.failed();
      connectLater();
    } else if (closed) {
      CompletableFuture<Void> unused = fresh.closeAsync();
    } else {
      connection = fresh;
      fresh.addListener(new Messages());
      fresh.addListener(new Losses(fresh));
      for (Bucket bucket : buckets) {
        bucket.listened = false;
        bucket.subscribe();
      }
    }
  }

  private void lost(StatefulRedisPubSubConnection<byte[], byte[]> broken) {
    if (broken == connection) {
      connection = null;
      for (Bucket bucket : buckets) {
        bucket.asked = false;
        bucket.listened = false;
      }
      connectLater();
    }
  }

  /** What is told is told at another server from now on. */
  private void moved() {
    StatefulRedisPubSubConnection<byte[], byte[]> former = connection;
    if (former != null) {
      lost(former);
      CompletableFuture<Void> unused = former.closeAsync();
    }
  }

  /** While nobody waits there is no need to connect; the next to come does it. */
  private void connectLater() {
    if (!closed && isWaitedFor()) {
      run(() -> schedule(this::connectIfWaitedFor, Math.max(1, backoff.nextMillis())));
    }
  }

  private void connectIfWaitedFor() {
    if (isWaitedFor()) {
      connect();
    }
  }

  private boolean isWaitedFor() {
    for (Bucket bucket : buckets) {
      if (!bucket.watches.isEmpty()) {
        return true;
      }
    }
    return false;
  }

  private void schedule(Runnable work, long millis) {
    io.netty.util.concurrent.ScheduledFuture<?> unused =
        home.schedule(work, millis, TimeUnit.MILLISECONDS);
  }

  /** Looks now and then for channels that nobody waits on any more. */
  private void sweepLater() {
    if (!sweeping) {
      sweeping = true;
      schedule(this::sweep, IDLE.toMillis());
    }
  }

  private void sweep() {
    sweeping = false;
    long now = System.nanoTime();
    boolean left = false;
    for (Bucket bucket : buckets) {
      left |= bucket.unsubscribeIfIdle(now);
    }
    if (left && !closed) {
      sweepLater();
    }
  }

  /** One channel. */
  private final class Bucket {
    private final byte[] channel;
    private final Set<Watch> watches = new HashSet<>();

    /** Whether a subscription is under way or there. */
    private boolean asked;

    private boolean listened;
    private long idleSince;

    Bucket(int number) {
      this.channel = names.channel(number);
    }

    void add(Watch watch) {
      watches.add(watch);
      if (listened) {
        watch.tell();
      } else if (connection == null) {
        connect();
      } else {
        subscribe();
      }
    }

    void remove(Watch watch) {
      if (watches.remove(watch) && watches.isEmpty()) {
        idleSince = System.nanoTime();
        sweepLater();
      }
    }

    void subscribe() {
      StatefulRedisPubSubConnection<byte[], byte[]> live = connection;
      if (live == null || asked || watches.isEmpty()) {
        return;
      }
      asked = true;
      RedisFuture<Void> reply = live.async().subscribe(channel);
      CompletionStage<Void> unused =
          reply.whenComplete((none, failure) -> Notices.this.run(() -> answered(live, failure)));
    }

    private void answered(
        StatefulRedisPubSubConnection<byte[], byte[]> over, @Nullable Throwable failure) {
      if (over != connection || !asked) {
        return;
      }
      if (failure == null) {
        backoff.succeeded();
        listened = true;
        watches.forEach(Watch::tell);
      } else {
        // Asked again with the next who waits here.
        asked = false;
        complain(failure);
      }
    }

    /** Says whether there is still something to look after. */
    boolean unsubscribeIfIdle(long now) {
      if (!asked || !watches.isEmpty()) {
        return false;
      }
      StatefulRedisPubSubConnection<byte[], byte[]> live = connection;
      if (live == null || !listened || now - idleSince < IDLE_NANOS) {
        return true;
      }
      asked = false;
      listened = false;
      RedisFuture<Void> unused = live.async().unsubscribe(channel);
      return false;
    }

    void told(OperationId id) {
      for (Watch watch : watches) {
        if (watch.id.equals(id)) {
          watch.tell();
        }
      }
    }
  }

  private void complain(Throwable failure) {
    if (!complained && !closed) {
      complained = true;
      log.warn(
          "Redis does not let this user subscribe to {}*, so that duplicates that wait hear of the"
              + " answer up to a second later (allow it with ACL SETUSER … &{}*): {}",
          new String(names.named("settled:"), StandardCharsets.UTF_8),
          new String(names.named("settled:"), StandardCharsets.UTF_8),
          Refusal.text(failure));
    }
  }

  private final class Watch implements Registration {
    private final OperationId id;
    private final Executor where;
    private final Runnable changed;
    private volatile boolean ended;

    Watch(OperationId id, Executor where, Runnable changed) {
      this.id = id;
      this.where = where;
      this.changed = changed;
    }

    private Bucket bucket() {
      return buckets[KeyNames.bucket(id)];
    }

    void begin() {
      if (!ended && !closed) {
        bucket().add(this);
      }
    }

    void tell() {
      try {
        where.execute(this::runUnlessEnded);
      } catch (RejectedExecutionException e) {
        // That loop has ended, and with it all who waited there.
        ended = true;
      }
    }

    private void runUnlessEnded() {
      if (!ended) {
        changed.run();
      }
    }

    @Override
    public void end() {
      if (!ended) {
        ended = true;
        Notices.this.run(() -> bucket().remove(this));
      }
    }
  }

  private final class Messages extends RedisPubSubAdapter<byte[], byte[]> {
    @Override
    public void message(byte[] channel, byte[] record) {
      OperationId id = names.id(record);
      if (id != null) {
        buckets[KeyNames.bucket(id)].told(id);
      }
    }
  }

  private final class Losses implements RedisConnectionStateListener {
    private final StatefulRedisPubSubConnection<byte[], byte[]> watched;

    Losses(StatefulRedisPubSubConnection<byte[], byte[]> watched) {
      this.watched = watched;
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
      run(() -> lost(watched));
    }
  }
}
