package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Note;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.StoredResponse;
import dev.idempotency.gateway.idempotency.WriteReply;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A store that writes down what it is told and answers when a test says so. */
final class FakeStore implements OperationStore {

  private record Open(@Nullable Reservation reservation, CompletableFuture<Object> reply) {}

  private final List<String> commands = new ArrayList<>();
  private final List<Fingerprint> fingerprints = new ArrayList<>();
  private final List<Reservation> reservations = new ArrayList<>();
  private final List<StoredResponse> completed = new ArrayList<>();
  private final List<Resolution> resolutions = new ArrayList<>();
  private final List<Optional<AttemptToken>> seen = new ArrayList<>();
  private final ArrayDeque<Open> open = new ArrayDeque<>();
  private final List<Integer> dropped = new ArrayList<>();
  private final Map<Integer, byte[]> pieces = new TreeMap<>();
  private final List<Runnable> watches = new ArrayList<>();
  private @Nullable Error error;
  private Function<String, @Nullable Object> atOnce = command -> null;

  /** For how many milliseconds nothing was forgotten. */
  long sinceLoss = Long.MAX_VALUE;

  /** Every command so far, such as {@code renew 1}: its name and the attempt. */
  List<String> commands() {
    return commands;
  }

  /** The fingerprint that came with each command. */
  List<Fingerprint> fingerprints() {
    return fingerprints;
  }

  /** The reservation that came with each command. */
  List<Reservation> reservations() {
    return reservations;
  }

  /** Whose records were to be probed; empty where only the attempt was told. */
  List<Optional<AttemptToken>> seen() {
    return seen;
  }

  /** What was resolved. */
  List<Resolution> resolutions() {
    return resolutions;
  }

  /** The responses that were to be stored. */
  List<StoredResponse> completed() {
    return completed;
  }

  /** Answers every command at once, on the caller's stack, for which something is given. */
  void answers(Function<String, @Nullable Object> replies) {
    atOnce = replies;
  }

  /** The next settlement fails before there is a stage, which no store may do. */
  void throwsOnce(Error thrown) {
    error = thrown;
  }

  /** The oldest command that waits, such as {@code renew 1}; one waits. */
  String oldest() {
    return commands.get(commands.size() - open.size());
  }

  int open() {
    return open.size();
  }

  /** Answers the oldest command that waits. */
  void reply(Object reply) {
    open.remove().reply.complete(reply);
  }

  /** Lets the oldest reservation that waits be granted. */
  void acquire() {
    reply(ReserveReply.ACQUIRED);
  }

  void done() {
    reply(WriteReply.DONE);
  }

  /** Says that a record is there whose request is the same. */
  void existing(long attempt, StoredOperation.State state) {
    Open oldest = open.element();
    reply(new ReserveReply.Existing(new StoredOperation(attempt, fingerprintOf(oldest), state)));
  }

  /** Says that a record of that holder, whose outcome is unknown, is there of the same request. */
  void unknown(long attempt, AttemptToken holder) {
    reply(
        new ReserveReply.Existing(
            new StoredOperation(
                attempt,
                fingerprintOf(open.element()),
                new StoredOperation.OutcomeUnknown(false),
                Note.NONE,
                holder)));
  }

  /** Says that a record with that fingerprint is there. */
  void existing(long attempt, Fingerprint fingerprint, StoredOperation.State state) {
    reply(new ReserveReply.Existing(new StoredOperation(attempt, fingerprint, state)));
  }

  /** Answers a look at the record. */
  void found(long attempt, Fingerprint fingerprint, StoredOperation.State state) {
    reply(Optional.of(new StoredOperation(attempt, fingerprint, state)));
  }

  private static Fingerprint fingerprintOf(Open open) {
    return Objects.requireNonNull(open.reservation).fingerprint();
  }

  /** Says that another attempt holds the record. */
  void fence(long attempt, StoredOperation.State state) {
    Open oldest = open.element();
    reply(new WriteReply.Fenced(new StoredOperation(attempt, fingerprintOf(oldest), state)));
  }

  /** Fails the oldest command; whether it was executed is not known. */
  void fail() {
    open.remove().reply.completeExceptionally(new StoreUnavailableException("no answer"));
  }

  /** Fails the oldest command, which met a record that can't be read. */
  void failUnreadable() {
    open.remove().reply.completeExceptionally(StoreUnavailableException.unreadable("no record"));
  }

  void failNotExecuted() {
    open.remove().reply.completeExceptionally(StoreUnavailableException.notExecuted("not sent"));
  }

