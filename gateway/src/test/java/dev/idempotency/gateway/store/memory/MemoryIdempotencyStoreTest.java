package dev.idempotency.gateway.store.memory;

import static dev.idempotency.gateway.store.Fixtures.await;
import static dev.idempotency.gateway.store.Fixtures.reservation;
import static dev.idempotency.gateway.store.Fixtures.rival;
import static dev.idempotency.gateway.store.Fixtures.shortLived;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.StoredResponse;
import dev.idempotency.gateway.idempotency.WriteReply;
import dev.idempotency.gateway.store.RuleModel;
import dev.idempotency.gateway.store.StoreContractTest;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class MemoryIdempotencyStoreTest extends StoreContractTest {

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000);
  private final MemoryIdempotencyStore store = store(1 << 24);

  private MemoryIdempotencyStore store(long capacity) {
    return MemoryIdempotencyStore.create(capacity, nanos::get);
  }

  @Override
  protected OperationStore store() {
    return store;
  }

  @Override
  protected void elapse(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  @Test
  void fullStoreRefusesNewReservationsAndKeepsWhatIsThere() {
    MemoryIdempotencyStore small = store(2 * Weight.RECORD);
    Reservation first = reservation();
    Reservation second = reservation();
    await(small.reserve(first));
    await(small.reserve(second));
    assertThatThrownBy(() -> await(small.reserve(reservation())))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageStartingWith("memory store is full");
    assertThat(await(small.reserve(rival(first)))).isInstanceOf(ReserveReply.Existing.class);
    assertThat(await(small.reserve(second))).isEqualTo(ReserveReply.ACQUIRED);
    await(small.release(first));
    assertThat(await(small.reserve(reservation()))).isEqualTo(ReserveReply.ACQUIRED);
  }

  @Test
  void fullStoreCompletesAnAdmittedOperationWithoutItsResponse() {
    MemoryIdempotencyStore small = store(2 * Weight.RECORD);
    Reservation owner = reservation();
    await(small.reserve(owner));
    StoredResponse large = new StoredResponse(201, new Headers(), new byte[100_000], new Headers());
    assertThat(await(small.settle(owner, new Settlement.Completed(large))))
        .isEqualTo(WriteReply.DONE);
    assertThat(await(small.find(owner.id())).orElseThrow().state())
        .isEqualTo(new StoredOperation.NotKept(201));
  }

  @Test
  void expiredRecordsMakeRoom() {
    MemoryIdempotencyStore small = store(2 * Weight.RECORD);
    Duration life = Duration.ofSeconds(1);
    await(small.reserve(shortLived(reservation(), life, life)));
    await(small.reserve(shortLived(reservation(), life, life)));
    elapse(Duration.ofSeconds(5));
    assertThat(await(small.reserve(reservation()))).isEqualTo(ReserveReply.ACQUIRED);
    assertThat(small.size()).isEqualTo(1);
    assertThat(small.weight()).isEqualTo(Weight.RECORD);
  }

  @Test
  void weightIsWhatTheRecordsWeighAfterAnyHistory() {
    new RuleModel(store, this::elapse, 20260101).run(3_000);
    elapse(Duration.ofDays(1));
    await(store.reserve(reservation()));
    await(store.find(reservation().id()));
    assertThat(store.size()).isEqualTo(1);
    assertThat(store.weight()).isEqualTo(Weight.RECORD);
  }
}
