package dev.idempotency.gateway.exchange;

import static dev.idempotency.gateway.exchange.Stage.answer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.FakeUpstream.Connection;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * A store may put a long response away elsewhere before it writes it, and what its attempt calls
 * meanwhile would pass it: a renewal would make a record of a reservation that was settled. So
 * nothing is called.
 */
class SettlingOrderTest {

  /** Everything that can happen to an attempt whose response is being put away. */
  private static void happens(Stage stage, Stage.Call call) {
    stage.scheduler.advance(Stage.LEASE.multipliedBy(2));
    call.exchange().clientWritable();
    call.exchange().clientGone();
    stage.scheduler.advance(Duration.ofMinutes(10));
    stage.exchanges.retryDeferredWrites();
    stage.exchanges.hurryDeferredWrites();
    stage.exchanges.abandon();
    stage.scheduler.advance(Stage.LEASE);
  }

  @Test
  void nothingPassesAResponseThatIsBeingStored() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    answer(stage.upstream.connect().receiver(), 201, "made");
    assertThat(stage.store.commands()).containsExactly("reserve 1", "Completed 1");
    happens(stage, call);
    assertThat(stage.store.commands()).containsExactly("reserve 1", "Completed 1");
    stage.store.done();

    assertThat(stage.exchanges.underWay()).isZero();
  }

  @Test
  void nothingPassesALateResponseThatIsBeingStored() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    Connection connection = stage.upstream.connect();
    connection.receiver().overdue();
    // It is not known whether that was written, so it is tried again until something better is.
    stage.store.fail();
    answer(connection.receiver(), 201, "made");
    assertThat(stage.store.commands()).containsExactly("reserve 1", "Unknown 1", "Completed 1");
    happens(stage, call);
    assertThat(stage.store.commands()).containsExactly("reserve 1", "Unknown 1", "Completed 1");
    stage.store.done();

    assertThat(stage.exchanges.underWay()).isZero();
    assertThat(stage.exchanges.deferredWrites()).isZero();
  }

  @Test
  void aSettlementThatIsTriedAgainIsNotTriedTwiceAtOnce() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    answer(stage.upstream.connect().receiver(), 201, "made");
    stage.store.fail();
    stage.exchanges.retryDeferredWrites();
    assertThat(stage.store.commands()).containsExactly("reserve 1", "Completed 1", "Completed 1");
    happens(stage, call);
    assertThat(stage.store.commands()).filteredOn("Completed 1"::equals).hasSize(2);
    stage.store.done();

    assertThat(stage.exchanges.deferredWrites()).isZero();
  }

  @Test
  void nothingPassesTheEndOfAnUpload() {
    Stage stage = Stage.with().streamsRequest().open();
    Stage.Call call = stage.upload("k", 2);
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    call.exchange().body(new TextChunk("{}"));
    call.exchange().bodyEnd();
    stage.store.done();
    answer(connection.receiver(), 201, "made");
    assertThat(stage.store.commands()).containsExactly("reserve 1", "renew 1", "Completed 1");
    happens(stage, call);

    assertThat(stage.store.commands()).containsExactly("reserve 1", "renew 1", "Completed 1");
  }
}
