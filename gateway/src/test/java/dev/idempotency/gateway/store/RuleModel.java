package dev.idempotency.gateway.store;

import static dev.idempotency.gateway.store.Fixtures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.idempotency.Audit;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.IdempotencyStore;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.OperationRecord;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.WriteReply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;

/**
 * Gives a store and the pure rules the same random commands and compares their replies.
 *
 * <p>Leases are either so short that they have lapsed or so long that they live, never in between,
 * so that both agree although their clocks differ.
 */
public final class RuleModel {

  private static final Duration SHORT = Duration.ofMillis(20);
  private static final Duration LONG = Duration.ofHours(1);

  private final IdempotencyStore store;
  private final Consumer<Duration> elapse;
  private final Random random;
  private final long seed;

  private final Map<OperationId, OperationRecord> records = new HashMap<>();
  private long now = 1_000_000;
  private final List<OperationId> operations = new ArrayList<>();
  private final List<Reservation> attempts = new ArrayList<>();

  /**
   * @param elapse lets that much of the store's time pass
   */
  public RuleModel(IdempotencyStore store, Consumer<Duration> elapse, long seed) {
    this.store = store;
    this.elapse = elapse;
    this.random = new Random(seed);
    this.seed = seed;
  }

  /** Runs that many commands. */
  public void run(int commands) {
    for (int i = 0; i < commands; i++) {
      if (operations.size() < 3 || random.nextInt(40) == 0) {
        operations.add(Fixtures.operation());
        attempts.add(fresh());
      }
      step(i);
    }
  }

  private void step(int number) {
    Reservation attempt = attempt();
    String command = "seed " + seed + ", command " + number + ": ";
    switch (random.nextInt(8)) {
      case 0 ->
          assertThat(told(await(store.reserve(attempt))))
              .as(command + "reserve")
              .isEqualTo(told(by(attempt, OperationRecord.reserve(record(attempt), attempt, now))));
      case 1 ->
          assertThat(told(await(store.takeOver(attempt))))
              .as(command + "take over")
              .isEqualTo(
                  told(by(attempt, OperationRecord.takeOver(record(attempt), attempt, now))));
      case 2 ->
          assertThat(told(await(store.renew(attempt))))
              .as(command + "renew")
              .isEqualTo(told(by(attempt, OperationRecord.renew(record(attempt), attempt, now))));
      case 3 -> {
        Settlement settlement = settlement();
        assertThat(told(await(store.settle(attempt, settlement))))
            .as(command + "settle " + settlement)
            .isEqualTo(
                told(
                    by(
                        attempt,
                        OperationRecord.settle(record(attempt), attempt, settlement, now))));
      }
      case 4 ->
          assertThat(told(await(store.release(attempt))))
              .as(command + "release")
              .isEqualTo(told(by(attempt, OperationRecord.release(record(attempt), attempt, now))));
      case 5, 6 -> {
        Resolution resolution =
            Resolution.of(
                attempt.id(),
                attempt.attempt(),
                random.nextBoolean() ? attempt.token() : null,
                action(),
                LONG,
                new Audit("a", "b"));
        if (store instanceof OperationStore whole) {
          assertThat(told(await(whole.resolve(resolution))))
              .as(command + "resolve " + resolution)
              .isEqualTo(
                  told(by(attempt, OperationRecord.resolve(record(attempt), resolution, now))));
        }
      }
      default -> {}
    }
    if (attempt.lease().equals(SHORT)) {
      Duration past = SHORT.multipliedBy(attempt.retention().equals(SHORT) ? 2 : 1).plusMillis(3);
      elapse.accept(past);
      now += past.toMillis();
    }
    assertThat(told(await(store.find(attempt.id()))))
        .as(command + "find")
        .isEqualTo(told(found(attempt)));
  }

  private OperationRecord record(Reservation attempt) {
    return records.get(attempt.id());
  }

  private <R> R by(Reservation attempt, OperationRecord.Step<R> step) {
    records.put(attempt.id(), step.next());
    return step.reply();
  }

  private Optional<StoredOperation> found(Reservation attempt) {
    return Optional.ofNullable(record(attempt))
        .filter(record -> record.expiresAt() > now)
        .map(record -> record.seenAt(now));
  }

  /** An earlier attempt, its successor, a rival, or the same with another content. */
  private Reservation attempt() {
    Reservation known = attempts.get(random.nextInt(attempts.size()));
    Reservation next =
        switch (random.nextInt(8)) {
          case 0 -> fresh();
          case 1 -> known.following(known.attempt());
          case 2 -> known.following(known.attempt(), known.token());
          case 3 -> known.following(known.attempt() + 1);
          case 4 -> known.with(fingerprint());
          default -> known;
        };
    if (!next.equals(known)) {
      attempts.add(next);
    }
    return timed(next);
  }

  private Reservation fresh() {
    OperationId operation = operations.get(random.nextInt(operations.size()));
    return Reservation.first(operation, fingerprint(), LONG, LONG);
  }

  /** Mostly the same one; now and then another, or one that is not known yet. */
  private Fingerprint fingerprint() {
    int number = random.nextInt(8);
    return number >= 6
        ? Fingerprint.OPEN
        : new Fingerprint(1, Fixtures.fingerprint(1 + number / 5).hash(), random.nextLong());
  }

  private Reservation timed(Reservation reservation) {
    return switch (random.nextInt(12)) {
      case 0 -> Fixtures.shortLived(reservation, SHORT, SHORT);
      case 1, 2 -> Fixtures.shortLived(reservation, SHORT, LONG);
      default -> reservation;
    };
  }

  private Resolution.Action action() {
    return switch (random.nextInt(4)) {
      case 0 -> new Resolution.Release();
      case 1 -> new Resolution.MarkUnknown();
      case 2 -> new Resolution.Extend();
      default -> new Resolution.Complete(Fixtures.response("body " + random.nextInt()));
    };
  }

  private Settlement settlement() {
    return switch (random.nextInt(4)) {
      case 0 -> new Settlement.Unknown();
      case 1 -> new Settlement.NotKept(200 + random.nextInt(300));
      default -> new Settlement.Completed(Fixtures.response("body " + random.nextInt()));
    };
  }

  /** Replies without what differs by clock: how much of a lease is left. */
  private static Object told(Object reply) {
    if (reply instanceof ReserveReply.Existing existing) {
      return List.of("existing", told(existing.operation()));
    }
    if (reply instanceof WriteReply.Fenced fenced) {
      return List.of("fenced", told(fenced.current()));
    }
    if (reply instanceof ResolveReply.Refused refused) {
      return List.of("refused", told(refused.current()));
    }
    if (reply instanceof Optional<?> found) {
      return found.map(RuleModel::told);
    }
    if (reply instanceof StoredOperation operation) {
      Object state =
          operation.state() instanceof StoredOperation.InFlight ? "in flight" : operation.state();
      long marks = operation.fingerprint().marks();
      return List.of(
          operation.attempt(),
          operation.fingerprint(),
          marks,
          state,
          Optional.ofNullable(operation.holder()));
    }
    return reply;
  }
}
