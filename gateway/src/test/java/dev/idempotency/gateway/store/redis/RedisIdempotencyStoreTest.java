package dev.idempotency.gateway.store.redis;

import static dev.idempotency.gateway.store.Fixtures.await;
import static dev.idempotency.gateway.store.Fixtures.reservation;
import static dev.idempotency.gateway.store.Fixtures.response;
import static dev.idempotency.gateway.store.Fixtures.rival;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.WriteReply;
import dev.idempotency.gateway.store.Fixtures;
import dev.idempotency.gateway.store.RuleModel;
import dev.idempotency.gateway.store.StoreContractTest;
import dev.idempotency.gateway.testing.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedisIdempotencyStoreTest extends StoreContractTest {

  private static final String PREFIX =
      "test-" + Long.toHexString(ThreadLocalRandom.current().nextLong()) + ":";
  private static RedisServer redis;
  private static LoopStore owner;

  @BeforeAll
  static void connect() {
    redis = RedisServer.shared();
    owner =
        LoopStore.connected(
            RedisStoreOptions.of(redis.url())
                .withPrefix(PREFIX)
                .withDeadline(Duration.ofSeconds(10)));
  }

  @AfterAll
  static void disconnect() {
    owner.close();
  }

  @Override
  protected OperationStore store() {
    return owner.store();
  }

  @Override
  protected void elapse(Duration time) {
    RedisClock.elapse(redis, time);
  }

  @Test
  void randomCommandsGiveTheRepliesOfTheRules() {
    new RuleModel(store(), this::elapse, System.nanoTime()).run(600);
  }

  @Test
  void stagesCompleteOnTheStoresEventLoop() {
    CompletableFuture<Thread> completing = new CompletableFuture<>();
    CompletableFuture<Thread> calling = new CompletableFuture<>();
    owner
        .loop()
        .execute(
            () -> {
              calling.complete(Thread.currentThread());
              store()
                  .reserve(reservation())
                  .thenAccept(reply -> completing.complete(Thread.currentThread()));
            });
    assertThat(await(completing)).isSameAs(await(calling));
  }

  @Test
  void forgottenScriptsAreSentAgain() {
    Reservation reservation = reservation();
    redis.call("SCRIPT", "FLUSH");
    assertThat(await(store().reserve(reservation))).isEqualTo(ReserveReply.ACQUIRED);
    redis.call("SCRIPT", "FLUSH");
    assertThat(await(store().settle(reservation, new Settlement.NotKept(200))))
        .isEqualTo(WriteReply.DONE);
    redis.call("SCRIPT", "FLUSH");
    assertThat(await(store().find(reservation.id()))).isPresent();
  }

  @Test
  void scriptsAreNamedByTheHashThatRedisGivesThem() {
    for (Script script : Script.values()) {
      String loaded =
          redis.call("SCRIPT", "LOAD", new String(script.text(), StandardCharsets.ISO_8859_1));
      assertThat(loaded).isEqualTo(new String(script.digest(), StandardCharsets.US_ASCII));
    }
  }

  @Test
  void keysAreNamedByHashesAndExpire() {
    OperationId id =
        OperationId.of(
            "create-order", List.of("Bearer s3cr3t"), new IdempotencyKey("client-key-42"));
    Reservation reservation =
        Reservation.first(id, Fixtures.fingerprint(1), Fixtures.LEASE, Fixtures.RETENTION);
    await(store().reserve(reservation));
    await(store().settle(reservation, new Settlement.Completed(response("done"))));
    List<String> keys = new ArrayList<>(redis.call("KEYS", PREFIX + "*").lines().toList());
    String index = PREFIX + "open";
    assertThat(keys)
        .contains(PREFIX + id)
        .allMatch(key -> key.equals(index) || key.matches(PREFIX + "[0-9a-f]{64}"));
    keys.remove(index);
    for (String key : keys) {
      assertThat(redis.call("PTTL", key)).as("life of " + key).isNotEqualTo("-1");
    }
    assertThat(redis.call("GET", PREFIX + id)).doesNotContain("s3cr3t").doesNotContain("key-42");
  }

  @Test
  void lifeOfAReservationIsItsLeaseAndItsRetention() {
    Reservation reservation = reservation();
    await(store().reserve(reservation));
    long most = Fixtures.LEASE.plus(Fixtures.RETENTION).toMillis();
    assertThat(life(reservation)).isBetween(most - 60_000, most);
    await(store().settle(reservation, new Settlement.NotKept(200)));
    assertThat(life(reservation)).isLessThanOrEqualTo(Fixtures.RETENTION.toMillis());
  }

  private long life(Reservation reservation) {
    return Long.parseLong(redis.call("PTTL", PREFIX + reservation.id()));
  }

  @ParameterizedTest
  @ValueSource(ints = {69, 70, 73, 100, 140})
  void completedRecordThatWasCutIsDoneAndNotReplayable(int length) {
    Reservation reservation = reservation();
    await(store().reserve(reservation));
    await(store().settle(reservation, new Settlement.Completed(response("a body".repeat(20)))));
    write(reservation, redis.call("GET", PREFIX + reservation.id()).substring(0, length));
    assertThat(seenByARival(reservation).state()).isEqualTo(new StoredOperation.NotKept(201));
  }

  @Test
  void completedRecordWithAFlippedBitIsDoneAndNotReplayable() {
    Reservation reservation = reservation();
    await(store().reserve(reservation));
    await(store().settle(reservation, new Settlement.Completed(response("100.00 EUR"))));
    String value = redis.call("GET", PREFIX + reservation.id());
    write(reservation, value.replace("100.00", "900.00"));
    assertThat(seenByARival(reservation).state()).isEqualTo(new StoredOperation.NotKept(201));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "A", "D", "G", "garbage", "\u0002", "LLLLLLLLLLLLL"})
  void garbageIsNeverTakenForAReply(String value) {
    Reservation reservation = reservation();
    write(reservation, value);
    assertUnavailable(reservation);
    assertThat(redis.call("GET", PREFIX + reservation.id())).isEqualTo(value);
  }

  @Test
  void recordOfAnotherFormatOrStateIsRefusedAndLeftAlone() {
    Reservation reservation = reservation();
    await(store().reserve(reservation));
    String value = redis.call("GET", PREFIX + reservation.id());
    for (String other : List.of("\u0002" + value.substring(1), "\u0001Z" + value.substring(2))) {
      write(reservation, other);
      assertUnavailable(reservation);
      assertThat(redis.call("GET", PREFIX + reservation.id())).isEqualTo(other);
    }
  }

  /** The layout of gateways that know no marks: 69 bytes, and zeros where there is no lease. */
  @Test
  void recordOfAGatewayWithoutMarksHasNone() {
    Reservation reservation = reservation();
    await(store().reserve(reservation));
    String reserved = redis.call("GET", PREFIX + reservation.id());
    assertThat(reserved).hasSize(77);
    write(reservation, reserved.substring(0, 69));
    assertUnmarked(reservation);
    for (String state : List.of("U", "N")) {
      write(
          reservation,
          "\u0001"
              + state
              + reserved.substring(2, 26)
              + "\0".repeat(8)
              + reserved.substring(34, 69));
      assertUnmarked(reservation);
    }
    write(reservation, reserved.substring(0, 69));
    assertThat(await(store().renew(reservation.with(Fingerprint.OPEN)))).isEqualTo(WriteReply.DONE);
    assertUnmarked(reservation);
  }

  /** What such a gateway reads of ours stands where it always stood. */
  @Test
  void recordWithMarksIsLaidOutAsBefore() {
    Fingerprint marked = new Fingerprint(2, Fixtures.fingerprint(1).hash(), 0x4142_4344_4546_4748L);
    Reservation reservation = reservation().with(marked);
    await(store().reserve(reservation));
    String reserved = redis.call("GET", PREFIX + reservation.id());
    assertThat(reserved.substring(34)).isEqualTo("\u0002" + "\u0001".repeat(32) + "\0\0ABCDEFGH");
    await(store().settle(reservation, new Settlement.NotKept(0x4142)));
    assertThat(redis.call("GET", PREFIX + reservation.id()))
        .isEqualTo(
            "\u0001N" + reserved.substring(2, 26) + "ABCDEFGH\u0002" + "\u0001".repeat(32) + "AB");
  }

  private void assertUnmarked(Reservation reservation) {
    Fingerprint found = seenByARival(reservation).fingerprint();
    assertThat(found).isEqualTo(reservation.fingerprint());
    assertThat(found.marks()).isEqualTo(Fingerprint.NO_MARKS);
  }

  @Test
  void keyOfAnotherTypeIsRefused() {
    Reservation reservation = reservation();
    redis.call("LPUSH", PREFIX + reservation.id(), "x");
    redis.call("EXPIRE", PREFIX + reservation.id(), "60");
    assertThatThrownBy(() -> await(store().reserve(reservation)))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("WRONGTYPE");
  }

  private void assertUnavailable(Reservation reservation) {
    Settlement done = new Settlement.NotKept(200);
    List<CompletionStage<?>> stages =
        List.of(
            store().reserve(reservation),
            store().takeOver(reservation.following(1)),
            store().renew(reservation),
            store().settle(reservation, done),
            store().release(reservation),
            store().find(reservation.id()));
    for (var stage : stages) {
      assertThatThrownBy(() -> await(stage))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("format");
    }
  }

  private void write(Reservation reservation, String value) {
    redis.call("SET", PREFIX + reservation.id(), value, "PX", "60000");
  }

  private StoredOperation seenByARival(Reservation reservation) {
    return ((ReserveReply.Existing) await(store().reserve(rival(reservation)))).operation();
  }

  @Test
  void manyCommandsAtOnceAreAllAnswered() {
    List<Reservation> many = IntStream.range(0, 2_000).mapToObj(i -> reservation()).toList();
    many.stream()
        .map(r -> store().reserve(r).toCompletableFuture())
        .toList()
        .forEach(
            reply ->
                assertThat(reply.orTimeout(20, TimeUnit.SECONDS).join())
                    .isEqualTo(ReserveReply.ACQUIRED));
  }
}
