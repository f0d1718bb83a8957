package dev.idempotency.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.FakeUpstream.Connection;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.PiecedResponse;
import dev.idempotency.gateway.idempotency.ResponsePieces;
import dev.idempotency.gateway.idempotency.StoredOperation.Completed;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Responses that are too large for one value. */
class PiecesTest {

  private static final int MIB = ResponsePieces.SIZE;
  private static final String PART = "p".repeat(MIB / 2);

  private static Stage stage() {
    return Stage.with().budget(16L * MIB).responseLimit(3L * MIB).open();
  }

  private static Connection begun(Stage stage) {
    Connection connection = stage.upstream.connect();
    connection.receiver().head(new ResponseHead(200, Headers.of("A", "b")), -1);
    return connection;
  }

  private static void come(Connection connection, int parts) {
    for (int i = 0; i < parts; i++) {
      connection.receiver().chunk(new TextChunk(PART));
    }
    connection.receiver().flush();
  }

  @Test
  void largeResponseIsWrittenWhileItComesAndCompletedWhenAllOfItIsThere() {
    Stage stage = stage();
    Stage.Call call = stage.acquired();
    Connection connection = begun(stage);
    come(connection, 2);
    assertThat(call.client().hasHead()).isFalse();
    come(connection, 1);
    assertThat(call.client().text()).hasSize(3 * MIB / 2);
    assertThat(stage.store.oldest()).isEqualTo("put 0 of 1");
    stage.store.reply("written");
    connection.receiver().end(Headers.of("T", "1"));
    assertThat(call.client().isAnswered()).isFalse();
    assertThat(stage.store.oldest()).isEqualTo("put 1 of 1");
    stage.store.reply("written");
    assertThat(call.client().isAnswered()).isFalse();
    assertThat(stage.store.oldest()).isEqualTo("Completed 1");
    stage.store.done();

    assertThat(call.client().isAnswered()).isTrue();
    assertThat(stage.heard.results()).containsExactly(Result.COMPLETED);
    PiecedResponse kept = PiecedResponse.of(stage.store.completed().get(0));
    assertThat(kept).isNotNull();
    assertThat(kept.count()).isEqualTo(2);
    assertThat(kept.length()).isEqualTo(3L * MIB / 2);
    assertThat(kept.head().headers().get("A")).isEqualTo("b");
    assertThat(kept.head().trailers().get("T")).isEqualTo("1");
    assertThat(stage.store.pieces().get(1)).hasSize(MIB / 2);
    isOver(stage);
  }

  @Test
  void upstreamWaitsWhileTwoPiecesAreOnTheirWayToTheStore() {
    Stage stage = stage();
    stage.acquired();
    Connection connection = begun(stage);
    come(connection, 4);
    assertThat(connection.isPaused()).isFalse();
    come(connection, 1);
    assertThat(stage.store.open()).isEqualTo(2);
    assertThat(connection.isPaused()).isTrue();
    stage.store.reply("written");

    assertThat(connection.isPaused()).isFalse();
  }

  @Test
  void responseAtTheLimitIsKept() {
    Stage stage = stage();
    stage.acquired();
    Connection connection = begun(stage);
    come(connection, 6);
    connection.receiver().end(new Headers());
    for (int i = 0; i < 3; i++) {
      stage.store.reply("written");
    }
    assertThat(stage.store.oldest()).isEqualTo("Completed 1");
    stage.store.done();
    isOver(stage);
  }

  @Test
  void responseOverTheLimitIsPassedOnAndNotKept() {
    Stage stage = stage();
    Stage.Call call = stage.acquired();
    Connection connection = begun(stage);
    come(connection, 6);
    connection.receiver().chunk(new TextChunk("x"));
    connection.receiver().end(new Headers());
    while (stage.store.oldest().startsWith("put")) {
      stage.store.reply("written");
    }
    assertThat(stage.store.dropped()).containsExactly(2);
    assertThat(stage.store.oldest()).isEqualTo("NotKept 1");
    stage.store.done();

    assertThat(call.client().text()).hasSize(3 * MIB + 1);
    assertThat(stage.heard.results()).containsExactly(Result.NOT_KEPT);
    isOver(stage);
  }

  @Test
  void responseThatIsAnnouncedOverTheLimitIsNotWrittenAtAll() {
    Stage stage = stage();
    Stage.Call call = stage.acquired();
    Connection connection = stage.upstream.connect();
    connection.receiver().head(new ResponseHead(200, new Headers()), 3L * MIB + 1);
    come(connection, 6);
    connection.receiver().chunk(new TextChunk("x"));
    connection.receiver().end(new Headers());
    stage.store.done();

    assertThat(stage.store.commands()).containsExactly("reserve 1", "NotKept 1");
    assertThat(call.client().text()).hasSize(3 * MIB + 1);
    isOver(stage);
  }

