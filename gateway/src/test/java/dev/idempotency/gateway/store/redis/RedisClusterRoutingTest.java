package dev.idempotency.gateway.store.redis;

import static dev.idempotency.gateway.store.Fixtures.RETENTION;
import static dev.idempotency.gateway.store.Fixtures.await;
import static dev.idempotency.gateway.store.Fixtures.fingerprint;
import static dev.idempotency.gateway.store.Fixtures.response;
import static dev.idempotency.gateway.store.Fixtures.rival;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.WriteReply;
import dev.idempotency.gateway.store.Fixtures;
import dev.idempotency.gateway.testing.RedisCluster;
import dev.idempotency.gateway.testing.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Slots move, and each command finds the node that has its slot. */
class RedisClusterRoutingTest {

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Duration SHORT = Duration.ofMillis(400);
  private static final Settlement DONE = new Settlement.Completed(response("done"));
  private static final KeyNames NAMES = new KeyNames("idem:", true);
  private static RedisCluster cluster;
  private static LoopStore owner;

  @BeforeAll
  static void connect() {
    cluster = RedisCluster.start(false);
    owner = LoopStore.connected(RedisStoreOptions.of(cluster.url()).withDeadline(LONG));
  }

  @AfterAll
  static void disconnect() {
    owner.close();
    cluster.close();
  }

  private static RedisIdempotencyStore store() {
    return owner.store();
  }

  private static String text(byte[] name) {
    return new String(name, StandardCharsets.UTF_8);
  }

  private static String record(Reservation reservation) {
    return text(NAMES.record(reservation.id()));
  }

  private static int slot(Reservation reservation) {
    return cluster.slot(record(reservation));
  }

  private static Reservation in(int bucket) {
    byte[] id = Fixtures.operation().toByteArray();
    id[0] = (byte) bucket;
    return Reservation.first(OperationId.of(id), fingerprint(1), Fixtures.LEASE, RETENTION);
  }

  @Test
  void operationsOfAllBucketsAreKeptAndEachNodeHasSome() {
    List<Reservation> all = new ArrayList<>();
    for (int bucket = 0; bucket < 256; bucket++) {
      Reservation reservation = in(bucket);
      assertThat(await(store().reserve(reservation))).isEqualTo(ReserveReply.ACQUIRED);
      all.add(reservation);
    }
    for (int node = 0; node < 3; node++) {
      int number = node;
      assertThat(all).anyMatch(it -> cluster.owner(slot(it)) == number);
    }
    for (Reservation reservation : all) {
      assertThat(await(store().settle(reservation, DONE))).isEqualTo(WriteReply.DONE);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "a}{b", "{x}y", "}", "{", "{{}}", "{255}", "%7B"})
  void keyWithBracesDecidesNoSlot(String key) {
    assertSlotOfItsBucket(key);
  }

  @Test
  void keyOfBracesOnlyDecidesNoSlot() {
    assertSlotOfItsBucket("{".repeat(255));
  }

  private static void assertSlotOfItsBucket(String key) {
    OperationId id = OperationId.of("orders", List.of("t{e}nant"), new IdempotencyKey(key));
    Reservation reservation = Reservation.first(id, fingerprint(1), Fixtures.LEASE, RETENTION);
    await(store().release(reservation));
    assertThat(await(store().reserve(reservation))).isEqualTo(ReserveReply.ACQUIRED);
    assertThat(await(store().settle(reservation, DONE))).isEqualTo(WriteReply.DONE);
    String bucket = id.toString().substring(0, 2);
    assertThat(slot(reservation)).isEqualTo(cluster.slot(bucket));
    assertThat(cluster.node(cluster.owner(slot(reservation))).call("EXISTS", record(reservation)))
        .isEqualTo("1");
  }

  @Test
  void slotThatMovedIsFollowed() {
    Reservation reservation = in(0x11);
    await(store().reserve(reservation));
    int from = cluster.owner(slot(reservation));
    for (int to : new int[] {(from + 1) % 3, (from + 2) % 3, from}) {
      cluster.move(slot(reservation), to);
      assertThat(await(store().renew(reservation))).isEqualTo(WriteReply.DONE);
      assertThat(await(store().reserve(rival(reservation))))
          .isInstanceOf(ReserveReply.Existing.class);
      assertThat(await(store().reserve(in(0x11)))).isEqualTo(ReserveReply.ACQUIRED);
    }
  }

