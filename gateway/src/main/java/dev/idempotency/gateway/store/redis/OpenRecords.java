package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.Audit;
import dev.idempotency.gateway.idempotency.OpenOperation;
import dev.idempotency.gateway.idempotency.OpenOperations;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.WriteReply;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The operations that are not finished, by the indexes that the scripts keep. */
final class OpenRecords implements OpenOperations {

  private static final byte[][] NO_TEXTS = {};
  private static final byte[] NOTHING = {};
  private static final long[] NO_NUMBERS = {};
  private static final int TOKEN = 16;

  private final KeyNames names;
  private final Link link;

  OpenRecords(KeyNames names, Link link) {
    this.names = names;
    this.link = link;
  }

  @Override
  public CompletionStage<Page> list(Query query) {
    return list(query, IndexCursor.read(query.cursor(), names.indexes()));
  }

  /** The first index from there on that has something; one that is empty costs one command. */
  private CompletionStage<Page> list(Query query, IndexCursor from) {
    return read(query, from)
        .thenCompose(
            entries -> {
              if (entries.list().isEmpty() && from.index() + 1 < names.indexes()) {
                return list(query, IndexCursor.start(from.index() + 1));
              }
              IndexCursor next = entries.next(query, from, names.indexes());
              return operations(query, entries, from.index())
                  .thenApply(found -> new Page(found, next == null ? "" : next.text()));
            });
  }

  private CompletionStage<Entries> read(Query query, IndexCursor from) {
    byte[][] keys = {names.index(from.index())};
    byte[][] texts = {from.name()};
    long[] numbers = {query.least().toMillis(), from.score(), query.most()};
    return link.send(new Call<>(Script.LIST_OPEN, keys, texts, numbers, Entries::read));
  }

  /** Reads the records; removes from the index what is none any more. */
  private CompletionStage<List<OpenOperation>> operations(Query query, Entries entries, int index) {
    List<CompletableFuture<Optional<OpenOperation>>> found = new ArrayList<>();
    for (Entries.Entry entry : entries.list()) {
      found.add(operation(entry, entries.now(), index).toCompletableFuture());
    }
    return CompletableFuture.allOf(found.toArray(new CompletableFuture<?>[0]))
        .thenApply(
            all ->
                found.stream()
                    .map(one -> one.getNow(Optional.empty()))
                    .flatMap(Optional::stream)
                    .filter(open -> query.least().isNegative() || !isAlive(open))
                    .toList());
  }

  private CompletionStage<Optional<OpenOperation>> operation(
      Entries.Entry entry, long now, int index) {
    byte[][] keys = {entry.name()};
    OperationId id = names.id(entry.name());
    return link.send(new Call<>(Script.FIND, keys, NO_TEXTS, NO_NUMBERS, OpenRecords::record))
        .thenApply(
            record -> {
              StoredOperation found = record.operation();
              if (record.isGone() || (found != null && isFinished(found))) {
                forget(entry.name(), index);
                return Optional.empty();
              }
              return id == null || found == null
                  ? Optional.empty()
                  : Optional.of(new OpenOperation(id, found, overdue(found, now - entry.score())));
            });
  }

  /** A lease may have been renewed meanwhile, or by a gateway that knows of no index. */
  private static Duration overdue(StoredOperation found, long millis) {
    return found.state() instanceof StoredOperation.InFlight
        ? Duration.ZERO
        : Duration.ofMillis(Math.max(0, millis));
  }

  /**
   * What a name in the index stands for.
   *
   * @param isGone whether there is no record
   * @param operation the record; null where there is none, or one of a format that this program
   *     does not know, which is neither listed nor forgotten
   */
  private record Read(boolean isGone, @Nullable StoredOperation operation) {}

  private static Read record(byte @Nullable [] reply) {
    try {
      Optional<StoredOperation> found = Replies.find(reply);
      return new Read(found.isEmpty(), found.orElse(null));
    } catch (StoreUnavailableException e) {
      return new Read(false, null);
    }
  }

  private static boolean isAlive(OpenOperation open) {
    return open.operation().state() instanceof StoredOperation.InFlight;
  }

  private static boolean isFinished(StoredOperation operation) {
    return operation
        .state()
        .match(inFlight -> false, unknown -> false, completed -> true, notKept -> true);
  }

  private void forget(byte[] name, int index) {
    byte[][] keys = {name, names.index(index)};
    // Where it fails, the next one who lists does it.
    CompletionStage<WriteReply> unused =
        link.send(new Call<>(Script.FORGET, keys, NO_TEXTS, NO_NUMBERS, Replies::write));
  }

