package dev.idempotency.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.StoredOperation.Completed;
import dev.idempotency.gateway.idempotency.StoredOperation.InFlight;
import dev.idempotency.gateway.idempotency.StoredOperation.OutcomeUnknown;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Duplicates that wait. Time stands still unless a test moves it, so that nothing is polled. */
class WaitingTest {

  private static final Completed DONE = done("made".getBytes(StandardCharsets.ISO_8859_1));

  private static Completed done(byte[] body) {
    return new Completed(new StoredResponse(201, new Headers(), body, new Headers()));
  }

  private static Stage.Settings patient() {
    return Stage.with().patience(Duration.ofSeconds(5));
  }

  private static InFlight inFlight() {
    return new InFlight(Duration.ofSeconds(9));
  }

  private static List<Stage.Call> waiting(Stage stage, int number) {
    List<Stage.Call> calls = new ArrayList<>();
    for (int i = 0; i < number; i++) {
      calls.add(waiting(stage, "{}"));
    }
    return calls;
  }

  private static Stage.Call waiting(Stage stage, String body, String... fields) {
    Stage.Call call = stage.whole("k", body, fields);
    stage.store.existing(1, Stage.fingerprint(body), inFlight());
    return call;
  }

  @Test
  void manyThatWaitShareOneWatchAndOneLookAndAreAllAnswered() {
    Stage stage = patient().open();
    List<Stage.Call> calls = waiting(stage, 50);
    assertThat(stage.store.watches()).isEqualTo(1);
    assertThat(stage.exchanges.waitingDuplicates()).isEqualTo(50);
    stage.store.tell();
    stage.store.found(1, Stage.fingerprint("{}"), DONE);

    assertThat(calls).allMatch(call -> call.client().text().equals("made"));
    assertThat(stage.store.commands().subList(50, stage.store.commands().size()))
        .containsExactly("find");
    assertThat(stage.store.watches()).isZero();
    isOver(stage);
  }

  @Test
  void eachIsJudgedByItsOwnRequest() {
    Stage stage = patient().streamsRequest().open();
    Stage.Call open = stage.upload("k", -1);
    stage.store.existing(1, dev.idempotency.gateway.idempotency.Fingerprint.OPEN, inFlight());
    stage.store.tell();
    // Now the request is known, and this one's body has to be read to be compared with it.
    stage.store.found(1, Stage.fingerprint("{}"), DONE);

    assertThat(open.client().isAnswered()).isFalse();
    assertThat(open.client().isBodyWanted()).isTrue();
    assertThat(stage.exchanges.waitingDuplicates()).isZero();
  }

  @Test
  void noticeThatComesWhileTheRecordIsReadHasItReadAgain() {
    Stage stage = patient().open();
    Stage.Call call = waiting(stage, "{}");
    stage.store.tell();
    stage.store.tell();
    stage.store.tell();
    stage.store.found(1, Stage.fingerprint("{}"), inFlight());
    assertThat(call.client().isAnswered()).isFalse();
    stage.store.found(1, Stage.fingerprint("{}"), DONE);

    assertThat(call.client().text()).isEqualTo("made");
    // However many come, they make for one look more.
    assertThat(stage.store.commands()).containsExactly("reserve 1", "find", "find");
    isOver(stage);
  }

  @Test
  void lostNoticeIsMadeUpForByLooksWithGrowingPauses() {
    Stage stage = Stage.with().patience(Duration.ofMinutes(1)).open();
    Stage.Call call = waiting(stage, "{}");
    List<Long> looks = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      stage.scheduler.advance(Duration.ofMillis(10));
      if (stage.store.open() > 0) {
        looks.add(stage.scheduler.currentTimeMillis() - 1_000);
        stage.store.found(1, Stage.fingerprint("{}"), inFlight());
      }
    }
    assertThat(looks).startsWith(250L, 750L, 1_750L, 2_750L);
    stage.scheduler.advance(Duration.ofSeconds(1));
    stage.store.found(1, Stage.fingerprint("{}"), DONE);