  @Override
  public long sinceLoss(OperationId id) {
    return sinceLoss;
  }

  @Override
  public CompletionStage<ReserveReply> reserve(Reservation reservation) {
    return told("reserve", reservation).thenApply(ReserveReply.class::cast);
  }

  @Override
  public CompletionStage<ReserveReply> takeOver(Reservation reservation) {
    return told("takeOver", reservation).thenApply(ReserveReply.class::cast);
  }

  @Override
  public CompletionStage<WriteReply> renew(Reservation reservation) {
    return told("renew", reservation).thenApply(WriteReply.class::cast);
  }

  @Override
  public CompletionStage<WriteReply> settle(Reservation reservation, Settlement settlement) {
    Error thrown = error;
    if (thrown != null) {
      error = null;
      throw thrown;
    }
    if (settlement instanceof Settlement.Completed done) {
      completed.add(done.response());
    }
    return told(settlement.getClass().getSimpleName(), reservation)
        .thenApply(WriteReply.class::cast);
  }

  @Override
  public CompletionStage<WriteReply> release(Reservation reservation) {
    return told("release", reservation).thenApply(WriteReply.class::cast);
  }

  @Override
  public CompletionStage<Optional<StoredOperation>> find(OperationId id) {
    commands.add("find");
    CompletableFuture<Object> reply = new CompletableFuture<>();
    open.add(new Open(null, reply));
    return reply.thenApply(found -> ((Optional<?>) found).map(StoredOperation.class::cast));
  }

  @Override
  public CompletionStage<Page> list(Query query) {
    return asked("list").thenApply(Page.class::cast);
  }

  @Override
  @SuppressWarnings("unchecked")
  public CompletionStage<List<Long>> count(List<Duration> ages) {
    return asked("count").thenApply(counts -> (List<Long>) counts);
  }

  @Override
  public CompletionStage<ProbeClaim> claimProbe(
      OperationId id,
      long attempt,
      @Nullable AttemptToken holder,
      Duration first,
      Duration longest) {
    seen.add(Optional.ofNullable(holder));
    return asked("claimProbe " + attempt).thenApply(ProbeClaim.class::cast);
  }

  @Override
  public CompletionStage<ResolveReply> resolve(Resolution resolution) {
    resolutions.add(resolution);
    return asked("resolve " + resolution.attempt() + " " + resolution.action().word())
        .thenApply(ResolveReply.class::cast);
  }

  @Override
  @SuppressWarnings("unchecked")
  public CompletionStage<List<Entry>> history(OperationId id) {
    return asked("history").thenApply(entries -> (List<Entry>) entries);
  }

  private CompletableFuture<Object> asked(String command) {
    commands.add(command);
    Object told = atOnce.apply(command);
    if (told != null) {
      return CompletableFuture.completedFuture(told);
    }
    CompletableFuture<Object> reply = new CompletableFuture<>();
    open.add(new Open(null, reply));
    return reply;
  }

  @Override
  public CompletionStage<Void> put(Reservation reservation, int index, byte[] bytes) {
    pieces.put(index, bytes.clone());
    return told("put " + index + " of", reservation).thenApply(done -> null);
  }

  @Override
  public CompletionStage<byte[]> get(OperationId id, AttemptToken token, int index) {
    commands.add("get " + index);
    CompletableFuture<Object> reply = new CompletableFuture<>();
    open.add(new Open(null, reply));
    return reply.thenApply(byte[].class::cast);
  }

  @Override
  public CompletionStage<Void> drop(Reservation reservation, int count) {
    dropped.add(count);
    return CompletableFuture.completedFuture(null);
  }

  /** How many pieces of a response were dropped, each time. */
  List<Integer> dropped() {
    return dropped;
  }

  /** What was written of a response, by its index. */
  Map<Integer, byte[]> pieces() {
    return pieces;
  }

  @Override
  public Registration watch(OperationId id, Runnable changed) {
    watches.add(changed);
    return () -> watches.remove(changed);
  }

  /** How many watches there are. */
  int watches() {
    return watches.size();
  }

  /** Says to all who watch that something changed. */
  void tell() {
    List.copyOf(watches).forEach(Runnable::run);
  }

  private CompletableFuture<Object> told(String name, Reservation reservation) {
    commands.add(name + " " + reservation.attempt());
    fingerprints.add(reservation.fingerprint());
    reservations.add(reservation);
    CompletableFuture<Object> reply = new CompletableFuture<>();
    open.add(new Open(reservation, reply));
    return reply;
  }
}