  @Test
  void recordThatIsThereBeforeItsSlotIsFoundAndCompletedThere() {
    Reservation reservation = in(0x22);
    await(store().reserve(reservation));
    int slot = slot(reservation);
    int from = cluster.owner(slot);
    int to = (from + 1) % 3;
    cluster.beginMove(slot, from, to);
    while (cluster.moveKeys(slot, from, to, 10) > 0) {
      // Until all of it is at the new node, which does not have the slot yet.
    }
    // Neither script is there: the whole text has to be allowed to that node as well.
    cluster.node(to).call("SCRIPT", "FLUSH");
    assertThat(await(store().find(reservation.id()))).isPresent();
    assertThat(await(store().reserve(rival(reservation))))
        .isInstanceOf(ReserveReply.Existing.class);
    assertThat(await(store().settle(reservation, DONE))).isEqualTo(WriteReply.DONE);
    assertThat(await(store().find(reservation.id()))).isPresent();
    cluster.endMove(slot, from, to);
    assertThat(await(store().reserve(rival(reservation))))
        .isInstanceOf(ReserveReply.Existing.class);
  }

  @Test
  void operationWhoseKeysAreOnTwoNodesWaitsUntilTheyAreOnOne() {
    Reservation reservation = in(0x33);
    await(store().reserve(reservation));
    int slot = slot(reservation);
    int from = cluster.owner(slot);
    int to = (from + 1) % 3;
    cluster.beginMove(slot, from, to);
    cluster.moveKeys(List.of(record(reservation)), from, to);
    CompletableFuture<WriteReply> settled = store().settle(reservation, DONE).toCompletableFuture();
    CompletableFuture<ReserveReply> reserved = store().reserve(in(0x33)).toCompletableFuture();
    cluster.node(from).call("PING");
    assertThat(settled).isNotDone();
    while (cluster.moveKeys(slot, from, to, 10) > 0) {
      // The rest.
    }
    cluster.endMove(slot, from, to);
    assertThat(await(settled)).isEqualTo(WriteReply.DONE);
    assertThat(await(reserved)).isEqualTo(ReserveReply.ACQUIRED);
  }

  @Test
  void operationWhoseKeysStayOnTwoNodesFailsWithinItsDeadlineAndIsNotExecutedLater() {
    Reservation known = in(0x44);
    await(store().reserve(known));
    int slot = slot(known);
    int from = cluster.owner(slot);
    int to = (from + 1) % 3;
    try (LoopStore hasty =
        LoopStore.connected(RedisStoreOptions.of(cluster.url()).withDeadline(SHORT))) {
      cluster.beginMove(slot, from, to);
      cluster.moveKeys(List.of(record(known)), from, to);
      Reservation failed = in(0x44);
      CompletionStage<ReserveReply> reply = hasty.store().reserve(failed);
      StoreUnavailableException failure =
          catchThrowableOfType(StoreUnavailableException.class, () -> await(reply));
      assertThat(failure).hasMessageContaining("TRYAGAIN");
      assertThat(failure.isSurelyNotExecuted()).isTrue();
      while (cluster.moveKeys(slot, from, to, 10) > 0) {
        // The rest.
      }
      cluster.endMove(slot, from, to);
      assertThat(await(hasty.store().reserve(in(0x44)))).isEqualTo(ReserveReply.ACQUIRED);
      assertThat(await(hasty.store().find(failed.id()))).isEmpty();
    }
  }

  @Test
  void scriptsThatOneNodeForgotAreSentToItAgain() {
    for (RedisServer node : cluster.nodes()) {
      node.call("SCRIPT", "FLUSH");
      for (int bucket = 0; bucket < 32; bucket++) {
        assertThat(await(store().reserve(in(bucket)))).isEqualTo(ReserveReply.ACQUIRED);
      }
    }
  }

