package dev.idempotency.gateway.exchange;

import static dev.idempotency.gateway.exchange.BodyBuffer.Addition.ADDED;
import static dev.idempotency.gateway.exchange.BodyBuffer.Addition.OVER_BUDGET;
import static dev.idempotency.gateway.exchange.BodyBuffer.Addition.OVER_LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BodyBufferTest {

  private final BodyBudget budget = new BodyBudget(10_000);

  private static String text(BodyBuffer buffer) {
    return new String(buffer.toByteArray(), StandardCharsets.ISO_8859_1);
  }

  @Test
  void chunksAreGatheredAndStayTheCallers() {
    BodyBuffer buffer = new BodyBuffer(100, budget);
    TextChunk one = new TextChunk("one");
    assertThat(buffer.add(one)).isEqualTo(ADDED);
    assertThat(buffer.add(new TextChunk("two"))).isEqualTo(ADDED);
    assertThat(text(buffer)).isEqualTo("onetwo");
    assertThat(one.released()).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 100, 999, 1000})
  void exactlyTheLimitFits(int chunk) {
    BodyBuffer buffer = new BodyBuffer(1000, budget);
    for (int left = 1000; left > 0; left -= chunk) {
      assertThat(buffer.add(TextChunk.ofLength(Math.min(chunk, left)))).isEqualTo(ADDED);
    }
    assertThat(buffer.add(TextChunk.ofLength(1))).isEqualTo(OVER_LIMIT);
    assertThat(buffer.toByteArray()).hasSize(1000);
    assertThat(budget.used()).isBetween(1000L, 2000L);
  }

  @Test
  void whatWasGatheredStaysAfterARefusal() {
    BodyBuffer buffer = new BodyBuffer(100_000, budget);
    buffer.add(new TextChunk("kept"));
    assertThat(buffer.add(TextChunk.ofLength(20_000))).isEqualTo(OVER_BUDGET);
    assertThat(text(buffer)).isEqualTo("kept");
    assertThat(budget.used()).isEqualTo(4);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 640, 1000})
  void announcedBodyTakesNoMoreThanItHas(int chunk) {
    BodyBuffer buffer = BodyBuffer.of(5_000, 1_000, budget);
    for (int left = 1000; left > 0; left -= chunk) {
      buffer.add(TextChunk.ofLength(Math.min(chunk, left)));
    }
    assertThat(budget.used()).isEqualTo(1000);
  }

  @Test
  void announcementAloneTakesNothing() {
    BodyBuffer.of(5_000, 1_000, budget);
    assertThat(budget.used()).isZero();
  }

  @Test
  void releaseGivesEverythingBackOnce() {
    BodyBuffer buffer = new BodyBuffer(5_000, budget);
    buffer.add(TextChunk.ofLength(300));
    buffer.add(TextChunk.ofLength(300));
    assertThat(buffer.toByteArray()).hasSize(600);
    buffer.release();
    buffer.release();
    assertThat(budget.used()).isZero();
    assertThat(buffer.length()).isZero();
  }
}
