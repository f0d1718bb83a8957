package dev.idempotency.gateway.store.redis;

import static dev.idempotency.gateway.store.Fixtures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.idempotency.Audit;
import dev.idempotency.gateway.idempotency.Note;
import dev.idempotency.gateway.idempotency.OpenOperation;
import dev.idempotency.gateway.idempotency.OpenOperations.Query;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.StoredOperation.Completed;
import dev.idempotency.gateway.idempotency.StoredOperation.OutcomeUnknown;
import dev.idempotency.gateway.idempotency.WriteReply;
import dev.idempotency.gateway.store.Fixtures;
import dev.idempotency.gateway.store.envelope.EnvelopeStore;
import dev.idempotency.gateway.store.envelope.Keys;
import dev.idempotency.gateway.testing.RedisServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * During a deploy gateways of two builds share one Redis, and a deploy may be taken back. Here this
 * build meets the one before it, and records that were kept when its format was last changed: the
 * next build must read them too.
 *
 * <p>The resource has a line for each value in Redis: the operation, its name without the prefix
 * and its value in base64, and what the build before this one reads in it. That column was made by
 * that build itself. Leases end in 1970.
 */
class BuildsSideBySideTest {

  private static final String CHANCE =
      Long.toHexString(ThreadLocalRandom.current().nextLong()) + ":";
  private static final String KEPT = "kept-" + CHANCE;
  private static final String WRITTEN = "written-" + CHANCE;
  private static final Duration ALL = Duration.ofMillis(-1);
  private static final Audit WHY = new Audit("ann", "the order is there");

  private static final List<LoopStore> OPEN = new ArrayList<>();
  private static RedisServer redis;
  private static OperationStore kept;
  private static OperationStore keptSealed;
  private static OperationStore store;
  private static OperationStore sealed;
  private static EarlierGateway earlier;

  /** A line of the resource. */
  private record Line(String operation, String name, String value, String read) {}

  @BeforeAll
  static void load() {
    redis = RedisServer.shared();
    earlier = new EarlierGateway(redis, WRITTEN);
    LoopStore ofKept = connected(KEPT);
    LoopStore ofWritten = connected(WRITTEN);
    kept = ofKept.store();
    keptSealed = sealing(ofKept);
    store = ofWritten.store();
    sealed = sealing(ofWritten);
    for (Line line : lines()) {
      String name = line.name().replace("%", KEPT);
      redis.call(line.name().endsWith(":h") ? "RPUSH" : "SET", name, line.value());
    }
    for (KnownRecords known : KnownRecords.values()) {
      known.write(known.isSealed() ? sealed : store);
    }
  }

  private static LoopStore connected(String prefix) {
    LoopStore made =
        LoopStore.connected(
            RedisStoreOptions.of(redis.url())
                .withPrefix(prefix)
                .withDeadline(Duration.ofSeconds(10)));
    OPEN.add(made);
    return made;
  }

  private static OperationStore sealing(LoopStore inner) {
    return new EnvelopeStore(
        inner.store(),
        Keys.options(4, "k1"),
        1 << 20,
        inner.loop().next(),
        Runnable::run,
        unreadable -> {});
  }

  @AfterAll
  static void disconnect() {
    OPEN.forEach(LoopStore::close);
    OPEN.clear();
  }