    assertThat(call.client().text()).isEqualTo("made");
    isOver(stage);
  }

  @Test
  void goneRecordHasAllReserveAndTheOthersWaitOn() {
    Stage stage = patient().open();
    List<Stage.Call> calls = waiting(stage, 3);
    stage.store.tell();
    stage.store.reply(Optional.empty());
    stage.store.acquire();
    stage.store.existing(1, inFlight());
    stage.store.existing(1, inFlight());

    assertThat(stage.upstream.waiting()).isEqualTo(1);
    assertThat(stage.exchanges.waitingDuplicates()).isEqualTo(2);
    stage.store.tell();
    stage.store.found(1, Stage.fingerprint("{}"), DONE);
    assertThat(calls.get(1).client().text()).isEqualTo("made");
    assertThat(calls.get(2).client().text()).isEqualTo("made");
  }

  @Test
  void ownerThatDiedLeavesAnUnknownOutcomeWhichIsHeld() {
    Stage stage = Stage.with().patience(Duration.ofMinutes(1)).open();
    Stage.Call call = stage.whole("k", "{}");
    stage.store.existing(1, new InFlight(Duration.ofMillis(100)));
    stage.scheduler.advance(Duration.ofMillis(101));
    assertThat(stage.store.open()).isZero();
    stage.scheduler.advance(Duration.ofMillis(1));
    stage.store.found(1, Stage.fingerprint("{}"), new OutcomeUnknown(true));

    assertThat(call.client().problem()).isEqualTo("outcome-unknown");
    assertThat(stage.store.commands()).containsExactly("reserve 1", "find");
    isOver(stage);
  }

  @Test
  void ownerThatDiedIsFollowedByOneWhereTheRouteForwardsAgain() {
    Stage stage = patient().retry().open();
    List<Stage.Call> calls = waiting(stage, 2);
    stage.store.tell();
    stage.store.found(1, Stage.fingerprint("{}"), new OutcomeUnknown(true));
    stage.store.acquire();
    stage.store.existing(2, inFlight());

    assertThat(stage.store.commands())
        .containsExactly("reserve 1", "reserve 1", "find", "takeOver 2", "takeOver 2");
    assertThat(stage.upstream.waiting()).isEqualTo(1);
    assertThat(calls.get(1).client().isAnswered()).isFalse();
  }

  @Test
  void moreThanMayWaitForOneKeyAreRefusedAtOnce() {
    Stage stage =
        Stage.with()
            .waiting(new Route.Waiting(Duration.ofSeconds(5), Duration.ofSeconds(5), 2))
            .open();
    List<Stage.Call> calls = waiting(stage, 2);
    Stage.Call refused = waiting(stage, "{}", "Prefer", "wait=3");
    assertThat(refused.client().problem()).isEqualTo("request-in-flight");
    assertThat(refused.client().headers().contains("Preference-Applied")).isFalse();
    calls.get(0).exchange().clientGone();
    assertThat(waiting(stage, "{}").client().isAnswered()).isFalse();

    Stage.Call other = stage.whole("another", "{}");
    stage.store.existing(1, inFlight());
    assertThat(other.client().isAnswered()).isFalse();
  }

  @Test
  void moreThanMayWaitInAllAreRefusedAtOnceUntilOneLeaves() {
    Stage stage = patient().open();
    List<Stage.Call> calls = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      calls.add(stage.whole("k" + i, "{}"));
      stage.store.existing(1, inFlight());
    }
    Stage.Call refused = stage.whole("more", "{}");
    stage.store.existing(1, inFlight());
    assertThat(refused.client().problem()).isEqualTo("request-in-flight");
    calls.get(7).exchange().clientGone();
    Stage.Call next = stage.whole("more", "{}");
    stage.store.existing(1, inFlight());

    assertThat(next.client().isAnswered()).isFalse();
    assertThat(stage.exchanges.waitingDuplicates()).isEqualTo(1_000);
    assertThat(stage.store.watches()).isEqualTo(1_000);
  }

  @Test
  void clientThatAsksForLessWaitsLessAndIsToldSo() {
    Stage stage = patient().open();
    Stage.Call call = waiting(stage, "{}", "Prefer", "wait=2");
    stage.scheduler.advance(Duration.ofMillis(1_999));
    assertThat(call.client().isAnswered()).isFalse();
    stage.scheduler.advance(Duration.ofMillis(1));

    assertThat(call.client().problem()).isEqualTo("request-in-flight");
    assertThat(call.client().headers().get("Preference-Applied")).isEqualTo("wait=2");
  }

  @Test
  void clientThatAsksForMoreGetsTheLongestAndIsToldSo() {
    Stage stage =
        Stage.with().waiting(new Route.Waiting(Duration.ZERO, Duration.ofSeconds(3), 10)).open();
    Stage.Call call = waiting(stage, "{}", "Prefer", "wait=60");
    assertThat(call.client().isAnswered()).isFalse();
    stage.store.tell();
    stage.store.found(1, Stage.fingerprint("{}"), DONE);

    assertThat(call.client().text()).isEqualTo("made");
    assertThat(call.client().headers().get("Preference-Applied")).isEqualTo("wait=3");
    isOver(stage);
  }

  @Test
  void clientThatDoesNotWantToWaitIsRefusedAtOnce() {
    Stage stage = patient().open();
    Stage.Call call = waiting(stage, "{}", "Prefer", "wait=0");

    assertThat(call.client().problem()).isEqualTo("request-in-flight");
    assertThat(call.client().headers().get("Preference-Applied")).isEqualTo("wait=0");
    assertThat(stage.store.watches()).isZero();
  }

  @Test
  void clientThatAsksWhereNobodyMayWaitIsRefusedAndNothingIsSaidOfIt() {
    Stage stage = Stage.open();
    Stage.Call call = waiting(stage, "{}", "Prefer", "wait=5");

    assertThat(call.client().problem()).isEqualTo("request-in-flight");
    assertThat(call.client().headers().contains("Preference-Applied")).isFalse();
  }

  @Test
  void clientThatDoesNotWantToWaitWhereNobodyDoesIsToldNothingOfIt() {
    Stage.Call call = waiting(Stage.open(), "{}", "Prefer", "wait=0");

    assertThat(call.client().problem()).isEqualTo("request-in-flight");
    assertThat(call.client().headers().contains("Preference-Applied")).isFalse();
  }

  @Test
  void patienceThatIsShorterThanAPauseEndsInTime() {
    Stage stage = Stage.with().patience(Duration.ofMillis(100)).open();
    Stage.Call call = waiting(stage, "{}");
    stage.scheduler.advance(Duration.ofMillis(99));
    assertThat(call.client().isAnswered()).isFalse();
    stage.scheduler.advance(Duration.ofMillis(1));

    assertThat(call.client().problem()).isEqualTo("request-in-flight");
  }

  @Test
  void patienceBeginsBeforeTheStoreIsAsked() {
    Stage stage = patient().open();
    Stage.Call call = stage.whole("k", "{}");
    stage.scheduler.advance(Duration.ofSeconds(2));
    stage.store.existing(1, inFlight());
    stage.scheduler.advance(Duration.ofMillis(2_900));
    assertThat(call.client().isAnswered()).isFalse();
    stage.scheduler.advance(Duration.ofMillis(100));

    assertThat(call.client().problem()).isEqualTo("request-in-flight");
  }

  @Test
  void wishThatCanNotBeUnderstoodChangesNothing() {
    Stage stage = patient().open();
    Stage.Call call = waiting(stage, "{}", "Prefer", "wait=soon");
    stage.scheduler.advance(Duration.ofMillis(4_900));
    assertThat(call.client().isAnswered()).isFalse();
    stage.scheduler.advance(Duration.ofMillis(100));

    assertThat(call.client().headers().contains("Preference-Applied")).isFalse();
  }

  @Test
  void largeResponseForManyIsChargedOnceUntilTheLastHasIt() {
    Stage stage = patient().budget(150_000).open();
    List<Stage.Call> calls = waiting(stage, 5);
    calls.forEach(call -> call.client().writable(false));
    stage.store.tell();
    stage.store.found(1, Stage.fingerprint("{}"), done(new byte[100_000]));

    assertThat(stage.budget.used()).isEqualTo(100_000);
    for (Stage.Call call : calls) {
      assertThat(stage.budget.used()).isEqualTo(100_000);
      call.client().writable(true);
      call.exchange().clientWritable();
      assertThat(call.client().text()).hasSize(100_000);
    }
    isOver(stage);
  }

  @Test
  void clientsThatHangUpFreeTheirPlacesAndTheLastEndsTheWatch() {
    Stage stage = patient().open();
    List<Stage.Call> calls = waiting(stage, 2);
    calls.get(0).exchange().clientGone();
    assertThat(stage.exchanges.waitingDuplicates()).isEqualTo(1);
    assertThat(stage.store.watches()).isEqualTo(1);
    calls.get(1).exchange().clientGone();

    // Nothing is looked at for nobody, and the record is left alone.
    stage.scheduler.advance(Duration.ofSeconds(10));
    assertThat(stage.store.commands()).containsExactly("reserve 1", "reserve 1");
    isOver(stage);
  }

  @Test
  void requestWithAnotherFingerprintIsRefusedAtOnceAndTheOthersWaitOn() {
    Stage stage = patient().open();
    List<Stage.Call> calls = waiting(stage, 1);
    Stage.Call other = stage.whole("k", "{\"a\":1}");
    stage.store.existing(1, Stage.fingerprint("{}"), inFlight());

    assertThat(other.client().problem()).isEqualTo("key-reused");
    assertThat(calls.get(0).client().isAnswered()).isFalse();
    assertThat(stage.exchanges.waitingDuplicates()).isEqualTo(1);
  }

  @Test
  void wishOfMoreSecondsThanANumberHoldsGetsTheLongest() {
    Stage stage = patient().open();
    Stage.Call call = waiting(stage, "{}", "Prefer", "wait=99999999999");
    stage.scheduler.advance(Duration.ofMillis(4_999));
    assertThat(call.client().isAnswered()).isFalse();
    stage.scheduler.advance(Duration.ofMillis(1));

    assertThat(call.client().problem()).isEqualTo("request-in-flight");
    assertThat(call.client().headers().get("Preference-Applied")).isEqualTo("wait=5");
  }

  @Test
  void storeThatGoesAwayRefusesAllThatWait() {
    Stage stage = patient().open();
    List<Stage.Call> calls = waiting(stage, 3);
    stage.store.tell();
    stage.store.fail();

    assertThat(calls).allMatch(call -> call.client().problem().equals("store-unavailable"));
    isOver(stage);
  }

  @Test
  void stopSendsAllAway() {
    Stage stage = patient().open();
    List<Stage.Call> calls = waiting(stage, 3);
    stage.store.tell();
    stage.exchanges.abandon();
    stage.store.found(1, Stage.fingerprint("{}"), DONE);

    assertThat(calls).allMatch(call -> call.client().problem().equals("shutting-down"));
    isOver(stage);
  }

  @Test
  void replyThatComesWhenTheGatewayStopsMakesNobodyWait() {
    Stage stage = patient().open();
    Stage.Call call = stage.whole("k", "{}");
    stage.exchanges.abandon();
    stage.store.existing(1, inFlight());

    assertThat(call.client().problem()).isEqualTo("request-in-flight");
    isOver(stage);
  }

  @Test
  void replyThatComesWhenTheClientIsGoneTakesNoPlace() {
    Stage stage = patient().open();
    Stage.Call call = stage.whole("k", "{}");
    call.exchange().clientGone();
    stage.store.existing(1, inFlight());

    isOver(stage);
  }

  @Test
  void routeThatOnlyObservesMakesNobodyWait() {
    Stage stage = patient().observe().open();
    stage.whole("k", "{}");
    stage.store.existing(1, inFlight());

    assertThat(stage.exchanges.waitingDuplicates()).isZero();
    assertThat(stage.upstream.waiting()).isEqualTo(1);
  }

  @Test
  void bugInOneWhoWaitsKeepsNobodyElseWaiting() {
    Stage stage = patient().open();
    List<Throwable> bugs = new ArrayList<>();
    ExchangeListener listener =
        new ExchangeListener() {
          @Override
          public void bug(Throwable cause) {
            bugs.add(cause);
          }
        };
    ReplayCharges charges = new ReplayCharges(stage.budget);
    WaitingRoom room =
        new WaitingRoom(stage.store, stage.scheduler, listener, charges, new WaitingPlaces(9));
    OperationId id = OperationId.of(new byte[OperationId.LENGTH]);
    List<String> told = new ArrayList<>();
    for (String name : List.of("one", "two", "three")) {
      Duration lease = Duration.ofSeconds(9);
      long until = stage.scheduler.nanoTime() + lease.toNanos();
      WaitingRoom.Place unused = room.enter(id, waiter(name, told), until, 9, lease);
    }
    stage.store.tell();
    stage.store.reply(Optional.empty());

    assertThat(told).containsExactly("one", "two", "three");
    assertThat(bugs).hasSize(3);
    assertThat(room.waiting()).isZero();
    isOver(stage);
  }

  /** Says that it was called, and fails. */
  private static WaitingRoom.Waiter waiter(String name, List<String> told) {
    return new WaitingRoom.Waiter() {
      @Override
      public boolean stays(StoredOperation operation) {
        return true;
      }

      @Override
      public void called(StoredOperation operation) {}

      @Override
      public void gone() {
        told.add(name);
        throw new IllegalStateException("a bug of a test");
      }

      @Override
      public void failed(StoreUnavailableException unavailable) {}

      @Override
      public void sentAway(Duration leaseLeft) {}
    };
  }

  private static void isOver(Stage stage) {
    assertThat(stage.exchanges.underWay()).isZero();
    assertThat(stage.exchanges.waitingDuplicates()).isZero();
    assertThat(stage.store.watches()).isZero();
    assertThat(stage.budget.used()).isZero();
  }
}
