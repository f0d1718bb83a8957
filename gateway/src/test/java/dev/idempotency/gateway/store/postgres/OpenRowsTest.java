package dev.idempotency.gateway.store.postgres;

import static dev.idempotency.gateway.store.Fixtures.await;
import static dev.idempotency.gateway.store.Fixtures.reservation;
import static dev.idempotency.gateway.store.Fixtures.response;
import static dev.idempotency.gateway.store.Fixtures.rival;
import static dev.idempotency.gateway.store.Fixtures.shortLived;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.idempotency.Audit;
import dev.idempotency.gateway.idempotency.Note;
import dev.idempotency.gateway.idempotency.OpenOperation;
import dev.idempotency.gateway.idempotency.OpenOperations.Entry;
import dev.idempotency.gateway.idempotency.OpenOperations.Page;
import dev.idempotency.gateway.idempotency.OpenOperations.ProbeClaim;
import dev.idempotency.gateway.idempotency.OpenOperations.Query;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.SettlementNotices.Registration;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.WriteReply;
import dev.idempotency.gateway.testing.PostgresServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.Assertions;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What others than its owner do with an operation that is not finished. */
class OpenRowsTest {

  private static final Duration KEEP = Duration.ofMinutes(5);
  private static final Audit AUDIT = new Audit("ops", "seen in the ledger");
  private static final Settlement UNKNOWN = new Settlement.Unknown();

  private final PostgresServer server = PostgresServer.shared();
  private final String schema = PostgresServer.ownSchema();
  private final LoopDatabase owner =
      LoopDatabase.connected(
          PostgresStoreOptions.of(server.url() + "?schema=" + schema)
              .withPool(2)
              .withDeadline(Duration.ofSeconds(10)));
  private final PostgresIdempotencyStore store = owner.store();

  @AfterEach
  void end() {
    owner.close();
  }

  private Reservation unknown(String route) {
    Reservation reservation = reservation().with(Note.of(route));
    await(store.reserve(reservation));
    await(store.settle(reservation, UNKNOWN));
    return reservation;
  }

  private static Resolution resolution(Reservation of, Resolution.Action action) {
    return Resolution.of(of.id(), of.attempt(), action, KEEP, AUDIT);
  }

  private StoredOperation found(Reservation reservation) {
    return await(store.find(reservation.id())).orElseThrow();
  }

  @Test
  void unfinishedOperationsArePagedLongestOverdueFirst() {
    List<Reservation> unknown = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      unknown.add(unknown("route-" + i));
    }
    Reservation alive = reservation();
    await(store.reserve(alive));
    await(store.settle(reservation(), new Settlement.NotKept(200)));

    List<OperationId> seen = new ArrayList<>();
    List<String> routes = new ArrayList<>();
    String cursor = "";
    do {
      Page page = await(store.list(new Query(cursor, Duration.ZERO, 2)));
      assertThat(page.operations()).hasSizeLessThanOrEqualTo(2);
      page.operations().stream().map(OpenOperation::id).forEach(seen::add);
      page.operations().forEach(open -> routes.add(open.operation().note().route()));
      cursor = page.next();
    } while (!cursor.isEmpty());

