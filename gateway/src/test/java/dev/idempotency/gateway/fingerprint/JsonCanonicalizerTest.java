package dev.idempotency.gateway.fingerprint;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonCanonicalizerTest {

  private final JsonCanonicalizer canonicalizer = new JsonCanonicalizer();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"b\":2,\"a\":1}                        | {\"a\":1,\"b\":2}",
        "{ \"o\" : { \"y\" : [ ] , \"x\" : { } } } | {\"o\":{\"x\":{},\"y\":[]}}",
        "[{\"b\":{\"d\":1,\"c\":2},\"a\":3},{}]   | [{\"a\":3,\"b\":{\"c\":2,\"d\":1}},{}]",
        "{\"b\":[{\"z\":1,\"y\":2}],\"a\":{\"x\":0,\"w\":0}} | {\"a\":{\"w\":0,\"x\":0},\"b\":[{\"y\":2,\"z\":1}]}",
        "{\"ab\":1,\"a\":2,\"\":3}                | {\"\":3,\"a\":2,\"ab\":1}",
        "{\"long name 2\":1,\"long name 1\":2,\"long name\":3} | {\"long name\":3,\"long name 1\":2,\"long name 2\":1}",
        "[2,1]      | [2,1]",
        "null       | null",
        "true       | true",
        "false      | false",
        "\"x\"      | \"x\"",
        "[]         | []",
        "{}         | {}",
      })
  void documentsHaveOneOrderAndNoWhiteSpace(String document, String form) {
    assertThat(canonical(document)).hasValue(form);
    assertThat(canonical("\r\n\t " + document + " \t\n\r")).hasValue(form);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "caf\\u00e9           | café",
        "caf\\u00E9           | café",
        "\\ud83d\\ude00       | 😀",
        "\\uD834\\uDD1E       | 𝄞",
        "\\/                  | /",
        "\\u002f              | /",
        "\\u000a\\u0008\\u0009\\u000c\\u000D | \\n\\b\\t\\f\\r",
        "\\u0022\\u005c       | \\\"\\\\",
        "\\u0000\\u001F       | \\u0000\\u001f",
        "0123456\\u0041       | 0123456A",
        "\\ufeff\\uffff\\ufdd0 | \ufeff\uffff\ufdd0",
      })
  void stringsHaveOneSpelling(String spelling, String form) {
    assertThat(canonical('"' + spelling + '"')).hasValue('"' + form + '"');
    assertThat(canonical("{\"" + spelling + "\":1}")).hasValue("{\"" + form + "\":1}");
  }

  @Test
  void charactersThatMaySpellThemselvesEqualTheirEscapes() {
    assertThat(canonical("\"\u2028\"")).isEqualTo(canonical("\"\\u2028\"")).isPresent();
    assertThat(canonical("\"\u007f\"")).isEqualTo(canonical("\"\\u007F\"")).isPresent();
  }

  @Test
  void composedAndDecomposedCharactersDiffer() {
    assertThat(canonical("\"\u00e9\"")).isNotEqualTo(canonical("\"e\u0301\""));
    assertThat(canonical("\"\u212b\"")).isNotEqualTo(canonical("\"\u00c5\""));
    assertThat(canonical("{\"\u00e9\":1,\"e\u0301\":2}")).hasValue("{\"e\u0301\":2,\"\u00e9\":1}");
  }

  @Test
  void namesAreOrderedByCodeUnitsOfUtf16() {
    String inOrder =
        "{\"\\n\":1,\" \":2,\"\\\"\":3,\"1\":4,\"\\\\\":5,\"a\":6,\"é\":7,\"\ud7ff\":8,\"😀\":9,\"\ue000\":10,\"\uffff\":11}";
    String turned =
        "{\"\uffff\":11,\"\ue000\":10,\"😀\":9,\"\ud7ff\":8,\"é\":7,\"a\":6,\"\\\\\":5,\"1\":4,\"\\\"\":3,\" \":2,\"\\n\":1}";

    assertThat(canonical(turned)).hasValue(inOrder);
    assertThat(canonical(inOrder)).hasValue(inOrder);
  }

  @Test
  void longNamesAreOrderedByCodeUnitsOfUtf16Too() {
    assertThat(canonical("{\"same start \ue000\":1,\"same start 😀\":2}"))
        .hasValue("{\"same start 😀\":2,\"same start \ue000\":1}");
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "-0, 0",
    "0.000, 0",
    "-0.0e17, 0",
    "0e9, 0",
    "0e99999999999999999999999, 0",
    "1, 1",
    "1.0, 1",
    "1e0, 1",
    "10e-1, 1",
    "0.1e1, 1",
    "1E+2, 100",
    "100, 100",
    "1.10, 1.1",
    "1e-6, 0.000001",
    "1e-7, 1e-7",
    "0.00000010, 1e-7",
    "-12.500, -12.5",
    "123e-2, 1.23",
    "1e20, 100000000000000000000",
    "1e21, 1e+21",
    "1000000000000000000000, 1e+21",
    "123456789012345678901, 123456789012345678901",
    "1234567890123456789012, 1.234567890123456789012e+21",
    "9007199254740992, 9007199254740992",
    "9007199254740993, 9007199254740993",
    "1.2345678901234567890e19, 12345678901234567890",
    "12345678901234567890, 12345678901234567890",
    "0.1000000000000000055511151231257827, 0.1000000000000000055511151231257827",
    "1000000000000000000.01, 1000000000000000000.01",
    "1e400, 1e+400",
    "1e401, 1e+401",
    "1e-400, 1e-400",
    "2E-400, 2e-400",
    "-1e400, -1e+400",
    "1e2147483648, 1e+2147483648",
    "10e2147483647, 1e+2147483648",
    "1e-2147483648, 1e-2147483648",
    "0.001e-2147483648, 1e-2147483651",
    "10000000e100000000, 1e+100000007",
    "1e000000000000000000000000000007, 10000000",
    "1e99999999999999999, 1e+99999999999999999",
  })
  void numbersAreExactDecimals(String spelling, String form) {
    assertThat(canonical(spelling)).hasValue(form);
    assertThat(canonical("[" + spelling + "]")).hasValue("[" + form + "]");
  }

  @Test
  void manyZerosCancelAgainstTheExponent() {
    assertThat(canonical("1" + "0".repeat(5000) + "e-5000")).hasValue("1");
    assertThat(canonical("0." + "0".repeat(4999) + "1e5000")).hasValue("1");
  }

  @Test
  void aMillionDigitsAreKept() {
    String digits = "9".repeat(1_000_000);

    assertThat(canonical(digits)).hasValue("9." + digits.substring(1) + "e+999999");
    assertThat(canonical("0." + digits)).hasValue("0." + digits);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"1e100000000000000000", "1e99999999999999999999", "-1E-99999999999999999999"})
  void exponentsOutOfReachHaveNoForm(String number) {
    assertThat(canonical(number)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"a\":1,\"a\":2}",
        "{\"a\":1,\"a\":1}",
        "{\"a\":1,\"\\u0061\":2}",
        "{\"b\":1,\"a\":2,\"b\":3}",
        "{\"a\":1,\"b\":2,\"a\":3}",
        "[{\"o\":{\"k\":1,\"k\":2}}]",
        "{\"\":1,\"\":2}",
        "{\"\\n\":1,\"\\u000a\":2}",
        "{\"\\\"\":0,\"x\":1,\"\\u0022\":2}",
        "{\"more than eight\":1,\"a\":2,\"more than eight\":3}",
        "{\"😀\":1,\"\\ud83d\\ude00\":2}",
      })
  void duplicateNamesHaveNoForm(String document) {
    assertThat(canonical(document)).isEmpty();
  }

  @Test
  void equalNamesInDifferentObjectsAreNoDuplicates() {
    assertThat(canonical("[{\"a\":{\"a\":1}},{\"a\":2}]")).isPresent();
    assertThat(canonical("{\"a\":1,\"a\\u0000\":2,\"A\":3}")).isPresent();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "{\"a\":1} x",
        "{\"a\":1}\u0000",
        "{\"a\":1}\u00a0",
        "{\"a\":1}\u000b",
        "{\"a\":1}\f",
        "{\"a\":1}\n{\"a\":1}",
        "{\"a\":1}/**/",
        "{\"a\":1}//",
        "{\"a\":1,}",
        "[1,]",
        "[,1]",
        "[1]]",
        "[1,,2]",
        "[1 2]",
        "{,}",
        "{\"a\"}",
        "{\"a\" 1}",
        "{\"a\"::1}",
        "{1:2}",
        "{a:1}",
        "{'a':1}",
        "['a']",
        "[1}",
        "{\"a\":1]",
        "}",
        "]",
        ",",
        ":",
        "\ufeff{}",
        "[",
        "{",
        "[1",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "\"",
        "\"a",
        "\"\\",
        "\"\\u12",
        "\"\\\"",
        "01",
        "-01",
        "00",
        "+1",
        ".5",
        "5.",
        "1.e3",
        "1e",
        "1e+",
        "1e-",
        "-",
        "--1",
        "-a",
        "1.2.3",
        "1e1.5",
        "0x10",
        "1_000",
        "1,000",
        "\u0661",
        "NaN",
        "Infinity",
        "-Infinity",
        "nul",
        "nulls",
        "True",
        "tru",
        "falsee",
        "undefined",
        "\"\t\"",
        "\"\n\"",
        "\"\u0000\"",
        "\"\u001f\"",
        "\"\\x41\"",
        "\"\\'\"",
        "\"\\a\"",
        "\"\\U0041\"",
        "\"\\u004g\"",
        "\"\\u 041\"",
        "\"\\u\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\udc00\\ud800\"",
        "\"\\ud800\\ud800\"",
        "\"\\ud800x\"",
        "\"\\ud800\\n\"",
        "\"\\ud83dude00\"",
        "\"\\ud83d\\u\"",
        "{\"\\ud800\":1}",
      })
  void brokenDocumentsHaveNoForm(String document) {
    assertThat(canonical(document)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\u00c0\u0080",
        "\u00c1\u00bf",
        "\u00e0\u009f\u00bf",
        "\u00f0\u008f\u00bf\u00bf", // overlong
        "\u00ed\u00a0\u0080",
        "\u00ed\u00bf\u00bf",
        "\u00ed\u00a0\u00bd\u00ed\u00b8\u0080", // surrogates
        "\u00f4\u0090\u0080\u0080",
        "\u00f5\u0080\u0080\u0080",
        "\u00ff",
        "\u00fe", // beyond
        "\u0080",
        "\u00bf",
        "\u00e9",
        "\u00c3",
        "\u00c3x",
        "\u00e2\u0082",
        "\u00e2\u0082x",
        "\u00f0\u009f\u0098",
        "\u00f0\u009fx\u0080",
        "\u00f0\u009f\u0098x",
      })
  void malformedUtf8HasNoForm(String octets) {
    assertThat(canonical(('"' + octets + '"').getBytes(ISO_8859_1))).isEmpty();
    assertThat(canonical(("\"long enough" + octets + " and more\"").getBytes(ISO_8859_1)))
        .isEmpty();
    assertThat(canonical(("{\"" + octets + "\":1}").getBytes(ISO_8859_1))).isEmpty();
    assertThat(canonical(('"' + octets).getBytes(ISO_8859_1))).isEmpty();
  }

  @Test
  void theEdgesOfUtf8HaveAForm() {
    String edges = "\"\u0080\u07ff\u0800\ud7ff\ue000\uffff\ud800\udc00\udbff\udfff\"";

    assertThat(canonical(edges)).hasValue(edges);
  }

  @Test
  void documentsAreReadToAnyDepthWithinTheLimit() {
    for (int depth : List.of(100, JsonCanonicalizer.MAX_DEPTH)) {
      String arrays = "[".repeat(depth) + "]".repeat(depth);
      String objects = "{\"b\":0,\"a\":".repeat(depth) + "1" + "}".repeat(depth);

      assertThat(canonical(arrays)).hasValue(arrays);
      assertThat(canonical(objects))
          .hasValue("{\"a\":".repeat(depth) + "1" + ",\"b\":0}".repeat(depth));
    }
  }

  @Test
  void deeperDocumentsHaveNoForm() {
    for (int depth : List.of(JsonCanonicalizer.MAX_DEPTH + 1, 1000, 100_000)) {
      assertThat(canonical("[".repeat(depth) + "]".repeat(depth))).isEmpty();
      assertThat(canonical("[".repeat(depth))).isEmpty();
      assertThat(canonical("{\"a\":".repeat(depth) + "1" + "}".repeat(depth))).isEmpty();
    }
  }

  @Test
  void bracketsInsideAStringAreNoDepth() {
    String document = "{\"s\":\"" + "[".repeat(100_000) + "\"}";

    assertThat(canonical(document)).hasValue(document);
  }

  @Test
  void whatCameBeforeHasNoEffect() {
    canonical("{\"b\":{\"d\":1,\"c\":2},\"a\":[{\"x\":");

    assertThat(canonical("{\"b\":1,\"a\":2}")).hasValue("{\"a\":2,\"b\":1}");
    assertThat(canonical("[1]")).hasValue("[1]");
  }

  private Optional<String> canonical(String document) {
    return canonical(document.getBytes(UTF_8));
  }

  private Optional<String> canonical(byte[] document) {
    return canonicalizer.canonicalize(document, null)
        ? Optional.of(new String(canonicalizer.bytes(), 0, canonicalizer.length(), UTF_8))
        : Optional.empty();
  }
}
