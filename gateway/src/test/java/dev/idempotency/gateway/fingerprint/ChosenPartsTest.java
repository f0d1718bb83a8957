package dev.idempotency.gateway.fingerprint;

import static dev.idempotency.gateway.fingerprint.Requests.JSON;
import static dev.idempotency.gateway.fingerprint.Requests.post;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.Fingerprint;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Members of a document, and parameters of a query, that count alone. */
class ChosenPartsTest {

  private static final FingerprintRule RULE = FingerprintRule.DEFAULT;
  private static final RequestHead HEAD = post("/", "Content-Type", JSON);

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "/a       |        | {\"b\":1,\"a\":2}                       | {\"a\":2}",
        "/a,/c    |        | {\"c\":1,\"b\":2,\"a\":3}               | {\"a\":3,\"c\":1}",
        "/a/x     |        | {\"a\":{\"y\":1,\"x\":[1,{\"z\":2}]},\"b\":1} | {\"a\":{\"x\":[1,{\"z\":2}]}}",
        "/a/x,/a  |        | {\"a\":{\"y\":1,\"x\":2},\"b\":1}       | {\"a\":{\"x\":2,\"y\":1}}",
        "/a,/a/x  |        | {\"a\":{\"y\":1,\"x\":2},\"b\":1}       | {\"a\":{\"x\":2,\"y\":1}}",
        "/a/x/z,/a|        | {\"a\":{\"y\":1,\"x\":{\"w\":1}},\"b\":1} | {\"a\":{\"x\":{\"w\":1},\"y\":1}}",
        "/a       | /a/t   | {\"a\":{\"t\":1,\"x\":2},\"t\":1}       | {\"a\":{\"x\":2}}",
        "/a       | /b/t   | {\"a\":1,\"b\":{\"t\":1,\"x\":2}}       | {\"a\":1}",
        "/i/1     |        | {\"i\":[1,2,3]}                         | {\"i\":[2]}",
        "/i/0/p   |        | {\"i\":[{\"q\":1,\"p\":2},{\"p\":3}]}   | {\"i\":[{\"p\":2}]}",
        "/a,/b/x  |        | {\"b\":5,\"a\":1}                       | {\"a\":1,\"b\":5}",
        "/0       |        | [1,2]                                   | [1]",
      })
  void whatIsChosenIsLeft(String only, String ignore, String document, String form) {
    JsonCanonicalizer canonicalizer = new JsonCanonicalizer();
    PointerTree tree =
        PointerTree.choosing(
            List.of(only.split(",")), ignore == null ? List.of() : List.of(ignore.split(",")));

    assertThat(canonicalizer.canonicalize(document.getBytes(UTF_8), tree)).isTrue();
    assertThat(new String(canonicalizer.bytes(), 0, canonicalizer.length(), UTF_8)).isEqualTo(form);
    assertThat(canonicalizer.isChosen()).isTrue();
  }

  @Test
  void onlyWhatIsChosenCounts() {
    Fingerprint one = chosen("{\"amount\":1.0,\"trace\":\"x\"}");

    assertThat(chosen("{\"trace\":\"y\",\"amount\":1}")).isEqualTo(one);
    assertThat(chosen("{\"trace\":\"x\",\"amount\":2}")).isNotEqualTo(one);
    assertThat(chosen("{\"amount\":1.0,\"trace\":\"x\"")).isNotEqualTo(one);
    // Nor is it the same as a document that is counted whole and looks alike.
    assertThat(Requests.of(RULE, HEAD, "{\"amount\":1}")).isNotEqualTo(one);
  }

  /** A pointer with a slip must not make all requests the same. */
  @Test
  void documentWithoutAnythingChosenCountsWhole() {
    assertThat(chosen("{\"amuont\":1}")).isNotEqualTo(chosen("{\"amuont\":2}"));
    assertThat(chosen("[]")).isNotEqualTo(chosen("{}"));
    assertThat(chosen("{\"amuont\":1}")).isEqualTo(chosen("{ \"amuont\" : 1e0 }"));
    FingerprintRule element = RULE.choosing(List.of("/1"));
    assertThat(Requests.of(element, HEAD, "[1,2]")).isNotEqualTo(Requests.of(element, HEAD, "[2]"));
  }

  @Test
  void bodyThatIsNoJsonCountsWhole() {
    FingerprintRule rule = RULE.choosing(List.of("/amount"));
    RequestHead text = post("/", "Content-Type", "text/plain");

    assertThat(Requests.of(rule, text, "{\"amount\":1,\"b\":1}"))
        .isNotEqualTo(Requests.of(rule, text, "{\"amount\":1,\"b\":2}"));
    assertThat(chosen("{\"amount\":1,\"b\":1,\"b\":1}"))
        .isNotEqualTo(chosen("{\"amount\":1,\"b\":1,\"b\":2}"));
  }

  @ParameterizedTest
  @CsvSource({
    "/?a=1&t=5, /?t=6&a=1, true",
    "/?a=1&b=2, /?b=2&a=1, true",
    "/?a=1&t=5, /?a=1, true",
    "/?t=5, /, true",
    "/?a=%31, /?a=1, true",
    "/?a=1, /?a=2, false",
    "/?a=1, /, false",
    "/?a=1, /?a=1&a=1, false",
    "/?a=1&a=2, /?a=2&a=1, false",
    // what one reader or another takes for a
    "/?a[]=1&t=1, /?a[]=2&t=1, false",
    "/?a[x]=1&t=1, /?a[x]=2&t=1, false",
    "/?a%5B%5D=1&t=1, /?t=2&a[]=1, true",
    "/?A=1, /?A=2, false",
    "/?ab=1, /?ab=2, true",
    "/?a=1&t=5;, /?a=1&t=6;, false",
    "/?a=1&&t=5, /?a=1&&t=6, false",
  })
  void onlyChosenParametersCount(String one, String other, boolean same) {
    FingerprintRule rule = RULE.counting(List.of("b", "a"));

    assertThat(Requests.of(rule, post(one), "").equals(Requests.of(rule, post(other), "")))
        .isEqualTo(same);
    assertThat(Requests.of(RULE, post(one), "")).isNotEqualTo(Requests.of(RULE, post(other), ""));
  }

  @Test
  void noParametersAndTheWholeQueryAreNotMistakenForEachOther() {
    FingerprintRule none = RULE.counting(List.of());

    assertThat(Requests.of(none, post("/?a=1"), "")).isEqualTo(Requests.of(none, post("/"), ""));
    assertThat(Requests.of(none, post("/"), "")).isNotEqualTo(Requests.of(RULE, post("/"), ""));
    assertThat(Requests.of(RULE.counting(List.of("\u00e9")), post("/?%C3%A9=1&b=1"), ""))
        .isEqualTo(Requests.of(RULE.counting(List.of("\u00e9")), post("/?%C3%A9=1&b=2"), ""));
  }

  @Test
  void rulesThatContradictThemselvesAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FingerprintRule.of(List.of(), List.of("/a")).choosing(List.of("/a/b")))
        .withMessageContaining("only /a/b");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RULE.choosing(List.of("a")))
        .withMessageContaining("pointer \"a\"");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> new FingerprintRule(List.of(), List.of(), true, null).choosing(List.of("/a")))
        .withMessageContaining("only");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RULE.choosing(List.of("/a")).by(1))
        .withMessageContaining("version 1");
    assertThatIllegalArgumentException().isThrownBy(() -> RULE.by(3)).withMessageContaining("3");
    assertThatIllegalArgumentException().isThrownBy(() -> RULE.within(-1));
  }

  private static Fingerprint chosen(String body) {
    return Requests.of(RULE.choosing(List.of("/amount")), HEAD, body);
  }
}
