package dev.idempotency.gateway.store.redis;

import static dev.idempotency.gateway.store.Fixtures.await;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.Audit;
import dev.idempotency.gateway.idempotency.Durability;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Note;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.PiecedResponse;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.StoredOperation.Completed;
import dev.idempotency.gateway.idempotency.StoredOperation.NotKept;
import dev.idempotency.gateway.idempotency.StoredOperation.OutcomeUnknown;
import dev.idempotency.gateway.idempotency.StoredResponse;
import dev.idempotency.gateway.store.Fixtures;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.awaitility.Awaitility;

/**
 * A record in each state, with tokens that are always the same, so that every build writes the same
 * bytes. Leases are over when records of another day are read.
 */
enum KnownRecords {
  RESERVED(0, (it, store) -> await(store.reserve(it.owner())), new OutcomeUnknown(true)),
  NOT_READ_YET(
      1,
      (it, store) -> await(store.reserve(it.owner().with(Fingerprint.OPEN))),
      new OutcomeUnknown(true)),
  RENEWED(
      2,
      (it, store) -> {
        await(store.reserve(it.owner().with(Fingerprint.OPEN)));
        await(store.renew(it.owner()));
      },
      new OutcomeUnknown(true)),
  TAKEN_OVER(
      3,
      (it, store) -> {
        await(store.settle(it.owner(), new Settlement.Unknown()));
        await(store.takeOver(it.attempt(2)));
      },
      new OutcomeUnknown(true)),
  UNKNOWN(
      4,
      (it, store) -> await(store.settle(it.owner(), new Settlement.Unknown())),
      new OutcomeUnknown(false)),
  UNKNOWN_WITHOUT_NOTE(
      5,
      (it, store) -> await(store.settle(it.owner().with(Note.NONE), new Settlement.Unknown())),
      new OutcomeUnknown(false)),
  COMPLETED(
      6, (it, store) -> await(store.settle(it.owner(), completed())), new Completed(response())),
  COMPLETED_EMPTY(
      7,
      (it, store) -> await(store.settle(it.owner(), new Settlement.Completed(empty()))),
      new Completed(empty())),
  NOT_KEPT(
      8,
      (it, store) -> await(store.settle(it.owner(), new Settlement.NotKept(207))),
      new NotKept(207)),
  IN_PIECES(9, (it, store) -> it.inPieces(store), null),
  COMPLETED_BY_SOMEBODY(
      10,
      (it, store) -> {
        await(store.settle(it.owner(), new Settlement.Unknown()));
        it.resolve(store, new Resolution.Complete(response()));
      },
      new Completed(response())),
  RELEASED_BY_SOMEBODY(
      11,
      (it, store) -> {
        await(store.settle(it.owner(), new Settlement.Unknown()));
        it.resolve(store, new Resolution.Release());
      },
      null),
  EXTENDED_BY_SOMEBODY(
      12,
      (it, store) -> {
        await(store.settle(it.owner(), new Settlement.Unknown()));
        it.resolve(store, new Resolution.Extend());
      },
      new OutcomeUnknown(false)),
  MARKED_UNKNOWN(
      13,
      (it, store) -> {
        await(store.reserve(Fixtures.withLease(it.owner(), Duration.ofMillis(1)).with(note())));
        it.resolve(store, new Resolution.MarkUnknown());
      },
      new OutcomeUnknown(false)),
  SEALED(
      14, (it, store) -> await(store.settle(it.owner(), completed())), new Completed(response())),
  SEALED_IN_PIECES(15, (it, store) -> it.inPieces(store), null),
  SEALED_NOTE(
      16,
      (it, store) -> await(store.settle(it.owner(), new Settlement.Unknown())),
      new OutcomeUnknown(false));

  static final Audit AUDIT = new Audit("ann", "the order is there");
  static final String PIECES = "the first piece, the second";

  private static final Duration LIFE = Duration.ofDays(1);

