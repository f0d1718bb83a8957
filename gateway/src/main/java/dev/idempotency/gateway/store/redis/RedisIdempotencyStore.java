package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.Durability;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoreFinding;
import dev.idempotency.gateway.idempotency.StoreHealth;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.WriteReply;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Keeps records in Redis 7 or later, or Valkey: one key per operation, named by the prefix and the
 * operation's hash, judged by the clock of Redis, changed by scripts only (see {@link RecordFormat}
 * and the script files beside this class).
 *
 * <h2>Threading</h2>
 *
 * <p>A store and its connection belong to one event loop: its commands are best called there, and
 * their stages complete there. Health may be asked from any thread.
 *
 * <h2>Failure</h2>
 *
 * <p>Each stage ends within the deadline (and an eighth of it). While Redis cannot be reached,
 * commands fail at once; the connection comes back by itself. A command that failed may still be
 * executed by a server that was frozen and goes on; its token makes that harmless to others.
 */
public final class RedisIdempotencyStore implements OperationStore, StoreHealth {

  private static final byte[][] NO_TEXTS = {};
  private static final long[] NO_NUMBERS = {};

  private final KeyNames names;
  private final EventLoop loop;
  private final LoopClient client;
  private final Link link;
  private final Terms terms;
  private final OpenRecords open;
  private final Notices notices;

  /** For what must get further than to be executed, so that nothing else waits behind it. */
  private final Map<Durability, Link> durable = new ConcurrentHashMap<>();

  private RedisIdempotencyStore(
      RedisStoreOptions options, RedisDemands demands, EventLoop loop, Notices notices) {
    this.loop = loop;
    this.notices = notices;
    this.client = new LoopClient(options, loop, RedisLink.LIMIT);
    boolean cluster = client.location().kind() == Location.Kind.CLUSTER;
    this.names = new KeyNames(options.prefix(), cluster);
    this.terms = Terms.of(options, demands);
    this.link = Links.to(client, loop, names, terms);
    this.open = new OpenRecords(names, link);
  }

  /**
   * A store that connects in the background; returns at once and never fails because Redis is away.
   *
   * @param loop where everything of this store happens; epoll or NIO, and for all stores of a
   *     process the same
   */
  public static RedisIdempotencyStore connect(RedisStoreOptions options, EventLoop loop) {
    return connect(options, RedisDemands.NONE, loop);
  }

  /** The same for routes that want more of Redis than that it keeps their records. */
  public static RedisIdempotencyStore connect(
      RedisStoreOptions options, RedisDemands demands, EventLoop loop) {
    return connect(options, demands, loop, Notices.open(options, loop));
  }

  /**
   * The same, sharing the connection on which changes are heard of.
   *
   * @param notices of a store with the same options; closed with whichever store is closed first
   */
  public static RedisIdempotencyStore connect(
      RedisStoreOptions options, RedisDemands demands, EventLoop loop, Notices notices) {
    RedisIdempotencyStore store = new RedisIdempotencyStore(options, demands, loop, notices);
    store.link.open();
    for (Durability durability : demands.durabilities()) {
      if (!durability.isNone()) {
        Link unused = store.durable(durability);
      }
    }
    return store;
  }

  @Override
  public boolean reachable() {
    return link.reachable() && durable.values().stream().allMatch(Link::reachable);
  }

  @Override
  public String detail() {
    return links().filter(one -> !one.reachable()).findFirst().orElse(link).detail();
  }

  @Override
  public List<StoreFinding> findings() {
    return link.findings();
  }

  @Override
  public long evictions() {
    return link.evictions();
  }

  private Stream<Link> links() {
    return Stream.concat(Stream.of(link), durable.values().stream());
  }

  /** Whether commands must get that far is up to each; the link is one for all of a level. */
  private Link durable(Durability durability) {
    Durability level = new Durability(durability.level(), durability.replicas(), false);
    return durable.computeIfAbsent(
        level,
        wanted -> {
          Link made = Links.to(client, loop, names, terms.with(wanted));
          made.open();
          return made;
        });
  }

  /**
   * All writes of an attempt go the same way: none of them overtakes another.
   *
   * @param confirmed whether this one must get as far as the reservation says
   */
  private <R> CompletionStage<R> send(Reservation reservation, Call<R> call, boolean confirmed) {
    if (reservation.durability().isNone()) {
      return link.send(call);
    }
    call.confirmed = confirmed;
    return durable(reservation.durability()).send(call);
  }

  /** Ends the connection; what is under way fails. The event loop is left alone. */
  public CompletionStage<Void> close() {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    try {
      loop.execute(
          () -> {
            for (Link one : durable.values()) {
              CompletionStage<Void> unused = one.close();
            }
            CompletionStage<Void> ended =
                link.close()
                    .thenCompose(none -> client.close())
                    .thenCompose(none -> notices.close());
            CompletionStage<Void> unused =
                ended.whenComplete((none, failure) -> closed.complete(null));
          });
    } catch (RejectedExecutionException e) {
      // The loop has ended and took the connections along.
      closed.complete(null);
    }
    return closed;
  }

