package dev.idempotency.gateway.idempotency;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IdempotencyKeyTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "abc             | abc",
        "\"abc\"         | abc",
        "\"a b\"         | a b",
        "\"a,b\"         | a,b",
        "\"a\\\"b\"      | a\"b",
        "\"a\\\\b\"      | a\\b",
        "a\\b            | a\\b",
        "!#$%&'()*+-./:;<=>?@[]^_`{}~ | !#$%&'()*+-./:;<=>?@[]^_`{}~",
      })
  void textIsAKey(String text, String key) {
    assertThat(IdempotencyKey.read(text))
        .isEqualTo(new IdempotencyKey.Reading.Present(new IdempotencyKey(key)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "\"\"",
        "\" \"",
        "\"",
        "\"a",
        "a\"",
        "\"a\"b",
        "\"a\" ;x",
        "a b",
        "a,b",
        "a\tb",
        "\"a\tb\"",
        "\"\\a\"",
        "\"a\\",
        "\u00e9",
        "\"\u00e9\"",
        "\u007f",
        "\"\u007f\"",
        "a\u0000"
      })
  void textIsNoKey(String text) {
    assertThat(IdempotencyKey.read(text)).isInstanceOf(IdempotencyKey.Reading.Malformed.class);
  }

  @Test
  void blanksAroundTheKeyAreNotPartOfIt() {
    assertThat(IdempotencyKey.read(" \tabc\t "))
        .isEqualTo(new IdempotencyKey.Reading.Present(new IdempotencyKey("abc")));
  }

  @ParameterizedTest
  @CsvSource({"1, true", "255, true", "256, false"})
  void keyHasTwoHundredFiftyFiveCharactersAtMost(int length, boolean fits) {
    String key = "k".repeat(length);
    for (String text : List.of(key, '"' + key + '"')) {
      assertThat(IdempotencyKey.read(text) instanceof IdempotencyKey.Reading.Present)
          .isEqualTo(fits);
    }
    // An escape is one character of the key and two of the line.
    String quotes = '"' + "\\\"".repeat(length) + '"';
    assertThat(IdempotencyKey.read(quotes) instanceof IdempotencyKey.Reading.Present)
        .isEqualTo(fits);
  }

  @ParameterizedTest
  @ValueSource(strings = {"abc", "\"abc\"", "a b", " a ", "a,b", "a\"b", "a\\b", "~"})
  void textWhoseEndsAreKnownIsTheKeyAsItStands(String text) {
    assertThat(IdempotencyKey.readText(text))
        .isEqualTo(new IdempotencyKey.Reading.Present(new IdempotencyKey(text)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "a\tb", "caf\u00e9", "\u007f", "a\u0000", "a\nb"})
  void textWhoseEndsAreKnownMayBeNoKey(String text) {
    assertThat(IdempotencyKey.readText(text)).isInstanceOf(IdempotencyKey.Reading.Malformed.class);
    assertThat(IdempotencyKey.readText("k".repeat(256)))
        .isInstanceOf(IdempotencyKey.Reading.Malformed.class);
  }

  @Test
  void noLineIsNoKeyAndTwoLinesAreMalformed() {
    assertThat(IdempotencyKey.read(List.of())).isEqualTo(new IdempotencyKey.Reading.Absent());
    assertThat(IdempotencyKey.read(List.of("a", "a")))
        .isEqualTo(new IdempotencyKey.Reading.Malformed("it is sent 2 times"));
  }

  @Test
  void reasonAndTextNeverShowTheKey() {
    assertThat(IdempotencyKey.read("secret secret").toString()).doesNotContain("secret");
    assertThat(new IdempotencyKey("secret").toString()).doesNotContain("secret");
  }
}
