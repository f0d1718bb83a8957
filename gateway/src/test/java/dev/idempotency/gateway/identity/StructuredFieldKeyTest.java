package dev.idempotency.gateway.identity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.IdempotencyKey.Reading;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StructuredFieldKeyTest {

  private static Reading read(String value) {
    return StructuredFieldKey.STRICT.read(value);
  }

  private static Reading present(String key) {
    return new Reading.Present(new IdempotencyKey(key));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"abc\"               | abc",
        "\"a b\"               | a b",
        "\"a\\\"b\\\\\"        | a\"b\\",
        "\"abc\";p=1           | abc",
        "\"abc\"; q; r=\"x\"   | abc",
        "` \"abc\" `           | abc",
      })
  void stringIsTheKey(String value, String key) {
    assertThat(read(value)).isEqualTo(present(key));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "abc                    | a bare token",
        "8e03978e-40d5-43dd     | no structured field",
        "a8e03978e-40d5-43dd    | a bare token",
        "17                     | a number",
        "1.5                    | a number",
        ":YWJj:                 | a byte sequence",
        "?1                     | a truth value",
        "(\"a\")                | no structured field",
        "\"abc                  | no structured field",
        "\"a\" b                | no structured field",
        "\"a\", \"b\"           | no structured field",
        "\"a\\x\"               | no structured field",
        "@1700000000            | no structured field",
        "%\"a\"                 | no structured field",
        "\"\"                   | empty",
        "\"  \"                 | nothing but blanks",
        "``                     | empty",
      })
  void somethingElseIsRefusedAndSaidToBeIt(String value, String what) {
    assertThat(read(value)).isInstanceOf(Reading.Malformed.class);
    assertThat(((Reading.Malformed) read(value)).reason()).contains(what);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"caf\u00e9\"", "\"a\tb\"", "\"a\u007f\"", "secret", "\"secret"})
  void reasonNeverShowsWhatCame(String value) {
    assertThat(read(value)).isInstanceOf(Reading.Malformed.class);
    assertThat(read(value).toString()).doesNotContain("secret").doesNotContain("caf");
  }

  @ParameterizedTest
  @CsvSource({"1, true", "255, true", "256, false"})
  void keyHasTwoHundredFiftyFiveCharactersAtMost(int length, boolean fits) {
    Reading reading = read('"' + "k".repeat(length) + "\";p=" + "q".repeat(300));
    assertThat(reading instanceof Reading.Present).isEqualTo(fits);
  }

  @Test
  void twoLinesAreNoKey() {
    assertThat(IdempotencyKey.read(List.of("\"a\"", "\"a\""), StructuredFieldKey.STRICT))
        .isInstanceOf(Reading.Malformed.class);
  }

  @Test
  void anyTextIsReadWithoutAnException() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    String alphabet = "\"\\;=:?@%()*,. \t-_a1Z\u00e9\u0000";
    for (int i = 0; i < 20_000; i++) {
      StringBuilder text = new StringBuilder(random.nextBoolean() ? "\"" : "");
      for (int length = random.nextInt(12); length > 0; length--) {
        text.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      Reading strict = read(text.toString());
      // What is a string to the standard is the same key to the lenient reader, unless it has
      // parameters.
      if (strict instanceof Reading.Present && text.indexOf(";") < 0) {
        assertThat(IdempotencyKey.read(text.toString())).as("seed %s", seed).isEqualTo(strict);
      }
    }
  }
}
