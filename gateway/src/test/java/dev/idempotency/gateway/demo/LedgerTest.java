package dev.idempotency.gateway.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LedgerTest {

  @Test
  void keysAreCountedApart() {
    Ledger ledger = new Ledger(10, null);
    ledger.attempt("a", 1);
    ledger.attempt("a", 2);
    ledger.effect("a", "ord-1");
    ledger.attempt("b", 1);

    assertThat(ledger.of("a").effects()).isEqualTo(1);
    assertThat(ledger.of("a").numbers()).containsExactly(1, 2);
    assertThat(ledger.of("b").attempts()).isEqualTo(1);
    assertThat(ledger.of("b").effects()).isZero();
    assertThat(ledger.effects()).isEqualTo(1);
    assertThat(ledger.attempts()).isEqualTo(3);
  }

  @Test
  void effectSaysTheHowManiethOfItsKeyItIs() {
    Ledger ledger = new Ledger(1, null);

    assertThat(ledger.effect("a", "ord-1")).isEqualTo(1);
    assertThat(ledger.effect("a", "ord-2")).isEqualTo(2);
    assertThat(ledger.effect(null, "ord-3")).isEqualTo(1);
    assertThat(ledger.effect("beyond the bound", "ord-4")).isZero();
  }

  @Test
  void keysBeyondTheBoundAreCountedInSum() {
    Ledger ledger = new Ledger(2, null);
    for (String key : new String[] {"a", "b", "c", "d", "a"}) {
      ledger.effect(key, "ord");
    }

    assertThat(ledger.of("a").effects()).isEqualTo(2);
    assertThat(ledger.of("c")).isEqualTo(Tally.NONE);
    assertThat(ledger.untracked().effects()).isEqualTo(2);
    assertThat(ledger.effects()).isEqualTo(5);
  }

  @Test
  void keyOfAnyLengthTakesBoundedMemory() {
    Ledger ledger = new Ledger(2, null);
    ledger.effect("k".repeat(256), "ord");

    assertThat(ledger.untracked().effects()).isEqualTo(1);
    assertThat(ledger.keys()).isExhausted();
  }

  @Test
  void attemptNumbersOfOneKeyAreBounded() {
    Ledger ledger = new Ledger(1, null);
    for (int i = 1; i <= 100; i++) {
      ledger.attempt("a", i);
    }

    assertThat(ledger.of("a").attempts()).isEqualTo(100);
    assertThat(ledger.of("a").numbers()).hasSize(16);
  }

  @Test
  void resetLedgerCountsFromNothing() {
    Ledger ledger = new Ledger(1, null);
    ledger.attempt("a", 1);
    ledger.effect(null, "ord");
    ledger.effect("a", "ord");
    ledger.effect("b", "ord");

    ledger.reset();

    assertThat(ledger.effects() + ledger.attempts()).isZero();
    assertThat(ledger.of("a")).isEqualTo(Tally.NONE);
    assertThat(ledger.keyless()).isEqualTo(Tally.NONE);
    assertThat(ledger.untracked()).isEqualTo(Tally.NONE);
  }

  @Test
  void largeLedgerIsWrittenInSmallPieces() {
    Ledger ledger = new Ledger(10_000, null);
    for (int i = 0; i < 5_000; i++) {
      ledger.effect("key-" + i, "ord");
    }
    LedgerText text = new LedgerText(ledger);
    StringBuilder all = new StringBuilder();
    int largest = 0;
    for (ByteBuf piece = read(text); piece != null; piece = read(text)) {
      largest = Math.max(largest, piece.readableBytes());
      all.append(piece.toString(StandardCharsets.UTF_8));
      piece.release();
    }

    assertThat(largest).isLessThan(20_000);
    assertThat(all).contains("\"key-0\":{", "\"key-4999\":{").endsWith("}}\n");
    assertThat(all.chars().filter(c -> c == ':').count()).isEqualTo(9 + 3 * 5_000);
  }

  private static @Nullable ByteBuf read(LedgerText text) {
    return text.readChunk(UnpooledByteBufAllocator.DEFAULT);
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '\'',
      value = {
        "abc, abc",
        "'\"abc\"', abc",
        "' \"a \\\"b\\\\\" ', 'a \"b\\'",
        "'\"', '\"'",
        "'', ",
        ", ",
      })
  void quotedAndBareFormAreOneKey(String line, String key) {
    assertThat(SentKey.normalised(line)).isEqualTo(key);
  }
}
