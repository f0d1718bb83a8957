package dev.idempotency.loadtest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The small parts: mix, ledger, problem types, keys. */
class PartsTest {

  @Test
  void mixIsPickedByItsWeights() {
    Mix mix = Mix.parse("fresh=70, replay=30");
    SplittableRandom random = new SplittableRandom(1);
    Map<Kind, Integer> picked = new EnumMap<>(Kind.class);
    for (int i = 0; i < 10_000; i++) {
      picked.merge(mix.pick(random), 1, Integer::sum);
    }

    assertThat(picked).containsOnlyKeys(Kind.FRESH, Kind.REPLAY);
    assertThat(picked.get(Kind.FRESH)).isBetween(6_700, 7_300);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "fresh",
        "fresh=",
        "fresh=-1",
        "fresh=x",
        "fresh=1,fresh=2",
        "a=1",
        "=1",
        "fresh=1,",
        "fresh=0,replay=0",
        "fresh=9999999"
      })
  void mixThatIsNoneIsRefused(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Mix.parse(text))
        .withMessageMatching("mix: .*");
  }

  @Test
  void ledgerOfManyRunsIsReadForOneRun() throws IOException {
    LedgerReader ledger =
        LedgerReader.read(
            text(
                "{\"effects\":3,\"other\":[{\"keys\":1}],\"keyless\":{\"effects\":1},"
                    + "\"untracked\":{\"effects\":2,\"attempts\":5},"
                    + "\"keys\":{\"a-1\":{\"effects\":1,\"attempts\":2,\"more\":[1]},"
                    + "\"b-1\":{\"effects\":1,\"attempts\":1}}}"),
            "a-");

    assertThat(ledger.keys()).isEqualTo(Map.of("a-1", new Tally(1, 2)));
    assertThat(ledger.untracked()).isEqualTo(new Tally(2, 5));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "[]", "{}", "{\"keys\":{", "hello"})
  void ledgerThatIsNoneIsRefused(String text) {
    assertThatThrownBy(() -> LedgerReader.read(text(text), "a")).isInstanceOf(IOException.class);
  }

  private static InputStream text(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '\'',
      value = {
        "'{\"type\":\"/.well-known/x#key-reused\"}', key-reused",
        "'{\"a\":{\"type\":\"#no\"},\"type\":\"https://example.com/p/in-flight\"}', in-flight",
        "'{\"type\":7}',",
        "'{\"type\":\"#cut off',",
        "'[]',",
        "'',",
      })
  void problemIsTheLastSegmentOfItsType(String body, String problem) {
    byte[] bytes = body == null ? new byte[0] : body.getBytes(StandardCharsets.UTF_8);

    assertThat(Target.problem("application/problem+json; charset=utf-8", bytes)).isEqualTo(problem);
    assertThat(Target.problem("application/json", bytes)).isNull();
  }

  @Test
  void keysThatWereAnsweredAreForgottenOldestFirst() {
    AnsweredKeys keys = new AnsweredKeys();
    SplittableRandom random = new SplittableRandom(1);
    assertThat(keys.anyDone(random)).isNull();
    for (int i = 0; i < 10_000; i++) {
      keys.done("k" + i);
    }

    Set<String> seen = new HashSet<>();
    for (int i = 0; i < 1_000; i++) {
      String key = Objects.requireNonNull(keys.anyDone(random));
      assertThat(Integer.parseInt(key.substring(1))).isGreaterThanOrEqualTo(10_000 - 4096);
      seen.add(key);
    }
    assertThat(seen).hasSizeGreaterThan(500);
  }
}