  private static List<Line> lines() {
    try (InputStream in = BuildsSideBySideTest.class.getResourceAsStream("/records/second-build")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .map(line -> line.split("\t", -1))
          .map(line -> new Line(line[0], line[1], decoded(line[2]), line[3]))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String decoded(String base64) {
    return new String(Base64.getDecoder().decode(base64), StandardCharsets.ISO_8859_1);
  }

  private static List<Line> lines(KnownRecords known) {
    return lines().stream().filter(line -> line.operation().equals(known.name())).toList();
  }

  // ---- records that were kept

  @ParameterizedTest
  @EnumSource
  void recordThatWasKeptIsReadAsItWasMeant(KnownRecords known) throws IOException {
    OperationStore reader = known.isSealed() ? keptSealed : kept;

    assertThat(await(reader.find(known.id()))).isEqualTo(known.expected());
    if (known.isInPieces()) {
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      for (int i = 0; i < 2; i++) {
        body.write(await(reader.get(known.id(), known.token(), i)));
      }
      assertThat(body.toString(StandardCharsets.US_ASCII)).isEqualTo(KnownRecords.PIECES);
    }
    if (known.isResolved()) {
      assertThat(await(reader.history(known.id())))
          .singleElement()
          .satisfies(
              entry -> {
                assertThat(entry.attempt()).isOne();
                assertThat(entry.audit()).isEqualTo(KnownRecords.AUDIT);
              });
    }
    known
        .expected()
        .ifPresent(
            record ->
                assertThat(await(reader.find(known.id())).orElseThrow().fingerprint().marks())
                    .isEqualTo(record.fingerprint().marks()));
  }

  @ParameterizedTest
  @EnumSource
  void sameBytesAreWrittenAsWereKept(KnownRecords known) {
    Map<String, String> now = new TreeMap<>();
    Map<String, String> then = new TreeMap<>();
    for (Line line : lines(known)) {
      String name = line.name().replace("%", WRITTEN);
      boolean history = line.name().endsWith(":h");
      String value = history ? redis.call("LINDEX", name, "0") : redis.call("GET", name);
      now.put(line.name(), comparable(known, value, history));
      then.put(line.name(), comparable(known, line.value(), history));
    }
    assertThat(now).isEqualTo(then).isNotEmpty();
  }

  /** Without what is another at each time: the end of a lease, a time, what is encrypted. */
  private static String comparable(KnownRecords known, String value, boolean history) {
    if (value == null) {
      return "none";
    }
    if (history) {
      return value.substring(0, 16) + value.substring(24);
    }
    if (known.isSealed()) {
      return value.length() + ": " + (value.startsWith("\u0001") ? value.substring(0, 69) : "");
    }
    return value.startsWith("\u0001R") ? value.substring(0, 26) + value.substring(34) : value;
  }

  @ParameterizedTest
  @EnumSource
  void earlierBuildReadsInEachRecordWhatItShould(KnownRecords known) {
    for (Line line : lines(known)) {
      if (line.name().startsWith("%")) {
        assertThat(EarlierGateway.read(bytes(line.value()), 0)).isEqualTo(line.read());
        String written = redis.call("GET", line.name().replace("%", WRITTEN));
        assertThat(EarlierGateway.read(bytes(written), 0)).isEqualTo(line.read());
      }
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  // ---- both at work

  private static Reservation attempt() {
    return Fixtures.reservation().with(KnownRecords.note());
  }

  private static final Settlement DONE = new Settlement.Completed(Fixtures.response("made"));
  private static final Settlement UNKNOWN = new Settlement.Unknown();

  private static StoredOperation met(Reservation by) {
    return ((ReserveReply.Existing) await(store.reserve(by))).operation();
  }

  private static List<OperationId> listed() {
    return await(store.list(new Query("", ALL, 1000))).operations().stream()
        .map(OpenOperation::id)
        .toList();
  }

  @Test
  void takenOverByTheEarlierBuildIsFinishedThereAndFencedHere() {
    Reservation first = attempt();
    await(store.reserve(first));
    await(store.settle(first, UNKNOWN));
    Reservation second = first.following(1);

    assertThat(earlier.takeOver(second)).isEqualTo("A");
    assertThat(earlier.renew(second)).isEqualTo("D");
    assertThat(await(store.settle(first, DONE))).isInstanceOf(WriteReply.Fenced.class);
    assertThat(listed()).contains(first.id());
    assertThat(earlier.settle(second, new Settlement.NotKept(201))).isEqualTo("D");

    assertThat(met(attemptOn(first)).state()).isEqualTo(new StoredOperation.NotKept(201));
    assertThat(listed()).doesNotContain(first.id());
  }

  private static Reservation attemptOn(Reservation known) {
    return Fixtures.rival(known).with(known.note());
  }

  @Test
  void takenOverHereIsFinishedHereAndFencedThere() {
    Reservation first = attempt();
    assertThat(earlier.reserve(first)).isEqualTo("A");
    assertThat(earlier.settle(first, UNKNOWN)).isEqualTo("D");
    Reservation second = first.following(1);

    assertThat(await(store.takeOver(second))).isEqualTo(ReserveReply.ACQUIRED);
    assertThat(earlier.renew(first)).contains("attempt 2, ").endsWith("in flight");
    assertThat(earlier.settle(first, UNKNOWN)).contains("attempt 2, ");
    assertThat(earlier.release(first)).contains("attempt 2, ");
    assertThat(await(store.settle(second, DONE))).isEqualTo(WriteReply.DONE);

    assertThat(earlier.reserve(attemptOn(first))).contains("attempt 2, ", "completed 201");
    assertThat(met(attemptOn(first)).state()).isInstanceOf(Completed.class);
  }

  @Test
  void reservationWhoseGatewayIsReplacedByTheEarlierBuildKeepsOthersOut() {
    Reservation first = attempt();
    await(store.reserve(first));

    assertThat(earlier.reserve(attemptOn(first))).contains("attempt 1, ").endsWith("in flight");
    assertThat(earlier.takeOver(first.following(1))).endsWith("in flight");
    assertThat(await(store.settle(first, UNKNOWN))).isEqualTo(WriteReply.DONE);
    assertThat(earlier.reserve(attemptOn(first))).endsWith("unknown");
  }

  @Test
  void releasedByTheEarlierBuildIsNewHereAndNoLongerListed() {
    Reservation first = attempt();
    await(store.reserve(first));
    await(store.settle(first, UNKNOWN));
    Reservation second = first.following(1);
    assertThat(earlier.takeOver(second)).isEqualTo("A");
    assertThat(earlier.release(second)).isEqualTo("D");

    assertThat(listed()).doesNotContain(first.id());
    assertThat(await(store.reserve(attemptOn(first)))).isEqualTo(ReserveReply.ACQUIRED);
    assertThat(listed()).contains(first.id());
  }

  @Test
  void unknownToTheEarlierBuildIsListedAsSoonAsADuplicateComes() {
    Reservation first = attempt();
    earlier.reserve(first);
    earlier.settle(first, UNKNOWN);
    assertThat(listed()).doesNotContain(first.id());

    assertThat(met(attemptOn(first)).state()).isEqualTo(new OutcomeUnknown(false));

    assertThat(listed()).contains(first.id());
  }

  @Test
  void diedUnderTheEarlierBuildIsListedAsSoonAsADuplicateComes() {
    Reservation first = Fixtures.withLease(attempt(), Duration.ofMillis(1));
    earlier.reserve(first);
    RedisClock.elapse(redis, Duration.ofMillis(2));

    assertThat(met(attemptOn(first)).state()).isEqualTo(new OutcomeUnknown(true));

    assertThat(listed()).contains(first.id());
  }

  @Test
  void resolvedByAnOperatorIsSettledForTheEarlierBuildToo() {
    Reservation first = attempt();
    earlier.reserve(first);
    earlier.settle(first, UNKNOWN);
    Resolution.Action completing = new Resolution.Complete(Fixtures.response("made"));

    assertThat(
            await(store.resolve(Resolution.of(first.id(), 1, completing, Fixtures.RETENTION, WHY))))
        .isEqualTo(ResolveReply.DONE);

    assertThat(earlier.settle(first, UNKNOWN)).contains("completed 201");
    assertThat(earlier.reserve(attemptOn(first))).contains("completed 201");
    assertThat(earlier.takeOver(first.following(1))).contains("completed 201");
  }

  @Test
  void noteThatTheEarlierBuildDropsIsNothingThatIsMissed() {
    Reservation first = attempt();
    await(store.reserve(first));
    await(store.settle(first, UNKNOWN));
    Reservation second = first.following(1);
    earlier.takeOver(second);
    earlier.settle(second, UNKNOWN);

    assertThat(await(store.find(first.id())).orElseThrow())
        .isEqualTo(
            new StoredOperation(
                2, first.fingerprint(), new OutcomeUnknown(false), Note.NONE, second.token()));
    assertThat(listed()).contains(first.id());
    assertThat(await(store.takeOver(second.following(2)))).isEqualTo(ReserveReply.ACQUIRED);
  }
}
