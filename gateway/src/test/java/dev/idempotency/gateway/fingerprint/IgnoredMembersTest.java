package dev.idempotency.gateway.fingerprint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IgnoredMembersTest {

  private final JsonCanonicalizer canonicalizer = new JsonCanonicalizer();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "/a         | {\"a\":1,\"b\":2}                    | {\"b\":2}",
        "/b         | {\"a\":1,\"b\":2}                    | {\"a\":1}",
        "/b         | {\"c\":0,\"b\":{\"z\":1,\"y\":2},\"a\":1} | {\"a\":1,\"c\":0}",
        "/c         | {\"c\":{\"z\":1,\"y\":2},\"b\":{\"z\":1,\"y\":2},\"a\":1} | {\"a\":1,\"b\":{\"y\":2,\"z\":1}}",
        "/a         | {\"a\":1}                            | {}",
        "/a         | [{\"a\":1}]                          | [{\"a\":1}]",
        "/a/b       | {\"a\":{\"b\":1,\"c\":2},\"b\":3}    | {\"a\":{\"c\":2},\"b\":3}",
        "/a/b       | {\"a\":[{\"b\":1}]}                  | {\"a\":[{\"b\":1}]}",
        "/a/1/b     | {\"a\":[{\"b\":1},{\"b\":2}]}        | {\"a\":[{\"b\":1},{}]}",
        "/0         | [1,2]                                | [2]",
        "/1         | [1,2]                                | [1]",
        "/a/0       | {\"a\":[{\"z\":1,\"y\":2},3]}        | {\"a\":[3]}",
        "/a/1       | {\"b\":1,\"a\":[{\"d\":1,\"c\":2},{\"z\":1,\"y\":2}]} | {\"a\":[{\"c\":2,\"d\":1}],\"b\":1}",
        "/01        | [1,2]                                | [1,2]",
        "/-         | [1,2]                                | [1,2]",
        "/          | {\"\":1,\"a\":2}                     | {\"a\":2}",
        "/a~1b      | {\"a/b\":1,\"a\":{\"b\":2}}          | {\"a\":{\"b\":2}}",
        "/m~0n      | {\"m~n\":1,\"n\":2}                  | {\"n\":2}",
        "/~01       | {\"~1\":1,\"/\":2}                   | {\"/\":2}",
        "/é         | {\"\\u00e9\":1,\"e\":2}              | {\"e\":2}",
        "/q\"       | {\"q\\\"\":1,\"q\":2}                | {\"q\":2}",
        "/x         | \"x\"                                | \"x\"",
      })
  void whatAPointerNamesIsLeftOut(String pointer, String document, String form) {
    assertThat(canonical(document, pointer)).hasValue(form);
  }

  @Test
  void severalPointersAreFollowedAtOnce() {
    assertThat(canonical("{\"c\":1,\"a\":{\"x\":1,\"y\":2},\"b\":2}", "/a/x", "/c", "/c/d"))
        .hasValue("{\"a\":{\"y\":2},\"b\":2}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"t\":1,\"t\":2}", "{\"t\":1,\"a\":0,\"t\":2}", "{\"t\":1,\"u\":0,\"a\":0,\"t\":2}",
        "{\"a\":0,\"t\":{\"x\":1,\"x\":2}}", "{\"t\":01}", "{\"t\":}",
      })
  void whatIsLeftOutMustBeSoundAllTheSame(String document) {
    assertThat(canonical(document, "/t")).isEmpty();
  }

  @Test
  void aLongNameThatIsLeftOutIsStillADuplicate() {
    String document = "{\"left_out_long_name\":1,\"overwrites it\":0,\"left_out_long_name\":2}";

    assertThat(canonical(document, "/left_out_long_name")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a", "#/a", "/a~", "/a~2b", "/~"})
  void textsThatAreNoPointersAreRefused(String pointer) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FingerprintRule.of(List.of(), List.of(pointer)))
        .withMessageContaining("pointer \"" + pointer + "\"");
  }

  private Optional<String> canonical(String document, String... pointers) {
    return canonicalizer.canonicalize(document.getBytes(UTF_8), PointerTree.of(List.of(pointers)))
        ? Optional.of(new String(canonicalizer.bytes(), 0, canonicalizer.length(), UTF_8))
        : Optional.empty();
  }
}