  @Override
  public CompletionStage<List<Long>> count(List<Duration> ages) {
    long[] numbers = ages.stream().mapToLong(Duration::toMillis).toArray();
    List<CompletableFuture<long[]>> counts = new ArrayList<>();
    for (int i = 0; i < names.indexes(); i++) {
      byte[][] keys = {names.index(i)};
      counts.add(
          link.send(
                  new Call<>(
                      Script.COUNT_OPEN, keys, NO_TEXTS, numbers, reply -> numbers(reply, ages)))
              .toCompletableFuture());
    }
    return CompletableFuture.allOf(counts.toArray(new CompletableFuture<?>[0]))
        .thenApply(all -> sum(counts, ages.size()));
  }

  private static long[] numbers(byte @Nullable [] reply, List<Duration> ages) {
    long[] counts = new long[ages.size()];
    ByteBuffer from = ByteBuffer.wrap(present(reply));
    for (int i = 0; i < counts.length; i++) {
      counts[i] = from.getLong();
    }
    return counts;
  }

  private static List<Long> sum(List<CompletableFuture<long[]>> counts, int size) {
    long[] sums = new long[size];
    for (CompletableFuture<long[]> count : counts) {
      long[] one = count.getNow(new long[size]);
      for (int i = 0; i < size; i++) {
        sums[i] += one[i];
      }
    }
    List<Long> all = new ArrayList<>(size);
    for (long sum : sums) {
      all.add(sum);
    }
    return all;
  }

  @Override
  public CompletionStage<ProbeClaim> claimProbe(
      OperationId id,
      long attempt,
      @Nullable AttemptToken holder,
      Duration first,
      Duration longest) {
    byte[][] keys = {names.record(id), names.companion(id, "p"), names.index(id)};
    byte[][] texts = {RecordFormat.attempt(attempt, holder)};
    long[] numbers = {Math.max(1, first.toMillis()), longest.toMillis()};
    return link.send(new Call<>(Script.CLAIM_PROBE, keys, texts, numbers, OpenRecords::claim));
  }

  private static ProbeClaim claim(byte @Nullable [] reply) {
    ByteBuffer from = ByteBuffer.wrap(present(reply));
    if (from.get() != 'C') {
      return new ProbeClaim.Busy(Duration.ofMillis(from.getLong()));
    }
    byte[] holder = new byte[AttemptToken.LENGTH];
    from.get(holder);
    int tries = from.getInt();
    return new ProbeClaim.Claimed(
        AttemptToken.of(holder), tries, Duration.ofMillis(from.getLong()));
  }

  @Override
  public CompletionStage<ResolveReply> resolve(Resolution resolution) {
    OperationId id = resolution.id();
    byte[][] keys = {names.record(id), names.index(id), names.companion(id, "h")};
    Resolution.Action action = resolution.action();
    AttemptToken holder = resolution.holder();
    byte[][] texts = {
      {(byte) Actions.letter(action)},
      RecordFormat.attempt(resolution.attempt()),
      resolution.token().toByteArray(),
      holder == null ? NOTHING : holder.toByteArray(),
      action instanceof Resolution.Complete complete
          ? RecordFormat.completion(complete.response())
          : NOTHING,
      account(resolution.audit()),
      names.channel(KeyNames.bucket(id))
    };
    long[] life = {Math.max(1, resolution.retention().toMillis())};
    return link.send(new Call<>(Script.RESOLVE, keys, texts, life, Replies::resolve));
  }

  private static byte[] account(Audit audit) {
    byte[] who = audit.who().getBytes(StandardCharsets.UTF_8);
    byte[] why = audit.why().getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(2 + who.length + why.length)
        .putShort((short) who.length)
        .put(who)
        .put(why)
        .array();
  }

  @Override
  public CompletionStage<List<Entry>> history(OperationId id) {
    byte[][] keys = {names.companion(id, "h")};
    return link.send(new Call<>(Script.HISTORY, keys, NO_TEXTS, NO_NUMBERS, OpenRecords::entries));
  }

  private static List<Entry> entries(byte @Nullable [] reply) {
    ByteBuffer from = ByteBuffer.wrap(present(reply));
    List<Entry> entries = new ArrayList<>();
    while (from.hasRemaining()) {
      int length = from.getInt();
      entries.add(entry(from.slice(from.position(), length)));
      from.position(from.position() + length);
    }
    return entries;
  }

  private static Entry entry(ByteBuffer from) {
    from.position(TOKEN);
    long at = from.getLong();
    String what = Actions.word((char) from.get());
    long attempt = from.getLong();
    String who = text(from, from.getShort() & 0xffff);
    return new Entry(at, what, attempt, new Audit(who, text(from, from.remaining())));
  }

  private static String text(ByteBuffer from, int length) {
    byte[] bytes = new byte[length];
    from.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static byte[] present(byte @Nullable [] reply) {
    if (reply == null) {
      throw new StoreUnavailableException("Redis replied nothing to a script");
    }
    return reply;
  }
}
