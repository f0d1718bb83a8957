package dev.idempotency.gateway.store.envelope;

import static dev.idempotency.gateway.store.Fixtures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.IdempotencyStore;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.StoredResponse;
import dev.idempotency.gateway.idempotency.WriteReply;
import dev.idempotency.gateway.store.Fixtures;
import dev.idempotency.gateway.store.memory.MemoryIdempotencyStore;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Who does the work, and what happens where it goes wrong. */
class EnvelopeStoreTest {

  private static final Executor BUSY =
      task -> {
        throw new RejectedExecutionException("busy");
      };

  private final MemoryIdempotencyStore memory = MemoryIdempotencyStore.create();
  private final Queue<Runnable> work = new ArrayDeque<>();
  private final Queue<Runnable> back = new ArrayDeque<>();
  private final List<String> unreadable = new ArrayList<>();
  private final Reservation owner = Fixtures.reservation();

  private IdempotencyStore store(EnvelopeOptions options, Executor workers) {
    return new EnvelopeStore(memory, options, 1 << 24, back::add, workers, unreadable::add);
  }

  private static StoredResponse text(int length) {
    return new StoredResponse(
        200, Headers.of("Content-Type", "text/plain"), new byte[length], new Headers());
  }

  private StoredOperation.State kept() {
    return await(memory.find(owner.id())).orElseThrow().state();
  }

  private StoredResponse stored() {
    return ((StoredOperation.Completed) kept()).response();
  }

  @Test
  void shortResponseIsSealedAtOnce() {
    IdempotencyStore store = store(Keys.options(16, "k1"), BUSY);
    assertThat(store.settle(owner, new Settlement.Completed(text(EnvelopeStore.LONG))))
        .isCompletedWithValue(WriteReply.DONE);
    assertThat(stored().isSealed()).isTrue();
    assertThat(stored().body().length).isLessThan(1_000);
  }

  @Test
  void longResponseIsSealedByTheWorkersAndWrittenByTheLoop() {
    IdempotencyStore store = store(Keys.encrypting("k1"), work::add);
    await(store.reserve(owner));
    CompletableFuture<WriteReply> settled =
        store
            .settle(owner, new Settlement.Completed(text(EnvelopeStore.LONG + 1)))
            .toCompletableFuture();
    assertThat(back).isEmpty();
    work.remove().run();
    assertThat(kept()).isInstanceOf(StoredOperation.InFlight.class);
    assertThat(settled).isNotDone();
    back.remove().run();
    assertThat(settled).isCompletedWithValue(WriteReply.DONE);
    assertThat(stored().isSealed()).isTrue();
  }

  @Test
  void longResponseIsOpenedByTheWorkersHoweverShortItsEnvelopeIs() {
    IdempotencyStore store = store(Keys.options(16, "k1"), work::add);
    store.settle(owner, new Settlement.Completed(text(EnvelopeStore.LONG + 1)));
    work.remove().run();
    back.remove().run();
    assertThat(stored().body().length).isLessThan(EnvelopeStore.LONG);
    var found = store.find(owner.id()).toCompletableFuture();
    assertThat(found).isNotDone();
    work.remove().run();
    back.remove().run();
    assertThat(found.getNow(null).orElseThrow().state())
        .isEqualTo(new StoredOperation.Completed(text(EnvelopeStore.LONG + 1)));
  }

  @Test
  void busyWorkersLeaveALongResponseUncompressedButNeverInClear() {
    IdempotencyStore store = store(Keys.options(16, "k1"), BUSY);
    assertThat(store.settle(owner, new Settlement.Completed(text(1 << 20))))
        .isCompletedWithValue(WriteReply.DONE);
    assertThat(stored().isSealed()).isTrue();
    assertThat(stored().body().length).isGreaterThan(1 << 20);
    assertThat(store.find(owner.id()).toCompletableFuture().getNow(null).orElseThrow().state())
        .isEqualTo(new StoredOperation.Completed(text(1 << 20)));
  }

  @Test
  void responseThatCannotBeSealedIsNotKeptAndNeverInClear() {
    IdempotencyStore store = store(Keys.encrypting("k1"), work::add);
    Headers broken = new Headers();
    StoredResponse bad = new StoredResponse(200, broken, new byte[1], null);
    assertThat(store.settle(owner, new Settlement.Completed(bad)))
        .isCompletedWithValue(WriteReply.DONE);
    assertThat(kept()).isEqualTo(new StoredOperation.NotKept(200));
    assertThat(unreadable).singleElement().asString().contains(owner.id().toString());
  }

  @Test
  void whatIsNoResponseIsPassedOn() {
    IdempotencyStore store = store(Keys.encrypting("k1"), BUSY);
    await(store.settle(owner, new Settlement.Unknown()));
    assertThat(kept()).isEqualTo(new StoredOperation.OutcomeUnknown(false));
    await(store.settle(owner, new Settlement.NotKept(204)));
    assertThat(kept()).isEqualTo(new StoredOperation.NotKept(204));
  }

  @Test
  void withoutKeysOnlyLongTextGetsAnEnvelope() {
    IdempotencyStore store = store(Keys.options(100), work::add);
    StoredResponse plain = text(99);
    await(store.settle(owner, new Settlement.Completed(plain)));
    assertThat(stored()).isSameAs(plain);
  }

  @Test
  void stageFailsWhereTheLoopHasEnded() {
    IdempotencyStore store =
        new EnvelopeStore(
            memory, Keys.encrypting("k1"), 1 << 24, BUSY, Runnable::run, unreadable::add);
    assertThat(store.settle(owner, new Settlement.Completed(text(1 << 20))).toCompletableFuture())
        .isCompletedExceptionally();
  }
}