  @Test
  void slotsThatMoveUnderLoadLeaveOneReservationToEachOperationAndItIsSettled() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    AtomicBoolean moving = new AtomicBoolean(true);
    CompletableFuture<Integer> moves = CompletableFuture.supplyAsync(() -> moveSlots(moving));
    List<CompletableFuture<Integer>> operations = new ArrayList<>();
    for (int i = 0; i < 4_000 || moves.getNow(20) < 20; i++) {
      Reservation first = in(random.nextInt(8));
      CompletableFuture<Integer> a = settled(first);
      CompletableFuture<Integer> b = settled(rival(first));
      CompletableFuture<Integer> c = settled(rival(first));
      operations.add(a.thenCombine(b, Integer::sum).thenCombine(c, Integer::sum));
      if (i % 50 == 49) {
        await(operations.get(i));
      }
    }
    assertThat(operations.stream().map(Fixtures::await)).containsOnly(1);
    moving.set(false);
    assertThat(await(moves)).as("seed " + seed).isGreaterThan(8);
  }

  /** How many attempts that is which reserve and settle: one, or none where another has it. */
  private static CompletableFuture<Integer> settled(Reservation reservation) {
    return store()
        .reserve(reservation)
        .thenCompose(
            reply ->
                reply.equals(ReserveReply.ACQUIRED)
                    ? store().settle(reservation, DONE).thenApply(done -> isDone(done) ? 1 : 100)
                    : CompletableFuture.completedFuture(0))
        .toCompletableFuture();
  }

  private static boolean isDone(WriteReply reply) {
    return reply.equals(WriteReply.DONE);
  }

  /** Moves the first eight buckets from node to node with all that is in them. */
  private static int moveSlots(AtomicBoolean moving) {
    int moves = 0;
    while (moving.get()) {
      int slot = cluster.slot(text(NAMES.probe(moves % 8)));
      cluster.move(slot, (cluster.owner(slot) + 1) % 3);
      moves++;
    }
    return moves;
  }

  @Test
  void nodeThatDoesNotKnowItsOwnAddressIsFoundWhereItWasAsked() {
    for (RedisServer node : cluster.nodes()) {
      node.call("CONFIG", "SET", "cluster-preferred-endpoint-type", "unknown-endpoint");
    }
    try (LoopStore fresh =
        LoopStore.connected(RedisStoreOptions.of(cluster.url()).withDeadline(LONG))) {
      Reservation reservation = in(0x55);
      assertThat(await(fresh.store().reserve(reservation))).isEqualTo(ReserveReply.ACQUIRED);
      int slot = slot(reservation);
      cluster.move(slot, (cluster.owner(slot) + 1) % 3);
      assertThat(await(fresh.store().settle(reservation, DONE))).isEqualTo(WriteReply.DONE);
    } finally {
      for (RedisServer node : cluster.nodes()) {
        node.call("CONFIG", "SET", "cluster-preferred-endpoint-type", "ip");
      }
    }
  }

  @Test
  void seedsThatAreAwayArePassedOver() {
    String url = cluster.url().replace("://", "://127.0.0.1:1,127.0.0.1:2,");
    try (LoopStore fresh = LoopStore.started(RedisStoreOptions.of(url).withDeadline(LONG))) {
      // Waits until it is known where the slots are.
      assertThat(await(fresh.store().reserve(in(0x66)))).isEqualTo(ReserveReply.ACQUIRED);
      fresh.awaitReachable();
      assertThat(fresh.store().detail()).isEqualTo("connected to 3 masters");
    }
  }

  @Test
  void seedsThatAreAllAwaySaySoAndFailCommandsAtOnce() {
    RedisStoreOptions options = RedisStoreOptions.of("redis-cluster://127.0.0.1:1,127.0.0.1:2");
    try (LoopStore fresh = LoopStore.started(options)) {
      Awaitility.await().until(() -> fresh.store().detail().contains("refused"));
      CompletionStage<ReserveReply> reply = fresh.store().reserve(in(0x77));
      StoreUnavailableException failure =
          catchThrowableOfType(StoreUnavailableException.class, () -> await(reply));
      assertThat(failure).hasMessageContaining("Redis cannot be reached").isNotNull();
      assertThat(failure.isSurelyNotExecuted()).isTrue();
    }
  }
}