  /** Of its id and its tokens; never another one. */
  private final int number;

  private final BiConsumer<KnownRecords, OperationStore> writing;
  private final StoredOperation.State state;

  KnownRecords(
      int number, BiConsumer<KnownRecords, OperationStore> writing, StoredOperation.State state) {
    this.number = number;
    this.writing = writing;
    this.state = state;
  }

  /** Whether it is written through envelopes, whose bytes are never the same again. */
  boolean isSealed() {
    return name().startsWith("SEALED");
  }

  boolean isResolved() {
    return name().endsWith("BY_SOMEBODY") || this == MARKED_UNKNOWN;
  }

  boolean isInPieces() {
    return name().endsWith("IN_PIECES");
  }

  void write(OperationStore store) {
    writing.accept(this, store);
  }

  /** What it is to who reads it later. */
  Optional<StoredOperation> expected() {
    if (this == RELEASED_BY_SOMEBODY) {
      return Optional.empty();
    }
    StoredOperation.State seen = state == null ? new Completed(pieced().packed()) : state;
    boolean noted = seen instanceof OutcomeUnknown && this != UNKNOWN_WITHOUT_NOTE;
    return Optional.of(
        new StoredOperation(
            this == TAKEN_OVER ? 2 : 1,
            this == NOT_READ_YET ? Fingerprint.OPEN : fingerprint(),
            seen,
            noted ? note() : Note.NONE,
            seen instanceof OutcomeUnknown ? attempt(this == TAKEN_OVER ? 2 : 1).token() : null));
  }

  OperationId id() {
    return OperationId.of(filled(OperationId.LENGTH, number));
  }

  AttemptToken token() {
    return token(number);
  }

  private static AttemptToken token(int content) {
    return AttemptToken.of(filled(AttemptToken.LENGTH, content));
  }

  private static byte[] filled(int length, int content) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) content);
    return bytes;
  }

  static Fingerprint fingerprint() {
    return new Fingerprint(2, filled(Fingerprint.LENGTH, 7), 0x1122334455667788L);
  }

  static Note note() {
    return new Note("create-order", "4bf92f3577b34da6a3ce929d0e0e4736", "order/1", "/orders/ä");
  }

  static StoredResponse response() {
    return new StoredResponse(
        201,
        Headers.of("Content-Type", "application/octet-stream", "X-Name", "\u00e4"),
        new byte[] {0, 1, (byte) 255, '\r', '\n'},
        Headers.of("Sum", "17"));
  }

  private static Settlement completed() {
    return new Settlement.Completed(response());
  }

  private static StoredResponse empty() {
    return new StoredResponse(204, new Headers(), new byte[0], new Headers());
  }

  private Reservation owner() {
    return attempt(1);
  }

  private Reservation attempt(int attempt) {
    return new Reservation(
        id(),
        fingerprint(),
        token(number + 64 * (attempt - 1)),
        attempt,
        Fixtures.LEASE,
        LIFE,
        Durability.NONE,
        note(),
        null);
  }

  PiecedResponse pieced() {
    StoredResponse head =
        new StoredResponse(200, response().headers(), new byte[0], response().trailers());
    return new PiecedResponse(head, token(), 2, PIECES.length());
  }

  private void inPieces(OperationStore store) {
    int half = PIECES.indexOf(',');
    await(store.put(owner(), 0, bytes(PIECES.substring(0, half))));
    await(store.put(owner(), 1, bytes(PIECES.substring(half))));
    await(store.settle(owner(), new Settlement.Completed(pieced().packed())));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** As soon as the lease is over. */
  private void resolve(OperationStore store, Resolution.Action action) {
    Resolution resolution =
        new Resolution(id(), 1, token(), token(number + 128), action, LIFE, AUDIT);
    Awaitility.await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2))
        .until(() -> await(store.resolve(resolution)).equals(ResolveReply.DONE));
  }
}