  @Override
  public Registration watch(OperationId id, Runnable changed) {
    return notices.watch(id, loop, changed);
  }

  @Override
  public CompletionStage<ReserveReply> reserve(Reservation reservation) {
    byte[][] texts = {RecordFormat.head(reservation), RecordFormat.tail(reservation)};
    return send(
        reservation,
        new Call<>(
            Script.RESERVE, keys(reservation.id()), texts, times(reservation), Replies::reserve),
        true);
  }

  @Override
  public CompletionStage<ReserveReply> takeOver(Reservation reservation) {
    byte[][] texts = {
      RecordFormat.head(reservation),
      RecordFormat.tail(reservation),
      RecordFormat.attempt(reservation.attempt() - 1, reservation.follows())
    };
    return send(
        reservation,
        new Call<>(
            Script.TAKE_OVER, keys(reservation.id()), texts, times(reservation), Replies::reserve),
        true);
  }

  @Override
  public CompletionStage<WriteReply> renew(Reservation reservation) {
    byte[][] texts = {RecordFormat.head(reservation), RecordFormat.tail(reservation)};
    return send(
        reservation,
        new Call<>(Script.RENEW, keys(reservation.id()), texts, times(reservation), Replies::write),
        true);
  }

  @Override
  public CompletionStage<WriteReply> settle(Reservation reservation, Settlement settlement) {
    OperationId id = reservation.id();
    byte[][] texts = {RecordFormat.settled(reservation, settlement), channel(id)};
    long[] life = {reservation.retention().toMillis()};
    // That an outcome is unknown is what a record that was forgotten says too.
    boolean confirmed =
        reservation.durability().completions() && !(settlement instanceof Settlement.Unknown);
    return send(
        reservation, new Call<>(Script.SETTLE, keys(id), texts, life, Replies::write), confirmed);
  }

  @Override
  public CompletionStage<WriteReply> release(Reservation reservation) {
    OperationId id = reservation.id();
    byte[][] texts = {RecordFormat.owner(reservation), channel(id)};
    return send(
        reservation,
        new Call<>(Script.RELEASE, keys(id), texts, NO_NUMBERS, Replies::write),
        false);
  }

  @Override
  public CompletionStage<Optional<StoredOperation>> find(OperationId id) {
    return link.send(
        new Call<>(
            Script.FIND, new byte[][] {names.record(id)}, NO_TEXTS, NO_NUMBERS, Replies::find));
  }

  @Override
  public long sinceLoss(OperationId id) {
    byte[] key = names.record(id);
    long since = link.sinceLoss(key);
    for (Link one : durable.values()) {
      since = Math.min(since, one.sinceLoss(key));
    }
    return since;
  }

  @Override
  public CompletionStage<Page> list(Query query) {
    return open.list(query);
  }

  @Override
  public CompletionStage<List<Long>> count(List<Duration> ages) {
    return open.count(ages);
  }

  @Override
  public CompletionStage<ProbeClaim> claimProbe(
      OperationId id,
      long attempt,
      @Nullable AttemptToken holder,
      Duration first,
      Duration longest) {
    return open.claimProbe(id, attempt, holder, first, longest);
  }

  @Override
  public CompletionStage<ResolveReply> resolve(Resolution resolution) {
    return open.resolve(resolution);
  }

  @Override
  public CompletionStage<List<Entry>> history(OperationId id) {
    return open.history(id);
  }

  @Override
  public CompletionStage<Void> put(Reservation reservation, int index, byte[] bytes) {
    byte[][] keys = {piece(reservation.id(), reservation.token(), index)};
    long life =
        reservation.lease().toMillis() + reservation.retention().toMillis() + MARGIN.toMillis();
    return link.send(
        new Call<@Nullable Void>(
            Script.PUT_PIECE,
            keys,
            new byte[][] {PieceFormat.write(bytes)},
            new long[] {life},
            done -> null));
  }

  @Override
  public CompletionStage<byte[]> get(OperationId id, AttemptToken token, int index) {
    byte[][] keys = {piece(id, token, index)};
    return link.send(new Call<>(Script.GET_PIECE, keys, NO_TEXTS, NO_NUMBERS, PieceFormat::read));
  }

  @Override
  public CompletionStage<Void> drop(Reservation reservation, int count) {
    byte[][] keys = new byte[count][];
    for (int i = 0; i < count; i++) {
      keys[i] = piece(reservation.id(), reservation.token(), i);
    }
    return link.send(
        new Call<@Nullable Void>(Script.DROP_PIECES, keys, NO_TEXTS, NO_NUMBERS, done -> null));
  }

  private byte[] piece(OperationId id, AttemptToken token, int index) {
    return names.companion(id, "b:" + token + ":" + index);
  }

  private static long[] times(Reservation reservation) {
    long lease = reservation.lease().toMillis();
    return new long[] {lease, lease + reservation.retention().toMillis()};
  }

  /** The record and the index of what is not finished. */
  private byte[][] keys(OperationId id) {
    return new byte[][] {names.record(id), names.index(id)};
  }

  private byte[] channel(OperationId id) {
    return names.channel(KeyNames.bucket(id));
  }
}
