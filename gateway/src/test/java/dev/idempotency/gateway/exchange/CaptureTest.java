package dev.idempotency.gateway.exchange;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.idempotency.Outcome;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class CaptureTest {

  private final BodyBudget budget = new BodyBudget(1000);
  private final FakeClient client = new FakeClient();
  private final Delivery delivery = new Delivery(client);

  private Capture capture(int limit) {
    return new Capture(
        new ResponseHead(200, Headers.of("A", "b")),
        -1,
        Outcome.COMPLETED,
        false,
        new BodyBuffer(limit, budget),
        AnswerRule.DEFAULT,
        null);
  }

  private static String stored(Capture capture) {
    return new String(
        requireNonNull(capture.stored(new Headers(), CopyRule.DEFAULT)).body(),
        StandardCharsets.ISO_8859_1);
  }

  @Test
  void responseThatFitsIsHeldBackFromTheClient() {
    Capture capture = capture(10);
    TextChunk chunk = new TextChunk("0123456789");
    capture.take(chunk, delivery);
    assertThat(client.hasHead()).isFalse();
    assertThat(chunk.released()).isEqualTo(1);
    assertThat(stored(capture)).isEqualTo("0123456789");
  }

  @Test
  void responseThatOverflowsGoesOnToTheClientWholeAndInOrder() {
    Capture capture = capture(10);
    capture.take(new TextChunk("0123456789"), delivery);
    TextChunk over = new TextChunk("abc");
    capture.take(over, delivery);
    capture.take(new TextChunk("def"), delivery);
    assertThat(client.text()).isEqualTo("0123456789abcdef");
    assertThat(over.released()).isEqualTo(1);
    assertThat(capture.stored(new Headers(), CopyRule.DEFAULT)).isNull();
    assertThat(budget.used()).isZero();
  }

  @Test
  void smallChunkAfterAnOverflowIsNotKeptEither() {
    Capture capture = capture(10);
    capture.take(TextChunk.ofLength(11), delivery);
    capture.take(new TextChunk("a"), delivery);
    assertThat(capture.stored(new Headers(), CopyRule.DEFAULT)).isNull();
    assertThat(budget.used()).isZero();
  }

  @Test
  void exhaustedBudgetIsAnOverflowToo() {
    assertThat(budget.take(995)).isTrue();
    Capture capture = capture(100);
    capture.take(new TextChunk("0123456789"), delivery);
    assertThat(client.text()).isEqualTo("0123456789");
    assertThat(capture.stored(new Headers(), CopyRule.DEFAULT)).isNull();
  }

  @Test
  void beginShowsWhatWasGatheredOnce() {
    Capture capture = capture(10);
    capture.take(new TextChunk("one"), delivery);
    capture.begin(delivery);
    capture.begin(delivery);
    capture.take(new TextChunk("two"), delivery);
    assertThat(client.text()).isEqualTo("onetwo");
    assertThat(stored(capture)).isEqualTo("onetwo");
  }

  @Test
  void framingThatTheClientGotIsNotStored() {
    Capture capture = capture(10);
    capture.begin(delivery);
    assertThat(client.headers().contains("Transfer-Encoding")).isTrue();
    assertThat(requireNonNull(capture.stored(new Headers(), CopyRule.DEFAULT)).headers())
        .isEqualTo(Headers.of("A", "b"));
  }

  @Test
  void clientThatIsGoneIsNotBegun() {
    Capture capture = capture(3);
    capture.take(TextChunk.ofLength(4), Delivery.GONE);
    assertThat(capture.isBegun()).isFalse();
    assertThat(capture.stored(new Headers(), CopyRule.DEFAULT)).isNull();
  }

  @Test
  void memoryThatADeferredWriteNeedsStaysUntilItIsReleased() {
    Capture capture = capture(10);
    capture.take(TextChunk.ofLength(4), delivery);
    capture.keepMemory();
    capture.releaseUnlessKept();
    assertThat(budget.used()).isEqualTo(4);
    capture.releaseMemory();
    assertThat(budget.used()).isZero();
  }
}