    assertThat(seen).isEqualTo(unknown.stream().map(Reservation::id).toList());
    assertThat(routes).containsExactly("route-0", "route-1", "route-2", "route-3", "route-4");
    Page withLiving = await(store.list(new Query("", Duration.ofDays(-1), 100)));
    assertThat(withLiving.operations())
        .last()
        .satisfies(open -> assertThat(open.id()).isEqualTo(alive.id()))
        .satisfies(open -> assertThat(open.overdue()).isZero());
    assertThat(await(store.list(new Query("no cursor", Duration.ofHours(1), 9))).operations())
        .isEmpty();
    assertThat(await(store.count(List.of(Duration.ofDays(-1), Duration.ZERO, Duration.ofHours(1)))))
        .containsExactly(6L, 5L, 0L);
  }

  @Test
  void completedByAnotherIsReplayedAndFencesItsOwner() {
    Reservation reservation = unknown("pay");
    Resolution done = resolution(reservation, new Resolution.Complete(response("found")));
    assertThat(await(store.resolve(done))).isEqualTo(ResolveReply.DONE);
    assertThat(await(store.resolve(done))).isEqualTo(ResolveReply.DONE);
    assertThat(found(reservation).state())
        .isEqualTo(new StoredOperation.Completed(response("found")));
    assertThat(await(store.settle(reservation, UNKNOWN))).isInstanceOf(WriteReply.Fenced.class);
    Resolution late = resolution(reservation, new Resolution.Release());
    assertThat(await(store.resolve(late))).isInstanceOf(ResolveReply.Refused.class);
    List<Entry> history = await(store.history(reservation.id()));
    assertThat(history).hasSize(1);
    assertThat(history.get(0).what()).isEqualTo("complete");
    assertThat(history.get(0).attempt()).isEqualTo(1);
    assertThat(history.get(0).audit()).isEqualTo(AUDIT);
  }

  @Test
  void releasedByAnotherIsNew() {
    Reservation reservation = unknown("pay");
    Resolution release = resolution(reservation, new Resolution.Release());
    assertThat(await(store.resolve(release))).isEqualTo(ResolveReply.DONE);
    assertThat(await(store.resolve(release))).isEqualTo(ResolveReply.GONE);
    assertThat(await(store.history(reservation.id())))
        .extracting(Entry::what)
        .containsExactly("release");
    assertThat(await(store.reserve(rival(reservation)))).isEqualTo(ReserveReply.ACQUIRED);
  }

  @Test
  void liveLeaseAndOtherAttemptAreNotResolved() {
    Reservation alive = reservation();
    await(store.reserve(alive));
    assertThat(await(store.resolve(resolution(alive, new Resolution.Release()))))
        .isInstanceOf(ResolveReply.Refused.class);
    Reservation second = unknown("pay");
    await(store.takeOver(second.following(1)));
    await(store.settle(second.following(1), UNKNOWN));
    assertThat(await(store.resolve(resolution(second, new Resolution.Release()))))
        .isInstanceOf(ResolveReply.Refused.class);
  }

  @Test
  void lapsedLeaseIsMarkedUnknownAndItsOwnerStillCompletes() {
    Reservation lapsed = shortLived(reservation(), Duration.ofMillis(1), KEEP);
    await(store.reserve(lapsed));
    Awaitility.await().until(() -> found(lapsed).state() instanceof StoredOperation.OutcomeUnknown);
    Resolution marked = resolution(lapsed, new Resolution.MarkUnknown());
    assertThat(await(store.resolve(marked))).isEqualTo(ResolveReply.DONE);
    assertThat(await(store.resolve(marked))).isEqualTo(ResolveReply.DONE);
    assertThat(found(lapsed).state()).isEqualTo(new StoredOperation.OutcomeUnknown(false));
    assertThat(await(store.resolve(resolution(lapsed, new Resolution.Extend()))))
        .isEqualTo(ResolveReply.DONE);
    assertThat(await(store.history(lapsed.id())))
        .extracting(Entry::what)
        .containsExactly("mark-unknown", "extend");
    assertThat(await(store.settle(lapsed, new Settlement.NotKept(201)))).isEqualTo(WriteReply.DONE);
  }

  @Test
  void probeIsOnePerAttemptAtATime() {
    OperationId id = unknown("pay").id();
    Duration held = Duration.ofMillis(300);
    assertThat(((ProbeClaim.Claimed) await(store.claimProbe(id, 1, null, held, held))).tries())
        .isZero();
    ProbeClaim.Busy busy = (ProbeClaim.Busy) await(store.claimProbe(id, 1, null, KEEP, KEEP));
    assertThat(busy.left()).isPositive().isLessThanOrEqualTo(Duration.ofMillis(300));
    Awaitility.await()
        .until(
            () -> await(store.claimProbe(id, 1, null, KEEP, KEEP)),
            claim -> claim instanceof ProbeClaim.Claimed claimed && claimed.tries() == 1);
  }

  @Test
  void watchersAreToldOfASettlementByAnotherGateway() {
    try (LoopDatabase other =
        LoopDatabase.connected(
            PostgresStoreOptions.of(server.url() + "?schema=" + schema).withPool(1))) {
      Reservation reservation = reservation();
      await(store.reserve(reservation));
      AtomicInteger told = new AtomicInteger();
      Registration registration = other.store().watch(reservation.id(), told::incrementAndGet);
      Awaitility.await().until(() -> told.get() == 1);
      await(store.settle(reservation, new Settlement.NotKept(200)));
      Awaitility.await().until(() -> told.get() == 2);
      registration.end();
      registration.end();
    }
  }

  @Test
  void piecesComeBackAndMissingOnesSaySo() {
    Reservation reservation = reservation();
    byte[] piece = new byte[1 << 18];
    piece[7] = 7;
    await(store.put(reservation, 0, new byte[] {1}));
    await(store.put(reservation, 0, piece));
    assertThat(await(store.get(reservation.id(), reservation.token(), 0))).isEqualTo(piece);
    Assertions.assertThatThrownBy(() -> await(store.get(reservation.id(), reservation.token(), 1)))
        .isInstanceOfSatisfying(
            StoreUnavailableException.class,
            failure -> assertThat(failure.isUnreadable()).isTrue());
  }

  @Test
  void expiredRowsAreRemovedAndOthersStay() {
    Reservation kept = reservation();
    await(store.reserve(kept));
    for (int i = 0; i < 3; i++) {
      Reservation gone = shortLived(reservation(), Duration.ofMillis(1), Duration.ofMillis(1));
      await(store.reserve(gone));
    }
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> server.sql("SELECT id FROM " + schema + ".operation").size() == 1);
    assertThat(found(kept).attempt()).isEqualTo(1);
  }

  @Test
  void damagedResponseIsDoneAndNotReplayable() {
    Reservation reservation = reservation();
    await(store.settle(reservation, new Settlement.Completed(response("a"))));
    server.sql("UPDATE " + schema + ".operation SET fields = '\\x0100'");
    assertThat(found(reservation).state()).isEqualTo(new StoredOperation.NotKept(201));
  }
}