  @Test
  void pieceThatCanNotBeWrittenMakesTheResponseNotKeptAndTheClientGetsAllOfIt() {
    Stage stage = stage();
    Stage.Call call = stage.acquired();
    Connection connection = begun(stage);
    come(connection, 3);
    stage.store.fail();
    come(connection, 2);
    connection.receiver().end(new Headers());
    assertThat(stage.store.oldest()).isEqualTo("NotKept 1");
    stage.store.done();

    assertThat(call.client().isAnswered()).isTrue();
    assertThat(call.client().text()).hasSize(5 * MIB / 2);
    assertThat(stage.store.dropped()).containsExactly(1);
    isOver(stage);
  }

  @Test
  void upstreamThatDiesInTheMiddleLeavesAnUnknownOutcomeAndNoPieces() {
    Stage stage = stage();
    Stage.Call call = stage.acquired();
    Connection connection = begun(stage);
    come(connection, 3);
    stage.store.reply("written");
    connection.receiver().failed(ResponseReceiver.Failure.CLOSED);
    assertThat(stage.store.oldest()).isEqualTo("Unknown 1");
    stage.store.done();

    assertThat(call.client().isAborted()).isTrue();
    assertThat(stage.store.dropped()).containsExactly(1);
    isOver(stage);
  }

  @Test
  void withoutMemoryForAPieceTheResponseIsNotKept() {
    Stage stage = Stage.with().budget(3L * MIB / 2).responseLimit(3L * MIB).open();
    stage.acquired();
    Connection connection = begun(stage);
    come(connection, 4);
    connection.receiver().end(new Headers());
    stage.store.reply("written");
    assertThat(stage.store.oldest()).isEqualTo("NotKept 1");
    stage.store.done();
    isOver(stage);
  }

  // ---- replay

  private static StoredResponse inPieces(int count, long length, Headers trailers) {
    StoredResponse head = new StoredResponse(201, Headers.of("A", "b"), new byte[0], trailers);
    return new PiecedResponse(head, AttemptToken.next(), count, length).packed();
  }

  private static byte[] piece(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  private static Stage.Call replayed(Stage stage, StoredResponse stored) {
    Stage.Call call = stage.whole("k", "{}");
    stage.store.existing(1, new Completed(stored));
    return call;
  }

  @Test
  void replayReadsTheNextPieceWhenTheClientHasTakenTheOneBefore() {
    Stage stage = stage();
    Stage.Call call = replayed(stage, inPieces(2, 6, Headers.of("T", "1")));
    assertThat(call.client().hasHead()).isFalse();
    call.client().writable(false);
    stage.store.reply(piece("one"));
    assertThat(call.client().status()).isEqualTo(201);
    assertThat(call.client().headers().get("Idempotent-Replayed")).isEqualTo("true");
    assertThat(stage.store.open()).isZero();
    call.client().writable(true);
    call.exchange().clientWritable();
    assertThat(stage.store.oldest()).isEqualTo("get 1");
    stage.store.reply(piece("two"));

    assertThat(call.client().text()).isEqualTo("onetwo");
    assertThat(call.client().isAnswered()).isTrue();
    assertThat(stage.heard.results()).containsExactly(Result.REPLAYED);
    isOver(stage);
  }

  @Test
  void replayWhoseFirstPieceIsMissingIsRefused() {
    Stage stage = stage();
    Stage.Call call = replayed(stage, inPieces(2, 6, new Headers()));
    stage.store.failUnreadable();

    assertThat(call.client().problem()).isEqualTo("response-not-kept");
    isOver(stage);
  }

  @Test
  void replayWhoseNextPieceIsMissingIsCut() {
    Stage stage = stage();
    Stage.Call call = replayed(stage, inPieces(2, 6, new Headers()));
    stage.store.reply(piece("one"));
    stage.store.failUnreadable();

    assertThat(call.client().isAborted()).isTrue();
    assertThat(call.client().isAnswered()).isFalse();
    isOver(stage);
  }

  @Test
  void replayWhosePiecesAreTooShortIsCut() {
    Stage stage = stage();
    Stage.Call call = replayed(stage, inPieces(2, 7, new Headers()));
    stage.store.reply(piece("one"));
    stage.store.reply(piece("two"));

    assertThat(call.client().isAborted()).isTrue();
    isOver(stage);
  }

  @Test
  void clientThatGoesDuringItsReplayHasNoMoreRead() {
    Stage stage = stage();
    Stage.Call call = replayed(stage, inPieces(3, 9, new Headers()));
    stage.store.reply(piece("one"));
    call.exchange().clientGone();
    stage.store.reply(piece("two"));

    assertThat(stage.store.commands()).containsExactly("reserve 1", "get 0", "get 1");
    assertThat(stage.heard.results()).containsExactly(Result.REPLAYED);
    isOver(stage);
  }

  private static void isOver(Stage stage) {
    assertThat(stage.exchanges.underWay()).isZero();
    assertThat(stage.store.open()).isZero();
    assertThat(stage.budget.used()).isZero();
  }
}
