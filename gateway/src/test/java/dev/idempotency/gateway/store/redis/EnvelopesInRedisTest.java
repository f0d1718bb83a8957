package dev.idempotency.gateway.store.redis;

import static dev.idempotency.gateway.store.Fixtures.await;
import static dev.idempotency.gateway.store.Fixtures.reservation;
import static dev.idempotency.gateway.store.Fixtures.rival;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.IdempotencyStore;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.StoredResponse;
import dev.idempotency.gateway.store.RuleModel;
import dev.idempotency.gateway.store.StoreContractTest;
import dev.idempotency.gateway.store.envelope.EnvelopeStore;
import dev.idempotency.gateway.store.envelope.Keys;
import dev.idempotency.gateway.testing.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Envelopes in Redis: the same promises, and nothing of them helps who can write to Redis. */
class EnvelopesInRedisTest extends StoreContractTest {

  private static final String PREFIX =
      "sealed-" + Long.toHexString(ThreadLocalRandom.current().nextLong()) + ":";
  private static final List<String> UNREADABLE = new CopyOnWriteArrayList<>();
  private static RedisServer redis;
  private static LoopStore plain;
  private static ExecutorService workers;
  private static OperationStore store;

  @BeforeAll
  static void connect() {
    redis = RedisServer.shared();
    workers = Executors.newFixedThreadPool(2);
    plain =
        LoopStore.connected(
            RedisStoreOptions.of(redis.url())
                .withPrefix(PREFIX)
                .withDeadline(Duration.ofSeconds(10)));
    store = sealing("k1");
  }

  private static OperationStore sealing(String... keys) {
    return new EnvelopeStore(
        plain.store(),
        Keys.options(16, keys),
        1 << 24,
        plain.loop().next(),
        workers,
        UNREADABLE::add);
  }

  @AfterAll
  static void disconnect() {
    plain.close();
    workers.shutdown();
  }

  @BeforeEach
  void forget() {
    UNREADABLE.clear();
  }

  @Override
  protected OperationStore store() {
    return store;
  }

  @Override
  protected void elapse(Duration time) {
    long until = redisMillis() + time.toMillis() + 1;
    Awaitility.await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2))
        .until(() -> redisMillis() >= until);
  }

  private static long redisMillis() {
    List<String> time = redis.call("TIME").lines().toList();
    return Long.parseLong(time.get(0)) * 1_000 + Long.parseLong(time.get(1)) / 1_000;
  }

  @Test
  void randomCommandsGiveTheRepliesOfTheRules() {
    new RuleModel(store, this::elapse, System.nanoTime()).run(600);
    assertThat(UNREADABLE).isEmpty();
  }

  @Test
  void storedBytesTellNothingOfTheResponse() {
    Reservation owner = completed(text("marked-body " + "x".repeat(100)));
    String stored = redis.call("GET", PREFIX + owner.id());
    assertThat(stored).contains("k1").doesNotContain("marked").doesNotContain("Location");
    assertThat(stored).doesNotContain("xxxx");
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 1 << 20})
  void replyOfWorkersComesBackOnTheStoresLoop(int length) {
    Reservation owner = reservation();
    CompletableFuture<Thread> settling = new CompletableFuture<>();
    CompletableFuture<Thread> finding = new CompletableFuture<>();
    CompletableFuture<Thread> calling = new CompletableFuture<>();
    plain
        .loop()
        .execute(
            () -> {
              calling.complete(Thread.currentThread());
              store
                  .settle(owner, new Settlement.Completed(text("z".repeat(length))))
                  .thenCompose(
                      reply -> {
                        settling.complete(Thread.currentThread());
                        return store.find(owner.id());
                      })
                  .thenAccept(found -> finding.complete(Thread.currentThread()));
            });
    assertThat(await(settling)).isSameAs(await(calling));
    assertThat(await(finding)).isSameAs(await(calling));
  }

  @Test
  void recordCopiedToAnotherOperationIsDoneButNotReplayed() {
    Reservation owner = completed(text("of the one"));
    Reservation other = reservation();
    copy(owner, other);
    assertThat(seen(store, other).state()).isEqualTo(new StoredOperation.NotKept(201));
    assertThat(UNREADABLE)
        .singleElement()
        .asString()
        .contains(other.id().toString(), "another operation", "k1")
        .doesNotContain("of the one");
    assertThat(seen(store, owner).state()).isInstanceOf(StoredOperation.Completed.class);
  }

  @Test
  void recordWhoseFingerprintWasExchangedIsDoneButNotReplayed() {
    Reservation owner = completed(text("of one request"));
    redis.call("SETRANGE", PREFIX + owner.id(), "35", "another request's hash, 32 bytes");
    assertThat(seen(store, owner).state()).isEqualTo(new StoredOperation.NotKept(201));
  }

  @Test
  void recordWhoseStatusWasExchangedIsDoneButNotReplayed() {
    Reservation owner = completed(text("failed or not"));
    redis.call("SETRANGE", PREFIX + owner.id(), "67", "\u0001\u0090");
    assertThat(seen(store, owner).state()).isEqualTo(new StoredOperation.NotKept(400));
  }

  @Test
  void gatewaysThatKnowBothKeysReadEachOther() {
    IdempotencyStore old = sealing("k1", "k2");
    IdempotencyStore rotated = sealing("k2", "k1");
    for (IdempotencyStore writer : List.of(old, rotated)) {
      Reservation owner = reservation();
      await(writer.settle(owner, new Settlement.Completed(text("either"))));
      for (IdempotencyStore reader : List.of(old, rotated)) {
        assertThat(seen(reader, owner).state())
            .isEqualTo(new StoredOperation.Completed(text("either")));
      }
    }
    assertThat(UNREADABLE).isEmpty();
  }

  @Test
  void responseOfAKeyThatIsGoneIsDoneButNotKept() {
    Reservation owner = completed(text("old"));
    assertThat(seen(sealing("k2"), owner).state()).isEqualTo(new StoredOperation.NotKept(201));
    assertThat(UNREADABLE).singleElement().asString().contains("its key \"k1\"");
  }

  @Test
  void responseFromBeforeEncryptionIsReplayed() {
    Reservation owner = reservation();
    await(plain.store().settle(owner, new Settlement.Completed(text("plain"))));
    assertThat(seen(store, owner).state()).isEqualTo(new StoredOperation.Completed(text("plain")));
  }

  private static Reservation completed(StoredResponse response) {
    Reservation owner = reservation();
    await(store.settle(owner, new Settlement.Completed(response)));
    return owner;
  }

  private static StoredOperation seen(IdempotencyStore by, Reservation owner) {
    ReserveReply reply = await(by.reserve(rival(owner)));
    return ((ReserveReply.Existing) reply).operation();
  }

  private static void copy(Reservation from, Reservation to) {
    assertThat(redis.call("COPY", PREFIX + from.id(), PREFIX + to.id())).isEqualTo("1");
  }

  private static StoredResponse text(String body) {
    return new StoredResponse(
        201,
        Headers.of("Content-Type", "text/plain", "Location", "/marked"),
        body.getBytes(StandardCharsets.UTF_8),
        new Headers());
  }
}
